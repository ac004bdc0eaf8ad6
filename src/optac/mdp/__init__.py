"""Problems: low-rank MDPs whose truth is known, the named families, exact values, Gymnasium in and out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optac.mdp.catalogue import Problem, described, make_problem
from optac.mdp.families.smooth_walk import SmoothWalk
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.policies import MixturePolicy, TabularPolicy, uniform_policy
from optac.mdp.rich_problem import RichProblem
from optac.mdp.tabular import TabularMDP

if TYPE_CHECKING:
    from optac.mdp.gymnasium_conversion import from_gymnasium

__all__ = [
    "LowRankMDP",
    "MixturePolicy",
    "Problem",
    "RichProblem",
    "SmoothWalk",
    "TabularMDP",
    "TabularPolicy",
    "described",
    "from_gymnasium",
    "make_problem",
    "uniform_policy",
]


def __getattr__(name: str) -> Any:
    # Gymnasium takes a third of a second to import; the families do without it.
    if name == "from_gymnasium":
        return import_module("optac.mdp.gymnasium_conversion").from_gymnasium
    raise AttributeError(f"module 'optac.mdp' has no attribute {name!r}")
