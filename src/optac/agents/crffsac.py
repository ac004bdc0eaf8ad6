"""cRFFSAC: soft actor-critic whose critics see φ(s, a), learnt by predicting the next state.

Paper, section 7. φ is the second hidden layer of an MLP on (s, a), trained by ‖M φ(s, a) − s'‖². The critics
are two-layer MLPs on φ ("mlp"), as the paper simplifies, or linear on fixed cos(Wφ + b) ("fourier"), as it
derives. With the bonus, min(α‖φ‖_Λ⁻¹, 1) enters the critic's target and nothing else.

Differs from the paper: s' is standardised; critics see a slowly moving copy of φ, without which their input changes
under them, and the bonus that copy as it was when Λ was built; the bonus has a scale instead of 3H; the actor is
SAC's, as in its experiments, not the softmax of summed critics of its analysis. By default critics are SAC's own,
each with its φ beside (s, a).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from optac.agents.parts import soft_actor_critic as soft
from optac.agents.parts.bonus import elliptical_bonus, inverse_root
from optac.agents.parts.features import (
    FourierLayer,
    TransitionModel,
    beside,
    features,
    fourier_layer,
    next_state_loss,
    q_values,
    side_by_side,
    transition_model,
)
from optac.agents.parts.networks import MLP, adam_step, ensemble, mlp, several, towards
from optac.agents.parts.programs import program
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions, as_seen
from optac.agents.record import AgentRecord, Block
from optac.agents.settings import AgentSettings
from optac.settings import setting

PLAIN: Mapping[str, Any] = {
    **AgentSettings.PRESETS["plain"],
    "feature_width": 256,
    "own_features": False,
    "early_features": False,
    "predict_change": False,
    "feature_norm": False,
    "raw_input": False,
    "head_layers": 1,
    "bonus_unit": "deviation",
    "bonus_copy": False,
}
"""one φ for both critics, in place of (s, a), and a critic of two layers on it: the paper's section 7"""


