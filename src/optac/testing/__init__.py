"""A conformance suite for parts of one's own: the checks that optac's own parts pass, by the same door.

    import pytest
    from optac.testing import ALGORITHM_CHECKS

    @pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
    def test_my_algorithm(check):
        check("my_package.my_algorithm")

A check takes the part as optac takes it, by name, location or object, and raises an AssertionError that says which
promise is broken. Each is quick and needs nothing but the part; pytest only runs them.
"""

from optac.testing.algorithm import ALGORITHM_CHECKS
from optac.testing.model_class import MODEL_CLASS_CHECKS
from optac.testing.problem import PROBLEM_CHECKS

__all__ = ["ALGORITHM_CHECKS", "MODEL_CLASS_CHECKS", "PROBLEM_CHECKS"]
