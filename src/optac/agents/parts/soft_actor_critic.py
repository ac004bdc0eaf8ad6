"""Soft actor-critic's formulas and the update they make up, which every agent here shares.

Haarnoja et al., arXiv 1812.05905v2. The critics are a leading axis, their minimum is taken where the paper
takes it, and nothing here knows what the networks see: an agent says it by its `Views`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from optac.agents.parts import squashed_gaussian
from optac.agents.parts.networks import MLP, adam_step, arrays_of, towards
from optac.agents.parts.statistics import Statistics, value_bound
from optac.agents.parts.transitions import Transitions
from optac.agents.settings import AgentSettings

HUBER = 5.0
"""median errors beyond which Huber's loss is linear"""
Scalar = Float[Array, ""]
Column = Float[Array, " batch"]
Batch = Float[Array, "batch _"]
Inputs = Float[Array, "*each batch _"]
"""what the critics see: the same rows for all, or along a leading axis each its own"""
Values = Float[Array, "critic batch"]
Loss = Callable[[Values, Column, Scalar | None], Scalar]
"""of the critics' values, y and the unit of both that errors are counted in, None where that is the reward's"""


class Views(NamedTuple):
    """Inputs of the networks: the critics x = critic(s, a), of which head(critics, x) makes Q_c for each critic c.

    `target` is what the target critics see of (s', a') where it is not that.
    """

    critic: Callable[[Batch, Batch], Inputs]
    head: Callable[[MLP, Inputs], Values]
    actor: Callable[[Batch], Batch] = lambda obs: obs
    target: Callable[[Batch, Batch], Inputs] | None = None


class SoftState(eqx.Module):
    """All that the next update of actor, critics and temperature needs.

    The critics' outputs are values in units of `value_scale`, 0 before the first update; None: in the reward's.
    `errors` is max_c |Q_c(s, a) − y| of each row of the last batch, in the same unit; None: not kept.
    """

    actor: MLP
    critic: MLP
    target_critic: MLP
    log_temperature: Scalar
    actor_optimiser: optax.OptState
    critic_optimiser: optax.OptState
    temperature_optimiser: optax.OptState
    updates: Int[Array, ""]
    key: PRNGKeyArray
    value_scale: Float[Array, ""] | None
    errors: Column | None


class SoftInfo(NamedTuple):
    """Numbers of an update for a row of metrics."""

    critic_loss: Float[Array, "*updates"]
    actor_loss: Float[Array, "*updates"]
    ent_coef: Float[Array, "*updates"]
    entropy: Float[Array, "*updates"]
    q_mean: Float[Array, "*updates"]


State = TypeVar("State", bound=SoftState)


def soft_state(
    settings: AgentSettings, actor: MLP, critic: MLP, *, errors: bool = False, key: PRNGKeyArray
) -> SoftState:
    """Fresh optimisers, targets and temperature for these networks; `errors`: keep each update's."""
    adam = optax.adam(settings.learning_rate)
    log_temperature = jnp.log(jnp.float32(settings.initial_temperature))
    return SoftState(
        actor=actor,
        critic=critic,
        target_critic=critic,
        log_temperature=log_temperature,
        actor_optimiser=adam.init(actor),
        critic_optimiser=adam.init(critic),
        temperature_optimiser=adam.init(log_temperature),
        updates=jnp.int32(0),
        key=key,
        value_scale=jnp.float32(0.0) if settings.value_scale else None,
        errors=jnp.zeros(settings.batch_size) if errors else None,
    )


