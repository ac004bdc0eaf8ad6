"""TD7's representation and replay under soft actor-critic.

Fujimoto et al. 2023, "For SALE: State-Action Representation Learning for Deep Reinforcement Learning", arXiv
2306.02451. Embeddings z_s and z_sa predict the next state's z_s'. The critics see z_sa and z_s beside (s, a), the actor
z_s beside s, of copies that stand still for 250 updates, as the targets do. Replay draws rows by their errors.

Differs from TD7: the policy is soft actor-critic's, without target policy, policy checkpoints or behaviour cloning;
by default a next state's value is bounded by the largest running return, not by the targets seen, the embedding is a
quarter as wide, priorities are up to ten updates old, and observations and the critics' layers are standardised, as
SAC's are.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from optac.agents.parts import soft_actor_critic as soft
from optac.agents.parts.embeddings import Encoders, Joined, encoder, joined, next_embedding_loss
from optac.agents.parts.lap import lap_loss, lap_priority
from optac.agents.parts.networks import adam_step, arrays_of, several
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions
from optac.agents.record import AgentRecord
from optac.agents.sac import q_values
from optac.agents.settings import AgentSettings
from optac.settings import setting

PLAIN = {"actor_every": 1, **dict.fromkeys(("normalise", "layer_norm", "huber_loss", "return_bound"), False)}
TD7 = {"learning_starts": 25_000, "batch_size": 256, "updates_per_dispatch": 1, "actor_every": 2}
PAPER = PLAIN | TD7 | {"delay_ends": None, "embedding_width": 256}


@dataclass(frozen=True)
class Settings(AgentSettings):
    """The shared settings, three with another default, and those of embeddings and priorities."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}, "plain": PLAIN, "paper": PAPER}
    NEEDS: ClassVar = {"priority_power": ("prioritised", True), "huber_loss": ("prioritised", False)}

    target_rate: float = setting(1.0, "how far a target moves towards its network", least=0.0, most=1.0)
    target_every: int = setting(250, "updates between two moves of the target networks", least=1)
    value_scale: bool = setting(False, "let critics learn values in units of the returns' running deviation")
    embedding_width: int = setting(64, "dimension of z_s and z_sa", least=1)
    prioritised: bool = setting(True, "draw rows by their errors, and count errors beyond 1 linearly")
    priority_power: float = setting(0.4, "α in max(error, 1)^α, a row's priority", least=0.0, most=1.0)


class State(soft.SoftState):
    """All that the next update needs: soft actor-critic's, and the encoders."""

    actor: Joined
    encoders: Encoders
    encoder_optimiser: optax.OptState


class Info(NamedTuple):
    """Numbers of an update for a row of metrics."""

    feature_loss: Float[Array, "*updates"]
    critic_loss: Float[Array, "*updates"]
    actor_loss: Float[Array, "*updates"]
    ent_coef: Float[Array, "*updates"]
    entropy: Float[Array, "*updates"]
    q_mean: Float[Array, "*updates"]


def init(settings: Settings, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """Fresh networks for observations of size `obs` and actions of size `act`."""
    key, key_actor, key_critic, key_encoder = jax.random.split(key, 4)
    w, d, norms = settings.width, settings.embedding_width, 2 * settings.layer_norm
    fresh = encoder(obs, act, min(w, 2 * d), d, key=key_encoder)
    actor = joined(obs, d, [d, w, w, 2 * act], key=key_actor)
    heads = partial(joined, obs + act, 2 * d, [d, w, w, 1], normalised=norms)
    critic = several(settings.critics, heads)(key=key_critic)
    return State(
        **vars(soft.soft_state(settings, actor, critic, errors=settings.prioritised, key=key)),
        encoders=Encoders(fresh, fresh, fresh),
        encoder_optimiser=optax.adam(settings.learning_rate).init(fresh),
    )


def update(
    settings: Settings, state: State, batches: Transitions, statistics: Statistics, *, actor: bool = True
) -> tuple[State, Info]:
    """One step of the encoder, one of critics, actor and temperature, and copies where they are due."""
    batch = jax.tree.map(lambda x: x[-1], batches)
    encoders, rate = state.encoders, settings.learning_rate
    loss, gradient = jax.value_and_grad(next_embedding_loss)(encoders.learnt, batch)
    learnt, optimiser = adam_step(gradient, encoders.learnt, state.encoder_optimiser, learning_rate=rate)
    fixed, target = encoders.fixed, encoders.target
    views = soft.Views(fixed.for_critic, q_values, fixed.for_actor, target.for_critic)
    of_critics = lap_loss if settings.prioritised else None
    state, info = soft.soft_update(settings, state, batch, statistics, views, actor=actor, loss=of_critics)
    moved = encoders.moved(learnt, state.updates % settings.target_every == 0)
    return dataclasses.replace(state, encoders=moved, encoder_optimiser=optimiser), Info(loss, *info)


def policy(settings: Settings, state: State, statistics: Statistics) -> Mapping[str, Any]:
    """The actor's layers, on s through a layer of its own and on z_s."""
    embeddings = (arrays_of([state.actor.first]), arrays_of(state.encoders.fixed.of_state.layers))
    return {**soft.soft_policy(settings, state, statistics), "embeddings": embeddings}


AGENT = AgentRecord(
    name="td7sac",
    summary="soft actor-critic on TD7's embeddings, replay by priority",
    settings=Settings,
    init=init,
    update=update,
    priorities=lambda settings, state: lap_priority(state.errors, settings.priority_power),
    trained=lambda state: {"encoder": (state.encoders, state.encoder_optimiser), **soft.soft_parts(state)},
    policy=policy,
)
