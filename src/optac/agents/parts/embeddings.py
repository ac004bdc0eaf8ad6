"""Embeddings z_s of a state and z_sa of a pair, learnt by predicting the next state's, and networks on them.

Fujimoto et al. 2023, arXiv 2306.02451, section 4: z_s = f(s), z_sa = g(z_s, a), trained by ‖z_sa − z_s'‖² with z_s' a
constant. What keeps z_s from shrinking to nothing is that f's output is divided by its mean absolute value.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from optac.agents.parts.networks import MLP, Linear, mlp
from optac.agents.parts.soft_actor_critic import Batch
from optac.agents.parts.transitions import Transitions
from optac.numpy_policy import LEAST_SIZE


class Encoder(eqx.Module):
    """f and g."""

    of_state: MLP
    of_pair: MLP

    def state(self, obs: Batch) -> Batch:
        """z_s = AvgL1Norm(f(s))."""
        return avg_l1_norm(self.of_state(obs))

    def pair(self, z: Batch, action: Batch) -> Batch:
        """z_sa = g(z_s, a)."""
        return self.of_pair(jnp.concatenate([z, action], axis=-1))

    def for_critic(self, obs: Batch, action: Batch) -> Batch:
        """[s, a, z_sa, z_s]."""
        z = self.state(obs)
        return jnp.concatenate([obs, action, self.pair(z, action), z], axis=-1)

    def for_actor(self, obs: Batch) -> Batch:
        """[s, z_s]."""
        return jnp.concatenate([obs, self.state(obs)], axis=-1)


class Encoders(eqx.Module):
    """The encoder that learns, its copy that critics and actor see, and the copy before that, for the targets."""

    learnt: Encoder
    fixed: Encoder
    target: Encoder

    def moved(self, learnt: Encoder, due: Bool[Array, ""]) -> "Encoders":
        """With `learnt` in its place, and each copy replaced by what it follows where that is due."""
        new, old = (learnt, self.fixed), (self.fixed, self.target)
        return Encoders(learnt, *jax.tree.map(lambda n, o: jnp.where(due, n, o), new, old))


class Joined(MLP):
    """A perceptron on [AvgL1Norm(xW + b), rest]: x is as many of the first inputs as W takes, rest the others."""

    first: Linear = eqx.field(kw_only=True)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        """The network's output for each row of `x`."""
        size = self.first.weight.shape[0]
        own = avg_l1_norm(self.first(x[..., :size]))
        return super().__call__(jnp.concatenate([own, x[..., size:]], axis=-1))


def avg_l1_norm(x: Float[Array, "*batch units"]) -> Float[Array, "*batch units"]:
    """Each row divided by the mean of its absolute values: a scale for inputs without any running moments."""
    return x / jnp.maximum(jnp.mean(jnp.abs(x), axis=-1, keepdims=True), LEAST_SIZE)


def encoder(obs: int, act: int, width: int, embedding: int, *, key: PRNGKeyArray) -> Encoder:
    """Fresh f and g, of two hidden layers each."""
    key_state, key_pair = jax.random.split(key)
    return Encoder(
        mlp([obs, width, width, embedding], key=key_state),
        mlp([embedding + act, width, width, embedding], key=key_pair),
    )


def joined(first: int, rest: int, sizes: Sequence[int], *, normalised: int = 0, key: PRNGKeyArray) -> Joined:
    """A fresh perceptron on `first` inputs, made sizes[0] by a layer of their own, beside `rest` others."""
    key_first, key_network = jax.random.split(key)
    network = mlp([sizes[0] + rest, *sizes[1:]], normalised=normalised, key=key_network)
    return Joined(**vars(network), first=mlp([first, sizes[0]], key=key_first).layers[0])


def next_embedding_loss(encoder: Encoder, batch: Transitions) -> Float[Array, ""]:
    """E‖g(f(s), a) − f(s')‖² per dimension of the embedding, f(s') a constant."""
    target = jax.lax.stop_gradient(encoder.state(batch.next_obs))
    return jnp.mean((encoder.pair(encoder.state(batch.obs), batch.action) - target) ** 2)