def soft_update(
    settings: AgentSettings,
    state: State,
    batch: Transitions,
    statistics: Statistics,
    views: Views,
    *,
    actor: bool = True,
    reward: Column | None = None,
    largest_addition: float | Scalar = 0.0,
    loss: Loss | None = None,
) -> tuple[State, SoftInfo]:
    """One step of critics and target, and of actor and temperature where it is their turn.

    `reward` is the one to learn from where it is not the batch's, and at most `largest_addition` above it; `loss` is
    the critics' where it is not `critic_loss`.
    """
    key, key_next, key_actor = jax.random.split(state.key, 3)
    reward = batch.reward if reward is None else reward
    temperature = jnp.exp(state.log_temperature)
    state = in_units_of(state, jnp.asarray(statistics.return_std))
    bound = value_bound(settings, statistics, largest_addition)
    state, loss_critic, q_mean = critic_step(
        settings, state, batch, views, reward, bound=bound, loss=loss, key=key_next
    )
    loss_actor = entropy = jnp.float32(0.0)
    if actor:
        state, loss_actor, entropy = actor_step(settings, state, batch, views, key=key_actor)
    info = SoftInfo(loss_critic, loss_actor, temperature, entropy, q_mean)
    return dataclasses.replace(state, key=key), info


def in_units_of(state: State, scale: Scalar) -> State:
    """The state with its critics' outputs in units of `scale`, their values the same; nothing where they have none.

    Before the first update there is nothing to keep: the untrained outputs are taken to be in that unit.
    """
    if state.value_scale is None:
        return state
    ratio = jnp.where(state.value_scale > 0, state.value_scale / scale, 1.0)

    def rescaled(critic: MLP) -> MLP:
        *hidden, last = critic.layers
        return dataclasses.replace(critic, layers=(*hidden, jax.tree.map(lambda x: x * ratio, last)))

    return dataclasses.replace(
        state,
        critic=rescaled(state.critic),
        target_critic=rescaled(state.target_critic),
        value_scale=scale,
    )


def values_of(state: SoftState, views: Views, critic: MLP, x: Inputs) -> Values:
    """Q_c in the reward's unit."""
    values = views.head(critic, x)
    return values if state.value_scale is None else state.value_scale * values


def critic_step(
    settings: AgentSettings,
    state: State,
    batch: Transitions,
    views: Views,
    reward: Column,
    *,
    bound: Scalar | None = None,
    loss: Loss | None = None,
    key: PRNGKeyArray,
) -> tuple[State, Scalar, Scalar]:
    """One step of the critics, and of their target where it is due; their loss and mean value."""
    later, discount = batch.later or (batch.next_obs, settings.discount * (1 - batch.terminated))
    next_action, next_log_probability = squashed_gaussian.sample(state.actor, views.actor(later), key=key)
    values = values_of(state, views, state.target_critic, (views.target or views.critic)(later, next_action))
    temperature = jnp.exp(state.log_temperature)
    target = soft_target(reward, discount, values, next_log_probability, temperature, bound=bound)
    x, unit = views.critic(batch.obs, batch.action), state.value_scale
    usual = partial(critic_loss, exact=discount == 0 if settings.huber_loss else None)
    of_values = usual if loss is None else loss

    def of_critic(critic: MLP) -> tuple[Scalar, tuple[Scalar, Column]]:
        values = values_of(state, views, critic, x)
        errors = jnp.max(jnp.abs(values - target), axis=0) / (1.0 if unit is None else unit)
        return of_values(values, target, unit), (jnp.mean(values), errors)

    (found, (q_mean, errors)), gradient = jax.value_and_grad(of_critic, has_aux=True)(state.critic)
    critic = adam_step(gradient, state.critic, state.critic_optimiser, learning_rate=settings.learning_rate)
    updates = state.updates + 1
    moved = jnp.where(updates % settings.target_every == 0, settings.target_rate, 0.0)
    next_state = dataclasses.replace(
        state,
        critic=critic.parameters,
        target_critic=towards(state.target_critic, critic.parameters, moved),
        critic_optimiser=critic.state,
        updates=updates,
        errors=None if state.errors is None else errors,
    )
    return next_state, found, q_mean


