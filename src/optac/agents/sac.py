"""Soft actor-critic: the baseline, with the same networks, optimisers and protocol as cRFFSAC.

Haarnoja et al., arXiv 1812.05905v2, with the temperature tuned towards entropy −dim(A).

Differs from that paper: ELU instead of ReLU, orthogonal initial weights, and log std bounded smoothly in
[−5, 2], as in the code that the cRFFSAC paper builds on.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from optac.agents import squashed_gaussian
from optac.agents.networks import MLP, each, ensemble, mlp, towards
from optac.agents.settings import SACSettings
from optac.agents.soft_actor_critic import (
    Transitions,
    actor_loss,
    adam_step,
    critic_loss,
    soft_target,
    target_entropy,
    temperature_loss,
)
from optac.agents.statistics import Statistics


class State(eqx.Module):
    """All that the next update needs."""

    actor: MLP
    critic: MLP
    target_critic: MLP
    log_temperature: Float[Array, ""]
    actor_optimiser: optax.OptState
    critic_optimiser: optax.OptState
    temperature_optimiser: optax.OptState
    updates: Int[Array, ""]
    key: PRNGKeyArray


class Info(NamedTuple):
    """What a row of metrics wants to know of an update."""

    critic_loss: Float[Array, "*updates"]
    actor_loss: Float[Array, "*updates"]
    ent_coef: Float[Array, "*updates"]
    entropy: Float[Array, "*updates"]
    q_mean: Float[Array, "*updates"]


def init(settings: SACSettings, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """Fresh networks for observations of size `obs` and actions of size `act`."""
    key, key_actor, key_critic = jax.random.split(key, 3)
    w = settings.width
    actor = mlp([obs, w, w, 2 * act], key=key_actor)
    critic = ensemble(settings.critics, [obs + act, w, w, 1], key=key_critic)
    log_temperature = jnp.log(jnp.float32(settings.initial_temperature))
    adam = optax.adam(settings.learning_rate)
    return State(
        actor=actor,
        critic=critic,
        target_critic=critic,
        log_temperature=log_temperature,
        actor_optimiser=adam.init(actor),
        critic_optimiser=adam.init(critic),
        temperature_optimiser=adam.init(log_temperature),
        updates=jnp.int32(0),
        key=key,
    )


def update(
    settings: SACSettings, state: State, batches: Transitions, statistics: Statistics
) -> tuple[State, Info]:
    """One step of critics, actor, temperature and target; `batches` has one batch along its first axis."""
    batch = jax.tree.map(lambda x: x[-1], batches)
    key, key_next, key_actor = jax.random.split(state.key, 3)
    temperature = jnp.exp(state.log_temperature)
    entropy_wanted = target_entropy(settings.target_entropy, batch.action.shape[-1])

    next_action, next_log_probability = squashed_gaussian.sample(state.actor, batch.next_obs, key=key_next)
    next_values = q_values(state.target_critic, batch.next_obs, next_action)
    target = soft_target(
        batch.reward,
        batch.terminated,
        next_values,
        next_log_probability,
        temperature,
        discount=settings.discount,
    )

    def of_critic(critic: MLP) -> tuple[Float[Array, ""], Float[Array, ""]]:
        values = q_values(critic, batch.obs, batch.action)
        return critic_loss(values, target), jnp.mean(values)

    def of_actor(actor: MLP) -> tuple[Float[Array, ""], Float[Array, " batch"]]:
        action, log_probability = squashed_gaussian.sample(actor, batch.obs, key=key_actor)
        values = q_values(critic.parameters, batch.obs, action)
        return actor_loss(values, log_probability, temperature), log_probability

    rate = settings.learning_rate
    (loss_critic, q_mean), gradient = jax.value_and_grad(of_critic, has_aux=True)(state.critic)
    critic = adam_step(gradient, state.critic, state.critic_optimiser, learning_rate=rate)
    (loss_actor, log_probability), gradient = jax.value_and_grad(of_actor, has_aux=True)(state.actor)
    actor = adam_step(gradient, state.actor, state.actor_optimiser, learning_rate=rate)
    gradient = jax.grad(temperature_loss)(state.log_temperature, log_probability, entropy_wanted)
    log_temperature = adam_step(
        gradient, state.log_temperature, state.temperature_optimiser, learning_rate=rate
    )
    updates = state.updates + 1
    moved = jnp.where(updates % settings.target_every == 0, settings.target_rate, 0.0)
    next_state = State(
        actor=actor.parameters,
        critic=critic.parameters,
        target_critic=towards(state.target_critic, critic.parameters, moved),
        log_temperature=log_temperature.parameters,
        actor_optimiser=actor.state,
        critic_optimiser=critic.state,
        temperature_optimiser=log_temperature.state,
        updates=updates,
        key=key,
    )
    return next_state, Info(loss_critic, loss_actor, temperature, -jnp.mean(log_probability), q_mean)


def q_values(
    critic: MLP, obs: Float[Array, "batch obs"], action: Float[Array, "batch act"]
) -> Float[Array, "critic batch"]:
    """Q_c(s, a) for each critic c."""
    return each(critic, jnp.concatenate([obs, action], axis=-1))[..., 0]
