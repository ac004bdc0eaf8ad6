"""An agent with its settings filled in, and the compiled call that makes several updates."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from optac.agents.parts.programs import MOST_KEPT
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions, as_seen
from optac.agents.record import AgentRecord
from optac.agents.settings import AgentSettings
from optac.agents.training.compilation_cache import use_compilation_cache

State = Any
"""The pytree that an agent's `init` makes."""


class Told(NamedTuple):
    """What the rounds of a call tell: each round's info, and new priorities of each update's rows, or None."""

    info: Any
    priorities: Float[Array, "rounds updates batch"] | None


@dataclass(frozen=True)
class CompiledAgent:
    """An agent's formulas with its settings filled in and compiled."""

    record: AgentRecord
    settings: AgentSettings
    init: Callable[..., State]
    updates: Callable[[State, Transitions, Statistics, int], tuple[State, Told, dict[str, Bool[Array, ""]]]]

    @property
    def batches(self) -> tuple[int, int, int, int]:
        """What one call learns from: rounds, updates of the critics a round, batches an update, rows a batch."""
        settings, every = self.settings, self.settings.actor_every
        rounds = -(-settings.updates_per_dispatch // every)
        return rounds, every, self.record.batches(settings), settings.batch_size

    @cached_property
    def undelayed(self) -> "CompiledAgent":
        """The same with the actor's turn at every update."""
        return compiled(self.record, replace(self.settings, actor_every=1, delay_ends=None))


def compiled(record: AgentRecord, settings: AgentSettings) -> CompiledAgent:
    """The agent with these settings; others of the same result cost no second compilation."""
    use_compilation_cache()
    return CompiledAgent(record, settings, *_formulas(record, settings.determining()))


@lru_cache(maxsize=MOST_KEPT)
def _formulas(record: AgentRecord, settings: AgentSettings) -> tuple[Callable[..., Any], Callable[..., Any]]:
    init = jax.jit(partial(record.init, settings), static_argnums=(0, 1))
    return init, _several(settings, record)


def _several(
    settings: AgentSettings, record: AgentRecord
) -> Callable[[State, Transitions, Statistics, int], tuple[State, Told, dict[str, Bool[Array, ""]]]]:
    """The first `count` rounds of updates in one call: the new state, what each round tells, what is finite.

    A round is `actor_every` updates, with the actor's turn at its end; it is written out, since a branch in the loop
    costs more than what it leaves out. Its info is the last update's. The number is an argument, not a shape, so that
    a shorter last block does not compile anew.
    """
    turns = [i == settings.actor_every - 1 for i in range(settings.actor_every)]

    @partial(jax.jit, inline=True)  # for its trace alone, which serves for the shapes and in the loop
    def round_(state: State, batches: Transitions, statistics: Statistics) -> tuple[State, Told]:
        priorities: list[Array | None] = []
        for i, turn in enumerate(turns):
            batch = jax.tree.map(lambda x, i=i: x[i], batches)
            state, info = record.update(settings, state, batch, statistics, actor=turn)
            priorities.append(record.priorities(settings, state))
        given = [one for one in priorities if one is not None]
        return state, Told(info, jnp.stack(given) if given else None)

    def updates(
        state: State, batches: Transitions, statistics: Statistics, count: Int[Array, ""]
    ) -> tuple[State, Told, dict[str, Bool[Array, ""]]]:
        batches, statistics = as_seen(settings, batches, statistics)
        first = jax.tree.map(lambda x: x[0], batches)
        _, shapes = jax.eval_shape(round_, state, first, statistics)
        rooms = jax.tree.map(lambda s: jnp.zeros((len(batches.reward), *s.shape), s.dtype), shapes)

        def body(i: Int[Array, ""], carry: tuple[State, Told]) -> tuple[State, Told]:
            state, told = carry
            state, now = round_(state, jax.tree.map(lambda x: x[i], batches), statistics)
            return state, jax.tree.map(lambda room, value: room.at[i].set(value), told, now)

        state, told = jax.lax.fori_loop(0, count, body, (state, rooms))
        return state, told, {name: _finite(part) for name, part in record.trained(state).items()}

    return jax.jit(updates)


def _finite(tree: PyTree[Array]) -> Bool[Array, ""]:
    """Whether all numbers are; their sum is NaN or infinite otherwise."""
    return jnp.isfinite(sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree)))
