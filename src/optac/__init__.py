"""Reinforcement learning in low-rank Markov decision processes.

The public names load on first use, so that `import optac` costs nothing and the finite half never
loads JAX or MuJoCo.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from optac import numpy_policy as numpy_policy
    from optac.agents.agent import CRFFSAC as CRFFSAC
    from optac.agents.agent import SAC as SAC
    from optac.agents.agent import Agent as Agent
    from optac.agents.training.best_checkpoint import BestCheckpoint as BestCheckpoint
    from optac.agents.training.callbacks import Callback as Callback
    from optac.agents.training.callbacks import StopOnReward as StopOnReward
    from optac.agents.training.callbacks import TensorBoard as TensorBoard
    from optac.algorithms import solve as solve
    from optac.mdp import LowRankMDP as LowRankMDP
    from optac.mdp import TabularMDP as TabularMDP
    from optac.mdp import from_gymnasium as from_gymnasium
    from optac.mdp import make_problem as make_problem
    from optac.models import ConditionalFourierFeatures as ConditionalFourierFeatures
    from optac.runs.loading import load as load
    from optac.studies.compare import compare as compare

_CALLBACKS = ("Callback", "StopOnReward", "TensorBoard")
_HOMES = {
    **dict.fromkeys(("Agent", "CRFFSAC", "SAC"), "optac.agents.agent"),
    **dict.fromkeys(_CALLBACKS, "optac.agents.training.callbacks"),
    "BestCheckpoint": "optac.agents.training.best_checkpoint",
    **dict.fromkeys(("LowRankMDP", "TabularMDP", "from_gymnasium", "make_problem"), "optac.mdp"),
    **{"ConditionalFourierFeatures": "optac.models", "solve": "optac.algorithms"},
    **{"compare": "optac.studies.compare", "load": "optac.runs.loading"},
}
__all__ = ["__version__", "numpy_policy", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "numpy_policy":
        return import_module("optac.numpy_policy")
    if name not in _HOMES:
        raise AttributeError(f"module 'optac' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
