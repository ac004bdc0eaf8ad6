"""φ(s, a), learnt by predicting the next state, and the fixed Fourier layer that the paper derives on it.

Paper, section 7: φ is the last hidden layer of an MLP on (s, a), trained with the projection M by
‖M φ(s, a) − s'‖², the maximum-likelihood estimate of a Gaussian transition model.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from optac.agents.parts.networks import MLP, Linear, each, mlp
from optac.agents.parts.soft_actor_critic import Batch, Inputs
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions

CHANGE_BOUND = 5.0
"""root mean squares beyond which a change counts no more"""


class TransitionModel(eqx.Module):
    """φ and the projection M that turns it into a prediction of the standardised next state; or several of them."""

    phi: MLP
    projection: Linear


class FourierLayer(eqx.Module):
    """The fixed W and b of cos(Wφ + b)."""

    weight: Float[Array, "feature frequency"]
    phase: Float[Array, " frequency"]

    def __call__(self, phi: Float[Array, "*batch feature"]) -> Float[Array, "*batch frequency"]:
        """√2 cos(Wφ + b); the mean product of two such rows estimates a Gaussian kernel of their φ."""
        return jnp.sqrt(2.0) * jnp.cos(phi @ self.weight + self.phase)


def transition_model(
    obs: int, act: int, width: int, feature: int, *, normalised: bool = False, key: PRNGKeyArray
) -> TransitionModel:
    """A fresh φ, whose second hidden layer is the feature, and M; `normalised` bounds φ, standardising both layers."""
    key_phi, key_projection = jax.random.split(key)
    phi = mlp([obs + act, width, feature], activate_last=True, normalised=2 * normalised, key=key_phi)
    return TransitionModel(phi, mlp([feature, obs], key=key_projection).layers[0])


def fourier_layer(feature: int, frequencies: int, bandwidth: float, *, key: PRNGKeyArray) -> FourierLayer:
    """W with independent N(0, bandwidth²/feature) entries and b uniform on the circle."""
    key_weight, key_phase = jax.random.split(key)
    weight = jax.random.normal(key_weight, (feature, frequencies)) * bandwidth / jnp.sqrt(float(feature))
    return FourierLayer(weight, jax.random.uniform(key_phase, (frequencies,), maxval=2 * jnp.pi))


def features(
    phi: MLP, obs: Float[Array, "batch obs"], action: Float[Array, "batch act"]
) -> Float[Array, "*each batch feature"]:
    """φ(s, a), along a leading axis where every critic has its own."""
    x = jnp.concatenate([obs, action], axis=-1)
    return phi(x) if phi.layers[0].weight.ndim == 2 else each(phi, x)


def side_by_side(phi: Float[Array, "*each batch feature"]) -> Float[Array, "batch features"]:
    """The features of all critics as one row."""
    return phi if phi.ndim == 2 else jnp.concatenate(list(phi), axis=-1)


def beside(phi: Inputs, obs: Batch, action: Batch) -> Inputs:
    """[φ, s, a], for each critic where each has its φ."""
    raw = jnp.concatenate([obs, action], axis=-1)
    return jnp.concatenate([phi, jnp.broadcast_to(raw, (*phi.shape[:-1], raw.shape[-1]))], axis=-1)


def q_values(critic: MLP, phi: Inputs, fourier: FourierLayer | None) -> Float[Array, "critic batch"]:
    """Q_c(s, a) for each critic c, from φ(s, a), or from what stands beside it too."""
    return each(critic, phi if fourier is None else fourier(phi))[..., 0]


def next_state_loss(
    model: TransitionModel, batch: Transitions, statistics: Statistics, *, change: bool = False
) -> Float[Array, ""]:
    """E‖M φ(s, a) − s'‖² per dimension of s', which is standardised by what has been seen.

    Standardising is the diagonal covariance of the Gaussian model; the mean is absorbed by M's bias. With `change` it
    is s' − s that is predicted, each dimension in units of its root mean square over the batch, within ±5: what an
    action does in one step is little against the spread of all states, and would hardly be seen.
    """
    target = (batch.next_obs - statistics.next_obs_mean) / statistics.next_obs_std
    if change:
        change_of = batch.next_obs - batch.obs
        size = jnp.sqrt(jnp.mean(change_of**2, axis=0) + 1e-8)
        target = jnp.clip(change_of / size, -CHANGE_BOUND, CHANGE_BOUND)
    x = jnp.concatenate([batch.obs, batch.action], axis=-1)

    def predicted(model: TransitionModel) -> Float[Array, "batch obs"]:
        return model.projection(model.phi(x))

    several = model.projection.weight.ndim == 3
    prediction = eqx.filter_vmap(predicted)(model) if several else predicted(model)
    return jnp.mean((prediction - target) ** 2)
