"""Transitions as an update is given them, and as the networks see them."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from optac.agents.parts.statistics import Statistics
from optac.agents.settings import AgentSettings


class Transitions(NamedTuple):
    """Rows of replay. Actions are in [−1, 1]; `terminated` is 1 where the MDP ended, 0 at a time limit."""

    obs: Float[Array, "*batch obs"]
    action: Float[Array, "*batch act"]
    reward: Float[Array, "*batch"]
    next_obs: Float[Array, "*batch obs"]
    terminated: Float[Array, "*batch"]


def as_seen(
    settings: AgentSettings, batches: Transitions, statistics: Statistics
) -> tuple[Transitions, Statistics]:
    """What the networks see: as it is, or observations standardised, so that there is nothing left to do so."""
    if not settings.normalise:
        return batches, statistics
    obs, next_obs = statistics.standardised(batches.obs), statistics.standardised(batches.next_obs)
    mean, std = jnp.zeros_like(statistics.next_obs_mean), jnp.ones_like(statistics.next_obs_std)
    return (
        batches._replace(obs=obs, next_obs=next_obs),
        statistics._replace(next_obs_mean=mean, next_obs_std=std),
    )
