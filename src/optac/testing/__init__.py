"""A conformance suite for parts of one's own: the checks that optac's own parts pass, by the same door.

    import pytest
    from optac.testing import ALGORITHM_CHECKS

    @pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
    def test_my_algorithm(check):
        check("my_package.my_algorithm")

A check takes the part as optac takes it, by name, location or object, and raises an AssertionError that says which
promise is broken. Each is quick and needs nothing but the part; pytest only runs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optac.testing.agent import AGENT_CHECKS as AGENT_CHECKS
    from optac.testing.algorithm import ALGORITHM_CHECKS as ALGORITHM_CHECKS
    from optac.testing.model_class import MODEL_CLASS_CHECKS as MODEL_CLASS_CHECKS
    from optac.testing.problem import PROBLEM_CHECKS as PROBLEM_CHECKS

_HOMES = {
    "AGENT_CHECKS": "optac.testing.agent",
    "ALGORITHM_CHECKS": "optac.testing.algorithm",
    "MODEL_CLASS_CHECKS": "optac.testing.model_class",
    "PROBLEM_CHECKS": "optac.testing.problem",
}

__all__ = ["AGENT_CHECKS", "ALGORITHM_CHECKS", "MODEL_CLASS_CHECKS", "PROBLEM_CHECKS"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'optac.testing' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
