"""The deep agents: soft actor-critic, cRFFSAC, whose critic sees features that predict the next state, and TD7's idea.

One agent per file, each exporting one record as AGENT. What they need beyond the base install is the extra `agents`;
where it is missing, importing anything from here says so.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optac.errors import require_extra

if TYPE_CHECKING:
    from optac.agents.agent import CRFFSAC as CRFFSAC
    from optac.agents.agent import SAC as SAC
    from optac.agents.agent import Agent as Agent

__all__ = ["CRFFSAC", "SAC", "Agent"]

require_extra("agents", "agents need", "jax", "equinox", "optax", "safetensors", "mujoco")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'optac.agents' has no attribute {name!r}")
    return getattr(import_module("optac.agents.agent"), name)