def actor_step(
    settings: AgentSettings, state: State, batch: Transitions, views: Views, *, key: PRNGKeyArray
) -> tuple[State, Scalar, Scalar]:
    """One step of actor and temperature; the actor's loss and entropy."""
    temperature = jnp.exp(state.log_temperature)
    rate = settings.learning_rate

    def of_actor(actor: MLP) -> tuple[Scalar, Column]:
        action, log_probability = squashed_gaussian.sample(actor, views.actor(batch.obs), key=key)
        values = values_of(state, views, state.critic, views.critic(batch.obs, action))
        return actor_loss(values, log_probability, temperature), log_probability

    (loss, log_probability), gradient = jax.value_and_grad(of_actor, has_aux=True)(state.actor)
    actor = adam_step(gradient, state.actor, state.actor_optimiser, learning_rate=rate)

    entropy_wanted = target_entropy(settings.target_entropy, batch.action.shape[-1])
    gradient = jax.grad(temperature_loss)(state.log_temperature, log_probability, entropy_wanted)
    log_temperature = adam_step(
        gradient, state.log_temperature, state.temperature_optimiser, learning_rate=rate
    )
    next_state = dataclasses.replace(
        state,
        actor=actor.parameters,
        log_temperature=log_temperature.parameters,
        actor_optimiser=actor.state,
        temperature_optimiser=log_temperature.state,
    )
    return next_state, loss, -jnp.mean(log_probability)


def soft_parts(state: SoftState) -> dict[str, PyTree[Array]]:
    """The arrays that gradients move, networks with their optimisers, by the name that a message gives them."""
    return {
        "critic": (state.critic, state.critic_optimiser),
        "actor": (state.actor, state.actor_optimiser),
        "temperature": (state.log_temperature, state.temperature_optimiser),
    }


def soft_policy(settings: AgentSettings, state: SoftState, statistics: Statistics) -> Mapping[str, Any]:
    """The actor as a numpy policy's layers, and the moments that its observations are standardised by."""
    moments = {
        "observation_mean": np.asarray(statistics.next_obs_mean),
        "observation_deviation": np.asarray(statistics.next_obs_std),
    }
    layers = arrays_of(state.actor.layers)
    return {"layers": layers, "activation": "elu", **(moments if settings.normalise else {})}


def soft_target(
    reward: Column,
    discount: Column,
    values: Values,
    log_probability: Column,
    temperature: Scalar,
    *,
    bound: Scalar | None = None,
) -> Column:
    """y = r + γ(1 − d)(min_c Q̄_c(s', a') − α log π(a' | s')), as a constant; what is in brackets is at most `bound`.

    `discount` is γ(1 − d), d being 1 where the MDP ended, or what stands for it several steps later.
    """
    soft_value = jnp.min(values, axis=0) - temperature * log_probability
    soft_value = soft_value if bound is None else jnp.minimum(soft_value, bound)
    return jax.lax.stop_gradient(reward + discount * soft_value)


def critic_loss(
    values: Values, target: Column, unit: Scalar | None = None, *, exact: Bool[Array, " batch"] | None = None
) -> Scalar:
    """Σ_c E[(Q_c(s, a) − y)²], in squares of `unit` where one is given.

    Where it is said which targets are `exact`, any other error beyond m, five times its critic's median over the batch,
    counts as the tangent at m does.
    """
    error = values - target[None]
    error = error if unit is None else error / unit
    if exact is not None:
        size = jnp.abs(error)
        m = HUBER * jax.lax.stop_gradient(jnp.median(size, axis=1, keepdims=True))
        return jnp.sum(jnp.mean(jnp.where((size <= m) | exact, error**2, 2 * m * size - m**2), axis=1))
    return jnp.sum(jnp.mean(error**2, axis=1))


def actor_loss(values: Values, log_probability: Column, temperature: Scalar) -> Scalar:
    """E[α log π(a | s) − min_c Q_c(s, a)], a drawn from π."""
    return jnp.mean(temperature * log_probability - jnp.min(values, axis=0))


def target_entropy(chosen: float | None, act: int) -> float:
    """H: the chosen one, or −dim(A)."""
    return -float(act) if chosen is None else chosen


def temperature_loss(log_temperature: Scalar, log_probability: Column, entropy_wanted: float) -> Scalar:
    """E[α(−log π(a | s) − H)]: raises α where the policy's entropy is below H."""
    entropy = jax.lax.stop_gradient(-log_probability)
    return jnp.exp(log_temperature) * jnp.mean(entropy - entropy_wanted)
