"""The deep agents: soft actor-critic, and cRFFSAC, whose critic sees features that predict the next state.

One agent per file, each exporting one record as AGENT. What they need beyond the base install is the extra `agents`;
where it is missing, importing anything from here says so.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from optac.errors import MissingExtra

if TYPE_CHECKING:
    from optac.agents.agent import CRFFSAC as CRFFSAC
    from optac.agents.agent import SAC as SAC
    from optac.agents.agent import Agent as Agent

__all__ = ["CRFFSAC", "SAC", "Agent"]

_NEEDED = ("jax", "equinox", "optax", "safetensors", "mujoco")

missing = [name for name in _NEEDED if find_spec(name) is None]
if missing:
    raise MissingExtra(
        f"agents need {', '.join(missing)}, which is not installed; pip install 'optac[agents]'"
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'optac.agents' has no attribute {name!r}")
    return getattr(import_module("optac.agents.agent"), name)
