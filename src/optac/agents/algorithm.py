"""What the training loop asks of an agent, and the compiled call that makes several updates."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree

from optac.agents import crffsac, sac
from optac.agents.parts.soft_actor_critic import SoftState, Transitions
from optac.agents.parts.statistics import Statistics
from optac.agents.settings import CRFFSACSettings, SACSettings

State = SoftState
Name = Literal["sac", "crffsac", "crffsac-bonus"]
Parts = dict[str, PyTree[Array]]


@dataclass(frozen=True)
class Algorithm:
    """An agent's formulas with its settings filled in and compiled."""

    name: Name
    settings: SACSettings
    init: Callable[..., Any]
    updates: Callable[[Any, Transitions, Statistics, int], tuple[Any, Any, Any]]
    rebuild_covariance: Callable[..., Any] | None


@cache
def algorithm(settings: SACSettings) -> Algorithm:
    """The agent that these settings are of; the same settings again cost no second compilation."""
    if not isinstance(settings, CRFFSACSettings):
        init, update = partial(sac.init, settings), partial(sac.update, settings)
        return Algorithm("sac", settings, jax.jit(init, static_argnums=(0, 1)), _compile(update), None)
    return Algorithm(
        "crffsac-bonus" if settings.bonus else "crffsac",
        settings,
        jax.jit(partial(crffsac.init, settings), static_argnums=(0, 1)),
        _compile(partial(crffsac.update, settings)),
        partial(crffsac.rebuild_covariance, settings) if settings.bonus else None,
    )


def _compile(
    update: Callable[[Any, Transitions, Statistics], tuple[Any, Any]],
) -> Callable[[Any, Transitions, Statistics, int], tuple[Any, Any, Any]]:
    """The first `count` batches' updates in one call: the new state, each update's info, what is finite.

    The number is an argument, not a shape, so that a shorter last block does not compile anew.
    """

    def updates(
        state: Any, batches: Transitions, statistics: Statistics, count: Int[Array, ""]
    ) -> tuple[Any, Any, dict[str, Bool[Array, ""]]]:
        first = jax.tree.map(lambda x: x[0], batches)
        _, shapes = jax.eval_shape(update, state, first, statistics)
        rooms = jax.tree.map(lambda s: jnp.zeros((len(batches.reward), *s.shape), s.dtype), shapes)

        def body(i: Int[Array, ""], carry: tuple[Any, Any]) -> tuple[Any, Any]:
            state, infos = carry
            state, info = update(state, jax.tree.map(lambda x: x[i], batches), statistics)
            return state, jax.tree.map(lambda room, value: room.at[i].set(value), infos, info)

        state, infos = jax.lax.fori_loop(0, count, body, (state, rooms))
        return state, infos, {name: _finite(part) for name, part in trained_parts(state).items()}

    return jax.jit(updates)


def trained_parts(state: State) -> Parts:
    """What gradients move and have moved, networks with their optimisers, by the name a message gives them."""
    parts: Parts = {
        "critic": (state.critic, state.critic_optimiser),
        "actor": (state.actor, state.actor_optimiser),
        "temperature": (state.log_temperature, state.temperature_optimiser),
    }
    return {"φ": (state.model, state.model_optimiser), **parts} if isinstance(state, crffsac.State) else parts


def _finite(tree: PyTree[Array]) -> Bool[Array, ""]:
    """Whether all numbers are; their sum is NaN or infinite otherwise."""
    return jnp.isfinite(sum(jnp.sum(leaf) for leaf in jax.tree.leaves(tree)))


def fresh(chosen: Algorithm, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """The state an agent starts from."""
    state: State = chosen.init(obs, act, key=key)
    return state
