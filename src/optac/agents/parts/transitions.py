"""Transitions as an update is given them, and as the networks see them."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from optac.agents.parts.replay import Replay
from optac.agents.parts.statistics import Statistics
from optac.agents.settings import AgentSettings


class Transitions(NamedTuple):
    """Rows of replay. Actions are in [−1, 1]; `terminated` is 1 where the MDP ended, 0 at a time limit.

    With `n_step` above 1 `later` is where the value takes over, `later_discount` what it counts there (0 where the MDP
    ended before), and `reward` the discounted sum until then.
    """

    obs: Float[Array, "*batch obs"]
    action: Float[Array, "*batch act"]
    reward: Float[Array, "*batch"]
    next_obs: Float[Array, "*batch obs"]
    terminated: Float[Array, "*batch"]
    later: Float[Array, "*batch obs"] | None = None
    later_discount: Float[Array, "*batch"] | None = None

    @classmethod
    def drawn(
        cls,
        replay: Replay,
        shape: tuple[int, ...],
        settings: AgentSettings,
        *,
        generator: np.random.Generator,
    ) -> "Transitions":
        """Rows drawn uniformly, with what followed them where values take over only n steps later."""
        slots = replay.draw(shape, generator=generator)
        rows = cls(*map(jnp.asarray, replay.at(slots)))
        if settings.n_step == 1:
            return rows
        reward, later, discount = replay.ahead(slots, settings.n_step, settings.discount)
        return rows._replace(
            reward=jnp.asarray(reward), later=jnp.asarray(later), later_discount=jnp.asarray(discount)
        )


def as_seen(
    settings: AgentSettings, batches: Transitions, statistics: Statistics
) -> tuple[Transitions, Statistics]:
    """What the networks see: as it is, or observations standardised, so that there is nothing left to do so."""
    if not settings.normalise:
        return batches, statistics
    obs, next_obs = statistics.standardised(batches.obs), statistics.standardised(batches.next_obs)
    later = None if batches.later is None else statistics.standardised(batches.later)
    mean, std = jnp.zeros_like(statistics.next_obs_mean), jnp.ones_like(statistics.next_obs_std)
    return (
        batches._replace(obs=obs, next_obs=next_obs, later=later),
        statistics._replace(next_obs_mean=mean, next_obs_std=std),
    )
