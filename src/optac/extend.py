"""The names that a part of one's own must provide or may use: the public names for whoever extends optac.

- An **algorithm** is a module or object that is an `Algorithm`, or a `RewardFreeAlgorithm`. It sees a `Handle` and the
  `Sizes`, says what it asks for in `TRAITS = Traits(...)`, carries a State that extends `PlayingState`
  (`AlgorithmState` where it is reward-free), pays with a `Bill`, and gives a dataclass Info for every row.
- A **model class** is an object that is a `ModelClass`; what it fits is a `LowRankModel`, from `TransitionData`. A name
  stands for a class or function that makes one from any of `problem`, `rank` and `candidates`.
- A **problem** is made by a `ProblemFamily`: a function of keywords with defaults, `seed` among them, that returns a
  `LowRankMDP`.
- An **agent** is a module with an `AGENT`, an `AgentRecord`, whose settings extend `AgentSettings`. Most are soft
  actor-critics: a state that extends `SoftState`, and an update that says by `Views` what the networks see, by `reward`
  what they learn from. `Block` is what its hook between blocks is told.

`docs/extending.md` walks through one of each, and `optac.testing` checks one. A part is given as an object, as
`package.module` or `package.module:name`, or by a name that an installed package registers (`optac.registry`). The
names load on first use, so that the theory half never loads an agent's libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optac.agents.parts.networks import MLP as MLP
    from optac.agents.parts.networks import adam_step as adam_step
    from optac.agents.parts.networks import arrays_of as arrays_of
    from optac.agents.parts.networks import each as each
    from optac.agents.parts.networks import ensemble as ensemble
    from optac.agents.parts.networks import mlp as mlp
    from optac.agents.parts.networks import several as several
    from optac.agents.parts.networks import towards as towards
    from optac.agents.parts.soft_actor_critic import SoftInfo as SoftInfo
    from optac.agents.parts.soft_actor_critic import SoftState as SoftState
    from optac.agents.parts.soft_actor_critic import Views as Views
    from optac.agents.parts.soft_actor_critic import actor_step as actor_step
    from optac.agents.parts.soft_actor_critic import critic_step as critic_step
    from optac.agents.parts.soft_actor_critic import soft_parts as soft_parts
    from optac.agents.parts.soft_actor_critic import soft_policy as soft_policy
    from optac.agents.parts.soft_actor_critic import soft_state as soft_state
    from optac.agents.parts.soft_actor_critic import soft_update as soft_update
    from optac.agents.parts.statistics import Statistics as Statistics
    from optac.agents.parts.transitions import Transitions as Transitions
    from optac.agents.record import AgentRecord as AgentRecord
    from optac.agents.record import Block as Block
    from optac.agents.settings import AgentSettings as AgentSettings
    from optac.algorithms.loop.handle import EpisodesSpent as EpisodesSpent
    from optac.algorithms.loop.handle import Handle as Handle
    from optac.algorithms.loop.handle import Sizes as Sizes
    from optac.algorithms.loop.learnt import Learnt as Learnt
    from optac.algorithms.loop.states import AlgorithmState as AlgorithmState
    from optac.algorithms.loop.states import PlayingState as PlayingState
    from optac.algorithms.loop.states import RollInState as RollInState
    from optac.algorithms.loop.states import TableState as TableState
    from optac.algorithms.protocol import Algorithm as Algorithm
    from optac.algorithms.protocol import RewardFreeAlgorithm as RewardFreeAlgorithm
    from optac.algorithms.protocol import Traits as Traits
    from optac.errors import InvalidInput as InvalidInput
    from optac.mdp.catalogue import ProblemFamily as ProblemFamily
    from optac.mdp.low_rank import LowRankMDP as LowRankMDP
    from optac.mdp.sampling import Trajectories as Trajectories
    from optac.models.data import TransitionData as TransitionData
    from optac.models.low_rank import LowRankModel as LowRankModel
    from optac.oracles.bill import Bill as Bill
    from optac.oracles.supervised import ModelClass as ModelClass
    from optac.settings import setting as setting

_HOMES = {
    "optac.agents.parts.networks": (
        "MLP",
        "adam_step",
        "arrays_of",
        "each",
        "ensemble",
        "mlp",
        "several",
        "towards",
    ),
    "optac.agents.parts.soft_actor_critic": (
        "SoftInfo",
        "SoftState",
        "Views",
        "actor_step",
        "critic_step",
        "soft_parts",
        "soft_policy",
        "soft_state",
        "soft_update",
    ),
    "optac.agents.parts.statistics": ("Statistics",),
    "optac.agents.parts.transitions": ("Transitions",),
    "optac.agents.record": ("AgentRecord", "Block"),
    "optac.agents.settings": ("AgentSettings",),
    "optac.algorithms.loop.handle": ("EpisodesSpent", "Handle", "Sizes"),
    "optac.algorithms.loop.learnt": ("Learnt",),
    "optac.algorithms.loop.states": ("AlgorithmState", "PlayingState", "RollInState", "TableState"),
    "optac.algorithms.protocol": ("Algorithm", "RewardFreeAlgorithm", "Traits"),
    "optac.errors": ("InvalidInput",),
    "optac.mdp.catalogue": ("ProblemFamily",),
    "optac.mdp.low_rank": ("LowRankMDP",),
    "optac.mdp.sampling": ("Trajectories",),
    "optac.models.data": ("TransitionData",),
    "optac.models.low_rank": ("LowRankModel",),
    "optac.oracles.bill": ("Bill",),
    "optac.oracles.supervised": ("ModelClass",),
    "optac.settings": ("setting",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'optac.extend' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
