"""`rich-sea`: deep-sea by images. The diver's cell is one bright pixel of an N×N image under noise, all pixels rotated.

The latent is the column, the step the row, as in `deep-sea`; the image is turned by a random orthogonal matrix drawn
with the instance, so that no pixel stands for a cell. Uniform play reaches the treasure once in 2^N episodes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optac.array_types import Array
from optac.mdp.families.chains import deep_sea
from optac.mdp.rich_problem import RichProblem
from optac.settings import require_at_least


@dataclass(frozen=True)
class RotatedImage:
    """x = R(bright pixel + noise)."""

    size: int
    noise: float
    seed: int

    @property
    def dim(self) -> int:
        return self.size * self.size

    @cached_property
    def rotation(self) -> Array:
        square = np.random.default_rng([self.seed, self.dim]).normal(size=(self.dim, self.dim))
        return np.asarray(np.linalg.qr(square)[0], dtype=np.float32)

    def draw(self, h: int, latents: Array, rng: np.random.Generator) -> Array:
        """One image of every column."""
        image = rng.normal(0.0, self.noise, (len(latents), self.dim)).astype(np.float32)
        image[np.arange(len(latents)), h * self.size + latents] += 1.0
        return image @ self.rotation


def rich_sea(*, size: int = 14, noise: float = 0.1, seed: int = 0) -> RichProblem:
    """Deep-sea by rotated noisy images of N×N pixels; V* as in deep-sea, uniform play's chance 2^-N."""
    require_at_least(2, size=size)
    require_at_least(0, noise=noise)
    sea = deep_sea(size=size, seed=seed)
    return RichProblem(
        "rich-sea",
        {"size": size, "noise": noise, "seed": seed},
        sea.transitions,
        sea.rewards,
        np.ones(sea.rewards.shape),
        sea.initial,
        RotatedImage(size, noise, seed),
    )
