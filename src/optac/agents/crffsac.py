"""cRFFSAC: soft actor-critic whose critics see only φ(s, a), learnt by predicting the next state.

Paper, section 7. φ is the second hidden layer of an MLP on (s, a), trained by ‖M φ(s, a) − s'‖². The critics
are two-layer MLPs on φ ("mlp"), as the paper simplifies, or linear on fixed cos(Wφ + b) ("fourier"), as it
derives. With the bonus, min(α‖φ‖_Λ⁻¹, 1) enters the critic's target and nothing else.

Differs from the paper: s' is standardised; critics, actor and bonus see a slowly moving copy of φ, without
which their input changes under them; the bonus is scaled by the spread of the reward instead of 3H; the actor
is SAC's, as in the paper's experiments, not the softmax of summed critics of its analysis.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from optac.agents import squashed_gaussian
from optac.agents.bonus import elliptical_bonus, inverse_root
from optac.agents.features import (
    FourierLayer,
    TransitionModel,
    features,
    fourier_layer,
    next_state_loss,
    transition_model,
)
from optac.agents.networks import MLP, each, ensemble, mlp, towards
from optac.agents.settings import CRFFSACSettings
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

    model: TransitionModel
    slow_phi: MLP
    fourier: FourierLayer | None
    actor: MLP
    critic: MLP
    target_critic: MLP
    log_temperature: Float[Array, ""]
    model_optimiser: optax.OptState
    actor_optimiser: optax.OptState
    critic_optimiser: optax.OptState
    temperature_optimiser: optax.OptState
    inverse_root: Float[Array, "feature feature"] | None
    updates: Int[Array, ""]
    key: PRNGKeyArray


class Info(NamedTuple):
    """What a row of metrics wants to know of an update."""

    feature_loss: Float[Array, "*updates"]
    critic_loss: Float[Array, "*updates"]
    actor_loss: Float[Array, "*updates"]
    ent_coef: Float[Array, "*updates"]
    entropy: Float[Array, "*updates"]
    q_mean: Float[Array, "*updates"]
    bonus_mean: Float[Array, "*updates"]


def init(settings: CRFFSACSettings, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """Fresh networks for observations of size `obs` and actions of size `act`."""
    key, key_actor, key_critic, key_model, key_fourier = jax.random.split(key, 5)
    w, d = settings.width, settings.feature_width
    literal = settings.head == "fourier"
    actor = mlp([obs, w, w, 2 * act], key=key_actor)
    critic = ensemble(settings.critics, [w, 1] if literal else [d, w, 1], key=key_critic)
    model = transition_model(obs, act, w, d, key=key_model)
    log_temperature = jnp.log(jnp.float32(settings.initial_temperature))
    adam = optax.adam(settings.learning_rate)
    return State(
        model=model,
        slow_phi=model.phi,
        fourier=fourier_layer(d, w, settings.fourier_bandwidth, key=key_fourier) if literal else None,
        actor=actor,
        critic=critic,
        target_critic=critic,
        log_temperature=log_temperature,
        model_optimiser=adam.init(model),
        actor_optimiser=adam.init(actor),
        critic_optimiser=adam.init(critic),
        temperature_optimiser=adam.init(log_temperature),
        inverse_root=jnp.eye(d) / jnp.sqrt(settings.bonus_lambda) if settings.bonus else None,
        updates=jnp.int32(0),
        key=key,
    )


def update(
    settings: CRFFSACSettings, state: State, batches: Transitions, statistics: Statistics
) -> tuple[State, Info]:
    """One step of φ for each of `batches`, then one of critics, actor, temperature, targets on the last."""
    model, model_optimiser, loss_features = _learn_features(settings, state, batches, statistics)
    slow_phi = towards(state.slow_phi, model.phi, settings.feature_copy_rate)

    batch = jax.tree.map(lambda x: x[-1], batches)
    key, key_next, key_actor = jax.random.split(state.key, 3)
    temperature = jnp.exp(state.log_temperature)
    entropy_wanted = target_entropy(settings.target_entropy, batch.action.shape[-1])

    def critics(critic: MLP, phi: Float[Array, "batch feature"]) -> Float[Array, "critic batch"]:
        return q_values(critic, phi, state.fourier)

    next_action, next_log_probability = squashed_gaussian.sample(state.actor, batch.next_obs, key=key_next)
    phi = features(slow_phi, batch.obs, batch.action)
    next_values = critics(state.target_critic, features(slow_phi, batch.next_obs, next_action))
    bonus = _bonus(settings, state, phi)
    target = soft_target(
        batch.reward + settings.bonus_scale * statistics.reward_std * bonus,
        batch.terminated,
        next_values,
        next_log_probability,
        temperature,
        discount=settings.discount,
    )

    def of_critic(critic: MLP) -> tuple[Float[Array, ""], Float[Array, ""]]:
        values = critics(critic, phi)
        return critic_loss(values, target), jnp.mean(values)

    def of_actor(actor: MLP) -> tuple[Float[Array, ""], Float[Array, " batch"]]:
        action, log_probability = squashed_gaussian.sample(actor, batch.obs, key=key_actor)
        values = critics(critic.parameters, features(slow_phi, batch.obs, action))
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
        model=model,
        slow_phi=slow_phi,
        fourier=state.fourier,
        actor=actor.parameters,
        critic=critic.parameters,
        target_critic=towards(state.target_critic, critic.parameters, moved),
        log_temperature=log_temperature.parameters,
        model_optimiser=model_optimiser,
        actor_optimiser=actor.state,
        critic_optimiser=critic.state,
        temperature_optimiser=log_temperature.state,
        inverse_root=state.inverse_root,
        updates=updates,
        key=key,
    )
    entropy = -jnp.mean(log_probability)
    info = Info(loss_features, loss_critic, loss_actor, temperature, entropy, q_mean, jnp.mean(bonus))
    return next_state, info


def rebuild_covariance(
    settings: CRFFSACSettings,
    state: State,
    obs: Float[Array, "batch obs"],
    action: Float[Array, "batch act"],
    weight: Float[Array, " batch"],
) -> State:
    """The state with Λ rebuilt from these rows of replay under the present φ, each counted `weight` times."""
    phi = features(state.slow_phi, obs, action)
    root = inverse_root(phi, weight, ridge=settings.bonus_lambda)
    rebuilt: State = eqx.tree_at(lambda s: s.inverse_root, state, root)
    return rebuilt


def q_values(
    critic: MLP, phi: Float[Array, "batch feature"], fourier: FourierLayer | None
) -> Float[Array, "critic batch"]:
    """Q_c(s, a) for each critic c, a function of φ(s, a) alone."""
    return each(critic, phi if fourier is None else fourier(phi))[..., 0]


def _learn_features(
    settings: CRFFSACSettings, state: State, batches: Transitions, statistics: Statistics
) -> tuple[TransitionModel, optax.OptState, Float[Array, ""]]:
    model, optimiser = state.model, state.model_optimiser
    for i in range(settings.feature_steps):
        batch = jax.tree.map(lambda x, i=i: x[i], batches)
        loss, gradient = jax.value_and_grad(next_state_loss)(model, batch, statistics)
        model, optimiser = adam_step(gradient, model, optimiser, learning_rate=settings.feature_learning_rate)
    return model, optimiser, loss


def _bonus(
    settings: CRFFSACSettings, state: State, phi: Float[Array, "batch feature"]
) -> Float[Array, " batch"]:
    if state.inverse_root is None:
        return jnp.zeros(phi.shape[0])
    return elliptical_bonus(phi, state.inverse_root, alpha=settings.bonus_alpha)