@dataclass(frozen=True)
class Settings(AgentSettings):
    """Settings of cRFFSAC: the shared ones, φ's and the bonus's."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "plain": PLAIN,
        "paper": {**PLAIN, **AgentSettings.PRESETS["paper"], "feature_steps": 4},
    }
    NEEDS: ClassVar = {
        "bonus_": ("bonus", True),
        "fourier_": ("head", "fourier"),
        "head_layers": ("head", "mlp"),
        "raw_input": ("head", "mlp"),
        "layer_norm": ("head", "mlp"),
    }

    bonus: bool = setting(False, "add the elliptical bonus to the reward in the critic's target")
    feature_width: int = setting(
        64, "dimension of φ; its hidden layer has `width` units or twice this, whichever is less", least=1
    )
    own_features: bool = setting(True, "give every critic a φ of its own, with errors of its own")
    feature_steps: int = setting(1, "steps of φ, each on a fresh batch, in one update", least=1, most=100)
    early_features: bool = setting(True, "let φ learn in the random start too, from the first full batch on")
    feature_learning_rate: float = setting(3e-4, "Adam's step size for φ and M", least=0.0)
    feature_copy_rate: float = setting(
        0.005, "how far the critic's copy of φ moves to φ", least=0.0, most=1.0
    )
    predict_change: bool = setting(True, "let φ predict s' − s, in units of its size over the batch, not s'")
    feature_norm: bool = setting(True, "standardise both layers of φ over their units, so that φ is bounded")
    raw_input: bool = setting(True, "let the critic on φ see (s, a) beside it")
    head_layers: int = setting(2, "hidden layers of the critic on φ", least=1, most=100)
    head: Literal["mlp", "fourier"] = setting(
        "mlp", 'critic on φ: "mlp", or "fourier", linear on fixed cos(Wφ + b)'
    )
    fourier_bandwidth: float = setting(3.0, "standard deviation of Wφ per unit of φ's rms", least=0.0)
    bonus_scale: float = setting(1.0, "largest bonus, in the unit that bonus_unit names", least=0.0)
    bonus_unit: Literal["one", "deviation"] = setting(
        "one", '"one", as rewards are counted, or "deviation", the standard deviation of those seen'
    )
    bonus_copy: bool = setting(True, "give the bonus φ as it was when Λ was built, not the critics' copy")
    bonus_alpha: float = setting(1.0, "α in min(α‖φ‖_Λ⁻¹, 1)", least=0.0)
    bonus_lambda: float = setting(1.0, "λ in Λ = λI + Σφφᵀ", least=1e-8)
    bonus_every: int = setting(1_000, "steps between two rebuildings of Λ", least=1)
    bonus_samples: int = setting(10_000, "transitions Λ is rebuilt from, scaled to all", least=1, most=10**7)


class State(soft.SoftState):
    """All that the next update needs: soft actor-critic's, and φ's."""

    model: TransitionModel
    slow_phi: MLP
    fourier: FourierLayer | None
    model_optimiser: optax.OptState
    inverse_root: Float[Array, "feature feature"] | None
    bonus_phi: MLP | None


class Info(NamedTuple):
    """Numbers of an update for a row of metrics."""

    feature_loss: Float[Array, "*updates"]
    critic_loss: Float[Array, "*updates"]
    actor_loss: Float[Array, "*updates"]
    ent_coef: Float[Array, "*updates"]
    entropy: Float[Array, "*updates"]
    q_mean: Float[Array, "*updates"]
    bonus_mean: Float[Array, "*updates"]


def init(settings: Settings, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """Fresh networks for observations of size `obs` and actions of size `act`."""
    key, key_actor, key_critic, key_model, key_fourier = jax.random.split(key, 5)
    w, d, literal = settings.width, settings.feature_width, settings.head == "fourier"
    seen = d + obs + act if settings.raw_input else d
    actor = mlp([obs, w, w, 2 * act], key=key_actor)
    critic = ensemble(
        settings.critics,
        [w, 1] if literal else [seen, *[w] * settings.head_layers, 1],
        normalised=settings.head_layers * settings.layer_norm,
        key=key_critic,
    )
    models = settings.critics if settings.own_features else 1
    fresh = partial(transition_model, obs, act, min(w, 2 * d), d, normalised=settings.feature_norm)
    model = (several(models, fresh) if settings.own_features else fresh)(key=key_model)
    return State(
        **vars(soft.soft_state(settings, actor, critic, key=key)),
        model=model,
        slow_phi=model.phi,
        fourier=fourier_layer(d, w, settings.fourier_bandwidth, key=key_fourier) if literal else None,
        model_optimiser=optax.adam(settings.feature_learning_rate).init(model),
        inverse_root=jnp.eye(models * d) / jnp.sqrt(settings.bonus_lambda) if settings.bonus else None,
        bonus_phi=model.phi if settings.bonus and settings.bonus_copy else None,
    )


def update(
    settings: Settings,
    state: State,
    batches: Transitions,
    statistics: Statistics,
    *,
    actor: bool = True,
) -> tuple[State, Info]:
    """One step of φ for each of `batches`, then one of critics, actor, temperature, targets on the last."""
    model, model_optimiser, feature_loss = _learn_features(settings, state, batches, statistics)
    slow_phi = towards(state.slow_phi, model.phi, settings.feature_copy_rate)

    batch = jax.tree.map(lambda x: x[-1], batches)
    bonus = _bonus(settings, state, batch, slow_phi)
    unit = 1.0 if settings.bonus_unit == "one" else statistics.reward_std
    largest = jnp.asarray(settings.bonus_scale * unit if settings.bonus else 0.0)
    state, info = soft.soft_update(
        settings,
        state,
        batch,
        statistics._replace(return_std=jnp.maximum(statistics.return_std, largest)),
        views(settings, state, slow_phi),
        actor=actor,
        reward=batch.reward + largest * bonus,
        largest_addition=largest,
    )
    state = dataclasses.replace(state, model=model, slow_phi=slow_phi, model_optimiser=model_optimiser)
    return state, Info(feature_loss, *info, bonus_mean=jnp.mean(bonus))


def views(settings: Settings, state: State, phi: MLP) -> soft.Views:
    """The critics see φ(s, a), or (s, a) beside it too."""

    def seen(obs: soft.Batch, action: soft.Batch) -> soft.Inputs:
        seen = features(phi, obs, action)
        return beside(seen, obs, action) if settings.raw_input and settings.head == "mlp" else seen

    return soft.Views(seen, partial(q_values, fourier=state.fourier))


def examine(settings: Settings, state: State, obs: soft.Batch, action: soft.Batch) -> dict[str, Array]:
    """Each row's features and the least of the critics' values, but for values with a bonus in them, for metrics."""
    found = {"features": features_of(settings, state.slow_phi, obs, action)}
    if not settings.bonus:
        see = views(settings, state, state.slow_phi)
        found["value"] = jnp.min(soft.values_of(state, see, state.critic, see.critic(obs, action)), axis=0)
    return found


def before_updates(settings: Settings, state: State, block: Block) -> State:
    """The state with φ fitted to the random start while it lasts, and with Λ rebuilt where it is due."""
    if block.step >= settings.learning_starts:
        return rebuild_when_due(settings, state, block) if settings.bonus else state
    if not settings.early_features or len(block.replay) < settings.batch_size:
        return state
    shape = (settings.updates_per_dispatch, 1, settings.batch_size)
    batches = Transitions.drawn(block.replay, shape, settings, generator=block.generator)
    count = jnp.int32(block.step - block.before)
    return program(learn_features_alone, settings.determining())(state, batches, block.statistics, count)


def learn_features_alone(
    settings: Settings, state: State, batches: Transitions, statistics: Statistics, count: Int[Array, ""]
) -> State:
    """The state after `count` steps of φ, which need no policy, reward or value; the copy is φ itself."""
    batches, statistics = as_seen(settings, batches, statistics)

    def body(i: Int[Array, ""], state: State) -> State:
        batch = jax.tree.map(lambda x: x[i], batches)
        model, optimiser, _ = _learn_features(settings, state, batch, statistics)
        return dataclasses.replace(state, model=model, slow_phi=model.phi, model_optimiser=optimiser)

    return jax.lax.fori_loop(0, count, body, state)


def rebuild_when_due(settings: Settings, state: State, block: Block) -> State:
    """The state with Λ rebuilt, where learning begins and where a multiple of `bonus_every` was passed."""
    every, starts = settings.bonus_every, settings.learning_starts
    if block.step // every == block.before // every and block.before >= starts:
        return state
    rows, weight = block.replay.weighted(settings.bonus_samples, generator=block.generator)
    obs = np.asarray(block.statistics.standardised(jnp.asarray(rows.obs))) if settings.normalise else rows.obs
    return rebuild_covariance(settings, state, obs, rows.action, weight)


def rebuild_covariance(
    settings: Settings,
    state: State,
    obs: Float[np.ndarray, "batch obs"],
    action: Float[np.ndarray, "batch act"],
    weight: Float[np.ndarray, " batch"],
) -> State:
    """The state with Λ rebuilt from these rows of replay under the critics' φ, each counted `weight` times."""
    phi = np.asarray(program(features_of, settings.determining())(state.slow_phi, obs, action))
    root = inverse_root(phi, weight, ridge=settings.bonus_lambda)
    copy = None if state.bonus_phi is None else state.slow_phi
    return dataclasses.replace(state, inverse_root=jnp.asarray(root), bonus_phi=copy)


