"""The formulas of soft actor-critic that every agent here is put together from.

Haarnoja et al., arXiv 1812.05905v2. The critics are a leading axis, their minimum is taken where the paper
takes it, and a formula here knows nothing of what network produced its values.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree


class Transitions(NamedTuple):
    """Rows of replay. Actions are in [−1, 1]; `terminated` is 1 where the MDP ended, 0 at a time limit."""

    obs: Float[Array, "*batch obs"]
    action: Float[Array, "*batch act"]
    reward: Float[Array, "*batch"]
    next_obs: Float[Array, "*batch obs"]
    terminated: Float[Array, "*batch"]


class Adam(NamedTuple):
    """One network's optimiser state after a step, and its new parameters."""

    parameters: PyTree[Array]
    state: optax.OptState


def soft_target(
    reward: Float[Array, " batch"],
    terminated: Float[Array, " batch"],
    next_values: Float[Array, "critic batch"],
    next_log_probability: Float[Array, " batch"],
    temperature: Float[Array, ""],
    *,
    discount: float,
) -> Float[Array, " batch"]:
    """y = r + γ(1 − d)(min_c Q̄_c(s', a') − α log π(a' | s')), as a constant."""
    soft_value = jnp.min(next_values, axis=0) - temperature * next_log_probability
    return jax.lax.stop_gradient(reward + discount * (1 - terminated) * soft_value)


def critic_loss(values: Float[Array, "critic batch"], target: Float[Array, " batch"]) -> Float[Array, ""]:
    """Σ_c E[(Q_c(s, a) − y)²]."""
    return jnp.sum(jnp.mean((values - target[None]) ** 2, axis=1))


def actor_loss(
    values: Float[Array, "critic batch"],
    log_probability: Float[Array, " batch"],
    temperature: Float[Array, ""],
) -> Float[Array, ""]:
    """E[α log π(a | s) − min_c Q_c(s, a)], a drawn from π."""
    return jnp.mean(temperature * log_probability - jnp.min(values, axis=0))


def target_entropy(chosen: float | None, act: int) -> float:
    """H: the chosen one, or −dim(A)."""
    return -float(act) if chosen is None else chosen


def temperature_loss(
    log_temperature: Float[Array, ""], log_probability: Float[Array, " batch"], entropy_wanted: float
) -> Float[Array, ""]:
    """E[α(−log π(a | s) − H)]: raises α where the policy's entropy is below H."""
    entropy = jax.lax.stop_gradient(-log_probability)
    return jnp.exp(log_temperature) * jnp.mean(entropy - entropy_wanted)


def adam_step(
    gradient: PyTree[Array], parameters: PyTree[Array], state: optax.OptState, *, learning_rate: float
) -> Adam:
    """Parameters and optimiser state after one step of Adam."""
    updates, state = optax.adam(learning_rate).update(gradient, state)
    return Adam(optax.apply_updates(parameters, updates), state)
