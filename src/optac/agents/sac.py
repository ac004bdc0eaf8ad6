"""Soft actor-critic: the baseline, with the same optimisers, data and protocol as cRFFSAC.

Haarnoja et al., arXiv 1812.05905v2, with the temperature tuned towards entropy −dim(A).

Differs from that paper: ELU instead of ReLU, orthogonal initial weights, and log std bounded smoothly in
[−5, 2], as in the code that the cRFFSAC paper builds on. By default inputs, values and the critics' layers are
standardised, their errors and targets bounded, and the actor has its turn at every second update until `delay_ends`;
the preset "plain" has none of it.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from optac.agents.parts.networks import MLP, each, ensemble, mlp
from optac.agents.parts.soft_actor_critic import SoftInfo as Info
from optac.agents.parts.soft_actor_critic import SoftState as State
from optac.agents.parts.soft_actor_critic import Views, soft_state, soft_update, values_of
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions
from optac.agents.record import AgentRecord
from optac.agents.settings import AgentSettings as Settings


def init(settings: Settings, obs: int, act: int, *, key: PRNGKeyArray) -> State:
    """Fresh networks for observations of size `obs` and actions of size `act`."""
    key, key_actor, key_critic = jax.random.split(key, 3)
    w = settings.width
    actor = mlp([obs, w, w, 2 * act], key=key_actor)
    critic = ensemble(
        settings.critics, [obs + act, w, w, 1], normalised=2 * settings.layer_norm, key=key_critic
    )
    return soft_state(settings, actor, critic, key=key)


def update(
    settings: Settings, state: State, batches: Transitions, statistics: Statistics, *, actor: bool = True
) -> tuple[State, Info]:
    """One step of critics, actor, temperature and target; `batches` has one batch along its first axis."""
    batch = jax.tree.map(lambda x: x[-1], batches)
    return soft_update(settings, state, batch, statistics, Views(joined, q_values), actor=actor)


def examine(
    settings: Settings, state: State, obs: Float[Array, "batch obs"], action: Float[Array, "batch act"]
) -> dict[str, Array]:
    """The least of the critics' values of each row, for rows of metrics."""
    del settings
    values = values_of(state, Views(joined, q_values), state.critic, joined(obs, action))
    return {"value": jnp.min(values, axis=0)}


def joined(
    obs: Float[Array, "batch obs"], action: Float[Array, "batch act"]
) -> Float[Array, "batch obs+act"]:
    """(s, a) as one row: all that the critics see."""
    return jnp.concatenate([obs, action], axis=-1)


def q_values(critic: MLP, x: Float[Array, "batch inputs"]) -> Float[Array, "critic batch"]:
    """Q_c(s, a) for each critic c."""
    return each(critic, x)[..., 0]


AGENT = AgentRecord(
    name="sac",
    summary="soft actor-critic, the baseline",
    settings=Settings,
    init=init,
    update=update,
    examine=examine,
)
