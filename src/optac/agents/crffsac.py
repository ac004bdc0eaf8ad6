"""cRFFSAC: soft actor-critic whose critics see only φ(s, a), learnt by predicting the next state.

Paper, section 7. φ is the second hidden layer of an MLP on (s, a), trained by ‖M φ(s, a) − s'‖². The critics
are two-layer MLPs on φ ("mlp"), as the paper simplifies, or linear on fixed cos(Wφ + b) ("fourier"), as it
derives. With the bonus, min(α‖φ‖_Λ⁻¹, 1) enters the critic's target and nothing else.

Differs from the paper: s' is standardised; critics, actor and bonus see a slowly moving copy of φ, without
which their input changes under them; the bonus is scaled by the spread of the reward instead of 3H; the actor
is SAC's, as in the paper's experiments, not the softmax of summed critics of its analysis.
"""

import dataclasses
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from optac.agents.parts.bonus import elliptical_bonus, inverse_root
from optac.agents.parts.features import (
    FourierLayer,
    TransitionModel,
    features,
    fourier_layer,
    next_state_loss,
    transition_model,
)
from optac.agents.parts.networks import MLP, each, ensemble, mlp, towards
from optac.agents.parts.soft_actor_critic import SoftState, Transitions, adam_step, soft_state, soft_update
from optac.agents.parts.statistics import Statistics
from optac.agents.settings import CRFFSACSettings


class State(SoftState):
    """All that the next update needs: soft actor-critic's, and φ's."""

    model: TransitionModel
    slow_phi: MLP
    fourier: FourierLayer | None
    model_optimiser: optax.OptState
    inverse_root: Float[Array, "feature feature"] | None


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
    return State(
        **vars(soft_state(settings, actor, critic, key=key)),
        model=model,
        slow_phi=model.phi,
        fourier=fourier_layer(d, w, settings.fourier_bandwidth, key=key_fourier) if literal else None,
        model_optimiser=optax.adam(settings.feature_learning_rate).init(model),
        inverse_root=jnp.eye(d) / jnp.sqrt(settings.bonus_lambda) if settings.bonus else None,
    )


def update(
    settings: CRFFSACSettings, state: State, batches: Transitions, statistics: Statistics
) -> tuple[State, Info]:
    """One step of φ for each of `batches`, then one of critics, actor, temperature, targets on the last."""
    model, model_optimiser, feature_loss = _learn_features(settings, state, batches, statistics)
    slow_phi = towards(state.slow_phi, model.phi, settings.feature_copy_rate)

    batch = jax.tree.map(lambda x: x[-1], batches)
    embed = partial(features, slow_phi)
    phi = embed(batch.obs, batch.action)
    bonus = _bonus(settings, state, phi)
    reward = batch.reward + settings.bonus_scale * statistics.reward_std * bonus
    head = partial(q_values, fourier=state.fourier)
    state, info = soft_update(settings, state, batch, reward, phi, embed=embed, head=head)
    state = dataclasses.replace(state, model=model, slow_phi=slow_phi, model_optimiser=model_optimiser)
    return state, Info(feature_loss, *info, bonus_mean=jnp.mean(bonus))


def rebuild_covariance(
    settings: CRFFSACSettings,
    state: State,
    obs: Float[np.ndarray, "batch obs"],
    action: Float[np.ndarray, "batch act"],
    weight: Float[np.ndarray, " batch"],
) -> State:
    """The state with Λ rebuilt from these rows of replay under the present φ, each counted `weight` times."""
    phi = np.asarray(_compiled_features(state.slow_phi, obs, action))
    root = inverse_root(phi, weight, ridge=settings.bonus_lambda)
    return dataclasses.replace(state, inverse_root=jnp.asarray(root))


_compiled_features = jax.jit(features)


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
