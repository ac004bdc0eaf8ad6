"""The deep agents: soft actor-critic, and cRFFSAC, whose critic sees features that predict the next state.

The classes load on first use, so that checkpoints and settings can be looked at without JAX.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optac.agents.agent import CRFFSAC as CRFFSAC
    from optac.agents.agent import SAC as SAC

__all__ = ["CRFFSAC", "SAC"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'optac.agents' has no attribute {name!r}")
    from optac.agents import agent

    return getattr(agent, name)
