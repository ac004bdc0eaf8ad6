"""Fourier features of kernels s' = m(s,a) + ξ as a learner uses them: few columns, norm at most 1, cheap anywhere.

Such a kernel's feature depends on (s,a) only through the mean m. It is computed by Algorithm 2 on a grid of
means, once for all models of the class, and in between interpolated. Three exact or harmless changes make it fit for
a Gram matrix:

- its 2d columns are rotated onto the span of all features, d̃ columns; what is left out is below `tolerance`
  relative to the largest singular value. A rotation leaves every ‖φ‖_{Λ⁻¹} as it was, λ included.
- φ is divided, and μ multiplied, by the largest ‖φ‖, as the theorems' ‖φ‖ ≤ 1 asks.
- μ carries the weights of the grid's quadrature, so that Σ_j μ(s_j)V(s_j) stands for ∫ μ(s')V(s')ds'.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from optac.mdp.grid import Grid
from optac.mdp.noise import Noise
from optac.models.fourier import ConditionalFourierFeatures
from optac.settings import read

MEAN_CELLS = {1: 256, 2: 48}
ROWS_AT_ONCE = 128


MOST_DRAWN = 10**6
"""frequencies and samples: their products take minutes beyond"""


@dataclass(frozen=True)
class FourierChoice:
    """The size of the features a learner computes for its fitted kernels."""

    frequencies: int = 4096
    """d, frequencies drawn in the ball"""
    radius: float = 6.0
    """W, the ball's radius"""
    next_samples: int = 4096
    """N, samples of the noise for the empirical coefficients; 0 takes the exact ones"""
    tolerance: float = 1e-3
    """singular values below this share of the largest are left out"""

    def __post_init__(self) -> None:
        read("frequencies", self.frequencies, int, least=1, most=MOST_DRAWN)
        read("radius", self.radius, float, above=0)
        read("next_samples", self.next_samples, int, least=0, most=MOST_DRAWN)
        read("tolerance", self.tolerance, float, above=0, below=1)


class KernelFeatures:
    """φ̂(m) in R^d̃ for any mean m, and μ on the grid of states."""

    def __init__(
        self, noise: Noise, states: Grid, means: tuple[float, float], choice: FourierChoice, seed: int
    ) -> None:
        """`means` is the interval [low, high] in which every coordinate of a mean lies."""
        features = ConditionalFourierFeatures(states.dim, choice.frequencies, choice.radius, seed)
        at_zero = centred_features(features, noise, choice.next_samples, seed)
        self._grid = Grid(states.dim, MEAN_CELLS[states.dim], *means)
        basis = _span(features, at_zero, states.dim, means, choice.tolerance)
        table = np.concatenate(
            [features.translated(at_zero, rows) @ basis for rows in _blocks(self._grid.points)]
        )
        scale = np.linalg.norm(table, axis=-1).max()
        self._table = table / scale
        target = np.concatenate([features.mu(rows) @ basis for rows in _blocks(states.points)])
        self.mu: Float[np.ndarray, "rank state"] = (scale * target * states.weights[:, None]).T
        self.rank = basis.shape[1]

    def phi(self, means: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch rank"]:
        """φ̂ of the kernel with each mean."""
        return self._grid.interpolate(self._table, means)


def centred_features(
    features: ConditionalFourierFeatures, noise: Noise, samples: int, seed: int
) -> Float[np.ndarray, " feature"]:
    """φ̂ of the noise itself, from `samples` draws or, with 0, from its characteristic function."""
    if samples == 0:
        return features.phi_exact(noise.characteristic)
    return features.phi(noise.sample(np.random.default_rng([seed, samples]), samples))


def _span(
    features: ConditionalFourierFeatures,
    at_zero: Float[np.ndarray, " feature"],
    dim: int,
    means: tuple[float, float],
    tolerance: float,
) -> Float[np.ndarray, "feature rank"]:
    """An orthonormal basis of the span of φ̂(m), from the eigenvectors of the features' inner products.

    The means are twice as dense as the largest frequency can tell apart.
    """
    cells = int(np.ceil(4 * features.radius * (means[1] - means[0]))) + 8
    rows = features.translated(at_zero, Grid(dim, cells, *means).points)
    values, vectors = np.linalg.eigh(rows @ rows.T)
    kept = values > tolerance**2 * values[-1]
    return rows.T @ (vectors[:, kept] / np.sqrt(values[kept]))


def _blocks(points: np.ndarray) -> list[np.ndarray]:
    return [points[i : i + ROWS_AT_ONCE] for i in range(0, len(points), ROWS_AT_ONCE)]
