"""The error of conditional Fourier features, term by term: truncation, random frequencies, samples, and all at once.

The density is c(1 − ‖y‖²)^m on the unit ball, whose derivatives up to order m − 1 vanish at the boundary, so that
the theorem's C₁W^{D−m} + C₂Vol(B_W)(d^{−1/2} + N^{−1/2}) applies. Fitting the three terms together would give wrong
slopes, so each is isolated:

- truncation: the integral over B_W by quadrature, exact coefficients;
- frequencies: d random frequencies and exact coefficients against the truncated density;
- samples: N samples and a lattice of frequencies so dense that it is the integral, against the truncated density;
- joint: Algorithm 2 as it is, N = d, against the density, with W = d^{1/2m}, which balances the bound.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.mdp.grid import Grid
from optac.mdp.noise import BumpNoise
from optac.models import ConditionalFourierFeatures
from optac.sweeps.cells import Cell, cell

SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
JOINT_SIZES = SIZES[:6]
RADII = tuple(round(2.0 ** (k / 3), 4) for k in range(0, 13))
SMOOTHNESS = {1: (2, 3, 5), 2: (3, 4, 6)}
FIXED = {1: (3, 4.0), 2: (4, 2.0)}
"""m and W where frequencies and samples are isolated"""
LATTICE = {1: 1 / 32, 2: 1 / 8}
"""spacing of the dense lattice; its copies of the density lie further apart than points and samples"""
SEEDS = 40


def cells() -> list[Cell]:
    """Truncation first, then the seeds outermost."""
    sizes = [(dim, m) for dim, several in SMOOTHNESS.items() for m in several]
    return [
        *(cell(truncation, f"truncation D={dim} m={m}", dim=dim, smoothness=m) for dim, m in sizes),
        *(
            cell(term, f"{term.__name__} D={dim} s{seed}", dim=dim, seed=seed)
            for seed in range(SEEDS)
            for term in (frequencies, samples, joint)
            for dim in FIXED
        ),
    ]


def truncation(dim: int, smoothness: int) -> dict[str, Any]:
    """sup_y |f − f_W| against W."""
    density = BumpNoise(dim, 1.0, smoothness).density(_points(dim))
    errors = [np.abs(truncated_density(dim, smoothness, radius) - density).max() for radius in RADII]
    return _row("truncation", RADII, errors, dim=dim, smoothness=smoothness, seed=None)


def frequencies(dim: int, seed: int) -> dict[str, Any]:
    """sup_y |φᵀμ − f_W| with exact coefficients, against d."""
    smoothness, radius = FIXED[dim]
    noise, truth = BumpNoise(dim, 1.0, smoothness), truncated_density(dim, smoothness, radius)
    errors = []
    for i, size in enumerate(SIZES):
        # Every size has frequencies of its own: those of a larger d would begin with those of a smaller one.
        features = ConditionalFourierFeatures(dim, size, radius, seed * len(SIZES) + i)
        phi = features.phi_exact(noise.characteristic)
        errors.append(np.abs(features.inner_products(phi, _points(dim)) - truth).max())
    return _row("frequencies", SIZES, errors, dim=dim, smoothness=smoothness, seed=seed)


def samples(dim: int, seed: int) -> dict[str, Any]:
    """sup_y |φ̂ᵀμ − f_W| over a dense lattice of frequencies, against N."""
    smoothness, radius = FIXED[dim]
    noise, truth = BumpNoise(dim, 1.0, smoothness), truncated_density(dim, smoothness, radius)
    features = lattice_features(dim, radius)
    drawn = noise.sample(np.random.default_rng([seed, dim]), SIZES[-1])
    errors = [np.abs(features.density(drawn[:size], _points(dim)) - truth).max() for size in SIZES]
    return _row("samples", SIZES, errors, dim=dim, smoothness=smoothness, seed=seed)


def joint(dim: int, seed: int) -> dict[str, Any]:
    """sup_y |φ̂ᵀμ − f| of Algorithm 2 with N = d and W = d^{1/2m}, against d."""
    smoothness, _ = FIXED[dim]
    noise = BumpNoise(dim, 1.0, smoothness)
    truth = noise.density(_points(dim))
    errors = []
    for i, size in enumerate(JOINT_SIZES):
        radius = size ** (1 / (2 * smoothness))
        features = ConditionalFourierFeatures(dim, size, radius, seed * len(SIZES) + i)
        drawn = noise.sample(np.random.default_rng([seed, size]), size)
        errors.append(np.abs(features.density(drawn, _points(dim)) - truth).max())
    return _row("joint", JOINT_SIZES, errors, dim=dim, smoothness=smoothness, seed=seed)


@cache
def truncated_density(dim: int, smoothness: int, radius: float) -> Float[np.ndarray, " point"]:
    """f_W(y) = ∫_{B_W} g(w) exp(2πi wᵀy) dw at the points, a radial integral by Gauss–Legendre quadrature."""
    from scipy.special import j0

    nodes, weights = np.polynomial.legendre.leggauss(400)
    w, weights = radius * (nodes + 1) / 2, radius * weights / 2
    along = np.zeros((len(w), dim))
    along[:, 0] = -2 * np.pi * w
    coefficients = BumpNoise(dim, 1.0, smoothness).characteristic(along)
    distance = 2 * np.pi * np.multiply.outer(np.linalg.norm(_points(dim), axis=-1), w)
    if dim == 1:
        return np.asarray(2 * np.cos(distance) @ (coefficients * weights))
    return np.asarray(2 * np.pi * j0(distance) @ (coefficients * w * weights))


def lattice_features(dim: int, radius: float) -> ConditionalFourierFeatures:
    """Features on the points of a dense lattice in B_W, with the volume that lattice stands for."""
    spacing = LATTICE[dim]
    half = np.arange(-radius + spacing / 2, radius, spacing)
    points = np.stack(np.meshgrid(*[half] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    inside = points[np.linalg.norm(points, axis=-1) <= radius]
    features = ConditionalFourierFeatures(dim, len(inside), radius)
    features.w, features.volume = inside, len(inside) * spacing**dim
    return features


@cache
def _points(dim: int) -> Float[np.ndarray, "point dim"]:
    """The points of a grid in the unit ball, on which every sup is taken."""
    points = Grid(dim, 200 if dim == 1 else 20, -1.0, 1.0).points
    return points[np.linalg.norm(points, axis=-1) <= 1.0]


def _row(
    term: str, sizes: Sequence[float | int], errors: Sequence[Any], **about: int | None
) -> dict[str, Any]:
    return {"term": term, **about, "sizes": list(sizes), "errors": [float(error) for error in errors]}
