"""An agent: one record, from which training, checkpoints, exports and messages learn all they need.

An agent's file exports its record as AGENT; `docs/extending.md` walks through one. `record_of` finds the record of a
name, of a module or of itself, and is the only place that looks for one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, PyTree

from optac import registry
from optac.agents.parts.replay import Replay
from optac.agents.parts.soft_actor_critic import soft_parts, soft_policy
from optac.agents.parts.statistics import Statistics
from optac.agents.settings import AgentSettings
from optac.errors import InvalidInput


class Block(NamedTuple):
    """The steps just taken, `before` … `step` − 1, of the random start too, and what may be learnt from.

    Replay's observations are as the environment gave them; `statistics.standardised` is what networks see of them
    where the settings say `normalise`.
    """

    before: int
    step: int
    replay: Replay
    generator: np.random.Generator
    statistics: Statistics


@dataclass(frozen=True, eq=False)
class AgentRecord:
    """An agent by its parts. The state is a pytree of arrays; its fields' names are those in checkpoints and hashes.

    What is needed: `name`, `summary` (one line), `settings` (a subclass of AgentSettings with its PRESETS),
    `init(settings, obs, act, *, key)` for the first state, and `update(settings, state, batches, statistics, actor=)`,
    which is compiled, for the next state and a NamedTuple of numbers; a row of metrics has the mean of each as
    train/<name>. `actor` says whether it is the actor's turn; observations come as the settings' `normalise` says.
    """

    name: str
    summary: str
    settings: type[AgentSettings]
    init: Callable[..., Any]
    update: Callable[..., tuple[Any, Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """settings that are this agent's name: others are refused"""
    batches: Callable[[Any], int] = lambda settings: 1
    """how many batches an update is given, along the first axis of its `batches`"""
    between_blocks: Callable[[Any, Any, Block], Any] | None = None
    """the state before the updates of a block, made on the host from (settings, state, block)"""
    priorities: Callable[[Any, Any], Array | None] = lambda settings, state: None
    """how often each row of an update's last batch is to be drawn from then on, in proportion to others, from
    (settings, state) after it, compiled too; None: all rows alike"""
    trained: Callable[[Any], Mapping[str, PyTree[Array]]] = soft_parts
    """what gradients move, networks with their optimisers, by the name that a message gives them"""
    policy: Callable[[Any, Any, Any], Mapping[str, Any]] = soft_policy
    """what `numpy_policy.Policy` is made of but for the actions' bounds, from (settings, state, statistics)"""
    examine: Callable[[Any, Any, Any, Any], Mapping[str, Array]] | None = None
    """for rows of metrics: each row's `value` and `features`, if there are any, from (settings, state, obs, action)"""

    def __post_init__(self) -> None:
        if not (isinstance(self.settings, type) and issubclass(self.settings, AgentSettings)):
            raise InvalidInput(
                f"the agent {self.name!r} has settings={self.settings!r}; give a subclass of AgentSettings"
            )
        for part in ("init", "update", "batches", "priorities", "trained", "policy"):
            if not callable(getattr(self, part)):
                raise InvalidInput(
                    f"the agent {self.name!r} has {part}={getattr(self, part)!r}; give a function"
                )
        for part in ("between_blocks", "examine"):
            if not (getattr(self, part) is None or callable(getattr(self, part))):
                raise InvalidInput(
                    f"the agent {self.name!r} has {part}={getattr(self, part)!r}; give a function or None"
                )

    def choose(self, given: Mapping[str, Any], *, recorded: bool = False) -> AgentSettings:
        """The agent's full settings, as given or as `recorded` in a file; what contradicts its name is refused."""
        chosen = self.settings.choose({**self.fixed, **given}, recorded=recorded)
        for name, value in self.fixed.items():
            if getattr(chosen, name) != value:
                raise InvalidInput(
                    f"{name}={getattr(chosen, name)} contradicts the agent {self.name!r}; choose the agent by its name"
                )
        return chosen


Given = str | ModuleType | AgentRecord


def record_of(agent: Given) -> AgentRecord:
    """The record of an agent: of a registered name, of `package.module`, of a module with an AGENT, or itself."""
    part = registry.load("agent", agent) if isinstance(agent, str) else agent
    found = getattr(part, "AGENT", part)
    if not isinstance(found, AgentRecord):
        name = getattr(agent, "__name__", agent)
        hint = registry.nearest("agent", agent) if isinstance(agent, str) else ""
        raise InvalidInput(
            f"{name!r} is not an agent: it must be an optac.extend.AgentRecord, or have one as AGENT{hint}"
        )
    return found
