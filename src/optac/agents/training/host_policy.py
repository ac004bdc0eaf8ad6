"""The actor on the host: one observation at a time, in NumPy, without the cost of a call into XLA."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from optac.agents.parts.networks import MLP
from optac.agents.parts.squashed_gaussian import LOG_STD_HIGHEST, LOG_STD_LOWEST


@dataclass(frozen=True)
class HostPolicy:
    """A copy of the actor's weights that acts in [−1, 1]."""

    layers: tuple[tuple[Float[np.ndarray, "_ _"], Float[np.ndarray, " _"]], ...]

    @classmethod
    def of(cls, actor: MLP) -> "HostPolicy":
        """A copy of `actor`."""
        arrays = jax.device_get([(layer.weight, layer.bias) for layer in actor.layers])
        return cls(tuple((np.array(weight), np.array(bias)) for weight, bias in arrays))

    def mode(self, obs: Float[np.ndarray, "*batch obs"]) -> Float[np.ndarray, "*batch act"]:
        """tanh(mean), the deterministic action."""
        mean, _ = np.split(self._forward(obs), 2, axis=-1)
        return np.asarray(np.tanh(mean))

    def sample(
        self, obs: Float[np.ndarray, "*batch obs"], *, generator: np.random.Generator
    ) -> Float[np.ndarray, "*batch act"]:
        """tanh(u) with u ~ N(mean, std²)."""
        mean, raw = np.split(self._forward(obs), 2, axis=-1)
        log_std = LOG_STD_LOWEST + 0.5 * (LOG_STD_HIGHEST - LOG_STD_LOWEST) * (np.tanh(raw) + 1)
        noise = generator.standard_normal(mean.shape, dtype=np.float32)
        return np.asarray(np.tanh(mean + np.exp(log_std) * noise))

    def _forward(self, obs: Float[np.ndarray, "*batch obs"]) -> Float[np.ndarray, "*batch outputs"]:
        x = np.asarray(obs, np.float32)
        for weight, bias in self.layers[:-1]:
            x = x @ weight + bias
            x = np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)
        weight, bias = self.layers[-1]
        return np.asarray(x @ weight + bias, np.float32)