def features_of(settings: Settings, phi: MLP, obs: soft.Batch, action: soft.Batch) -> Array:
    """Every critic's φ(s, a), one beside the other."""
    return side_by_side(features(phi, obs, action))


def _learn_features(
    settings: Settings, state: State, batches: Transitions, statistics: Statistics
) -> tuple[TransitionModel, optax.OptState, Float[Array, ""]]:
    model, optimiser = state.model, state.model_optimiser
    loss_of = partial(next_state_loss, change=settings.predict_change)
    for i in range(len(batches.reward)):
        batch = jax.tree.map(lambda x, i=i: x[i], batches)
        loss, gradient = jax.value_and_grad(loss_of)(model, batch, statistics)
        model, optimiser = adam_step(gradient, model, optimiser, learning_rate=settings.feature_learning_rate)
    return model, optimiser, loss


def _bonus(settings: Settings, state: State, batch: Transitions, phi: MLP) -> Float[Array, " batch"]:
    if state.inverse_root is None:
        return jnp.zeros_like(batch.reward)
    seen = features(state.bonus_phi or phi, batch.obs, batch.action)
    return elliptical_bonus(side_by_side(seen), state.inverse_root, alpha=settings.bonus_alpha)


AGENT = AgentRecord(
    name="crffsac",
    summary="its critic on features that predict the next state",
    settings=Settings,
    init=init,
    update=update,
    fixed={"bonus": False},
    between_blocks=before_updates,
    examine=examine,
    batches=lambda settings: settings.feature_steps,
    trained=lambda state: {"φ": (state.model, state.model_optimiser), **soft.soft_parts(state)},
)
WITH_BONUS = dataclasses.replace(
    AGENT,
    name="crffsac-bonus",
    summary="the same with the elliptical bonus in the critic's target",
    fixed={"bonus": True},
)
