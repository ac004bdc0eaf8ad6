"""Transitions as an update is given them, and as the networks see them."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from optac.agents.parts.replay import Replay
from optac.agents.parts.statistics import Statistics
from optac.agents.settings import AgentSettings


class Later(NamedTuple):
    """Where the value takes over, and what it counts there: γᵐ after m steps, 0 where the MDP ended before."""

    obs: Float[Array, "*batch obs"]
    discount: Float[Array, "*batch"]


class Transitions(NamedTuple):
    """Rows of replay. Actions are in [−1, 1]; `terminated` is 1 where the MDP ended, 0 at a time limit.

    With `n_step` above 1 the value takes over `later`, and `reward` is the discounted sum until then.
    """

    obs: Float[Array, "*batch obs"]
    action: Float[Array, "*batch act"]
    reward: Float[Array, "*batch"]
    next_obs: Float[Array, "*batch obs"]
    terminated: Float[Array, "*batch"]
    later: Later | None = None

    @classmethod
    def drawn(
        cls,
        replay: Replay,
        shape: tuple[int, ...],
        settings: AgentSettings,
        *,
        generator: np.random.Generator,
    ) -> "Transitions":
        """Rows drawn from replay, as `at` gives them."""
        return cls.at(replay, replay.draw(shape, generator=generator), settings)

    @classmethod
    def at(cls, replay: Replay, slots: Int[np.ndarray, "*batch"], settings: AgentSettings) -> "Transitions":
        """The rows in these slots, with what followed them where values take over only n steps later."""
        obs, action, reward, next_obs, terminated = map(jnp.asarray, replay.at(slots))
        rows = cls(obs, action, reward, next_obs, terminated)
        if settings.n_step == 1:
            return rows
        reward, *later = map(jnp.asarray, replay.ahead(slots, settings.n_step, settings.discount))
        return rows._replace(reward=reward, later=Later(*later))


def as_seen(
    settings: AgentSettings, batches: Transitions, statistics: Statistics
) -> tuple[Transitions, Statistics]:
    """What the networks see: as it is, or observations standardised, so that there is nothing left to do so."""
    if not settings.normalise:
        return batches, statistics
    obs, next_obs = statistics.standardised(batches.obs), statistics.standardised(batches.next_obs)
    later = batches.later and batches.later._replace(obs=statistics.standardised(batches.later.obs))
    mean, std = jnp.zeros_like(statistics.next_obs_mean), jnp.ones_like(statistics.next_obs_std)
    return (
        batches._replace(obs=obs, next_obs=next_obs, later=later),
        statistics._replace(next_obs_mean=mean, next_obs_std=std),
    )
