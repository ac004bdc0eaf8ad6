"""The actor's distribution: a Gaussian pushed through tanh into (−1, 1)."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from optac.agents.parts.networks import MLP
from optac.numpy_policy import LOG_STD_HIGHEST, LOG_STD_LOWEST


def gaussian(actor: MLP, obs: Float[Array, "batch obs"]) -> tuple[Float[Array, "batch act"], ...]:
    """Mean and log standard deviation before squashing; the latter is bounded smoothly in [−5, 2]."""
    mean, raw = jnp.split(actor(obs), 2, axis=-1)
    half_range = 0.5 * (LOG_STD_HIGHEST - LOG_STD_LOWEST)
    return mean, LOG_STD_LOWEST + half_range * (jnp.tanh(raw) + 1)


def sample(
    actor: MLP, obs: Float[Array, "batch obs"], *, key: PRNGKeyArray
) -> tuple[Float[Array, "batch act"], Float[Array, " batch"]]:
    """Actions a = tanh(u), u ~ N(mean, std²), and log π(a | s).

    log π = Σ log N(u) − Σ log(1 − tanh² u), with log(1 − tanh² u) = 2(log 2 − u − softplus(−2u)), which does
    not round to log 0 for large u.
    """
    mean, log_std = gaussian(actor, obs)
    noise = jax.random.normal(key, mean.shape)
    u = mean + jnp.exp(log_std) * noise
    log_normal = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
    log_slope = 2 * (math.log(2) - u - jax.nn.softplus(-2 * u))
    return jnp.tanh(u), jnp.sum(log_normal - log_slope, axis=-1)
