"""Decoders of all steps, and the policies that read observations through them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Array, Probabilities
from optac.models.rich.discriminant import softmax


@dataclass(frozen=True)
class StepDecoder:
    """q(z|x) = softmax(x·weights + biases) over the latents that a step has."""

    weights: Float[np.ndarray, "obs latent"]
    biases: Float[np.ndarray, " latent"]


@dataclass(frozen=True)
class Decoders:
    """A decoder a step, each with at most `rank` latents; a step that a fit leaves alone stays the same object."""

    steps: tuple[StepDecoder, ...]
    rank: int

    @classmethod
    def first(cls, horizon: int, dim: int, rank: int) -> "Decoders":
        """One latent a step."""
        alone = StepDecoder(np.zeros((dim, 1), dtype=np.float32), np.zeros(1, dtype=np.float32))
        return cls((alone,) * horizon, rank)

    @cached_property
    def used(self) -> Int[np.ndarray, " horizon"]:
        """How many latents each step has."""
        return np.array([len(step.biases) for step in self.steps])

    def decode(self, h: int, observations: Float[np.ndarray, "batch obs"]) -> Float[np.ndarray, "batch rank"]:
        """q_h(·|x), 0 for latents that the step has not."""
        step = self.steps[h]
        shares = np.zeros((len(observations), self.rank), dtype=np.float32)
        shares[:, : len(step.biases)] = softmax(observations @ step.weights + step.biases)
        return shares

    def changed(self, h: int, weights: Array, biases: Array) -> "Decoders":
        """With another decoder at step h."""
        step = StepDecoder(weights.astype(np.float32), biases.astype(np.float32))
        return Decoders((*self.steps[:h], step, *self.steps[h + 1 :]), self.rank)


@dataclass(frozen=True)
class DecodedPolicy:
    """π_h(a|x) = Σ_z q_h(z|x) π_h(a|z): a table over latents, read through the decoders."""

    decoders: Decoders
    table: Probabilities

    def __repr__(self) -> str:
        dim = len(self.decoders.steps[0].weights)
        return (
            f"<policy on observations in R^{dim}: horizon {len(self.table)}, "
            f"at most {self.decoders.used.max()} latents a step>"
        )

    def probabilities_at(
        self, h: int, observations: Float[np.ndarray, "batch obs"]
    ) -> Float[np.ndarray, "batch action"]:
        """π_h(·|x)."""
        return np.asarray(self.decoders.decode(h, observations) @ self.table[h])

    def act(self, h: int, observation: Float[np.ndarray, " obs"], rng: np.random.Generator) -> int:
        """An action a ~ π_h(·|observation)."""
        probabilities = self.probabilities_at(h, observation[None])[0]
        return int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))

    def sample(self, rng: np.random.Generator) -> "DecodedPolicy":
        """The policy for one episode: itself."""
        return self

    def arrays(self) -> dict[str, Any]:
        """What a file of this policy holds: the table, and every step's weights with the biases below them."""
        steps = {
            f"decoder_{h}": np.vstack([step.weights, step.biases])
            for h, step in enumerate(self.decoders.steps)
        }
        return {"table": self.table, **steps}
