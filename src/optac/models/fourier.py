"""Conditional random Fourier features (the paper's Algorithm 2, with the constants of its appendix).

A density T(·|s,a) on R^D is approximated by an inner product of a context and a target feature,

    T(s'|s,a) ≈ φ̂(s,a)ᵀμ(s'),
    μ(s')   = (cos 2πw₁ᵀs', −sin 2πw₁ᵀs', …, cos 2πw_dᵀs', −sin 2πw_dᵀs') / √d,
    φ̂(s,a) = (Re ĝ₁, Im ĝ₁, …, Re ĝ_d, Im ĝ_d) · Vol(B_W) / √d,
    ĝ_k     = (1/N) Σ_n exp(−2πi w_kᵀy_n),   y_n ~ T(·|s,a),   w_k uniform in B_W = {‖w‖ ≤ W}.

The error is at most C₁W^{D−m} + C₂Vol(B_W)(d^{−1/2} + N^{−1/2}) for densities whose derivatives up to order
m − 1 vanish on the boundary. Algorithm 2 in the paper's main text leaves out the 1/√d of μ, which its
appendix has; without it the product is √d too large. The estimate can be negative and need not integrate to 1.
"""

import warnings
from collections.abc import Callable
from math import gamma, pi

import numpy as np
from jaxtyping import Complex, Float, Shaped

from optac.errors import InvalidInput
from optac.settings import read

PRACTICAL_DIMENSION = 3
BLOCK = 1 << 20
"""phases held in memory at once: 8 MB an array"""


class FourierVolumeWarning(UserWarning):
    """The frequency ball is so large that the error bound says nothing at any affordable size."""


class ConditionalFourierFeatures:
    """d frequencies in the ball of radius W, and the features they give; states are not rescaled.

    With the same seed the frequencies of a smaller d are the first ones of a larger d, so an error curve in d
    moves along one sequence.
    """

    def __init__(self, state_dim: int, frequencies: int, radius: float, seed: int = 0) -> None:
        self.state_dim = read("state_dim", state_dim, int, least=1)
        self.frequencies = read("frequencies", frequencies, int, least=1)
        self.radius = read("radius", radius, float, above=0)
        self.seed = read("seed", seed, int, least=0)
        self.volume = ball_volume(self.state_dim, self.radius)
        self.w = uniform_in_ball(self.state_dim, self.frequencies, self.radius, self.seed)
        if self.state_dim > PRACTICAL_DIMENSION:
            warnings.warn(
                f"Vol(B_W) = {self.volume:.4g} in R^{self.state_dim} at W = {self.radius:g} multiplies the error's "
                f"d^(-1/2) + N^(-1/2); beyond D = {PRACTICAL_DIMENSION} no affordable d and N make it small. Take a "
                "smaller radius, or features of fewer coordinates",
                FourierVolumeWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return (
            f"ConditionalFourierFeatures(state_dim={self.state_dim}, frequencies={self.frequencies}, "
            f"radius={self.radius:g}, seed={self.seed})"
        )

    @property
    def dimension(self) -> int:
        """2d, the length of a feature."""
        return 2 * self.frequencies

    def mu(self, states: Shaped[np.ndarray, "batch dim"]) -> Float[np.ndarray, "batch feature"]:
        """The target features μ(s'), (cos 2πw_kᵀs', −sin 2πw_kᵀs')_k / √d."""
        points = self._checked(states, "states", "(M, D)", least=2, most=2)
        features = np.empty((len(points), self.dimension))
        rows = max(1, BLOCK // self.frequencies)
        for start in range(0, len(points), rows):
            phases = self._phases(points[start : start + rows])
            np.cos(phases, out=features[start : start + rows, 0::2])
            np.negative(np.sin(phases), out=features[start : start + rows, 1::2])
        return features / np.sqrt(self.frequencies)

    def phi(self, samples: Shaped[np.ndarray, "*batch sample dim"]) -> Float[np.ndarray, "*batch feature"]:
        """The context features φ̂ from N next-state samples of each T(·|s,a).

        Computed in blocks of at most 2²⁰ phases; the bits of one row do not depend on the others.
        """
        points = self._checked(samples, "samples", "(..., N, D)", least=2, most=None)
        count, batch = points.shape[-2], points.shape[:-2]
        if count == 0:
            raise InvalidInput("samples has N = 0 samples a pair; at least 1 is needed")
        flat = points.reshape(-1, count, self.state_dim)
        coefficients = np.zeros((len(flat), self.frequencies), dtype=complex)
        together = min(count, max(1, BLOCK // self.frequencies))
        rows = max(1, BLOCK // (self.frequencies * together))
        for start in range(0, len(flat), rows):
            for first in range(0, count, together):
                phases = self._phases(flat[start : start + rows, first : first + together])
                block = coefficients[start : start + rows]
                block.real += np.cos(phases).sum(axis=-2)
                block.imag -= np.sin(phases).sum(axis=-2)
        return self._context(coefficients / count).reshape(*batch, self.dimension)

    def phi_exact(
        self,
        characteristic: Callable[
            [Float[np.ndarray, "frequency dim"]], Complex[np.ndarray, "*batch frequency"]
        ],
    ) -> Float[np.ndarray, "*batch feature"]:
        """The context features φ at N = ∞, from the characteristic function t ↦ E[exp(i tᵀs')].

        It is called once with the (d, D) array t = −2πw, since g(w) = E[exp(−2πi wᵀs')].
        """
        if not callable(characteristic):
            raise InvalidInput(f"characteristic must be a function of t, not {characteristic!r}")
        coefficients = np.asarray(characteristic(-2.0 * pi * self.w), dtype=complex)
        if coefficients.ndim == 0 or coefficients.shape[-1] != self.frequencies:
            raise InvalidInput(
                f"the characteristic function must return (..., d) with d = {self.frequencies} for the (d, D) "
                f"array it is given; it returned {coefficients.shape}"
            )
        if not np.isfinite(coefficients).all():
            raise InvalidInput(
                "the characteristic function returned a number that is not finite; E[exp(i tᵀs')] is at most 1"
            )
        return self._context(coefficients)

    def translated(
        self, phi: Float[np.ndarray, " feature"], offsets: Float[np.ndarray, "*batch dim"]
    ) -> Float[np.ndarray, "*batch feature"]:
        """The features of the same noise moved by each offset: ĝ_k becomes ĝ_k exp(−2πi w_kᵀo).

        For a family s' = m(s,a) + ξ the N samples of ξ are turned into features once, not once a pair.
        """
        moves = self._checked(offsets, "offsets", "(..., D)", least=1, most=None)
        centre = self._checked_features(phi)
        if centre.ndim != 1:
            raise InvalidInput(
                f"phi must be the one feature (2d,) of the noise at 0; got {centre.shape}. Move each apart"
            )
        coefficients = centre[0::2] + 1j * centre[1::2]
        moved = coefficients * np.exp(-1j * self._phases(moves))
        return _interleaved(moved)

    def density(
        self, samples: Shaped[np.ndarray, "*batch sample dim"], states: Shaped[np.ndarray, "point dim"]
    ) -> Float[np.ndarray, "*batch point"]:
        """The estimate φ̂(s,a)ᵀμ(s') of T(s'|s,a); it can be negative and need not integrate to 1."""
        return self.inner_products(self.phi(samples), states)

    def inner_products(
        self, phi: Float[np.ndarray, "*batch feature"], states: Shaped[np.ndarray, "point dim"]
    ) -> Float[np.ndarray, "*batch point"]:
        """φᵀμ(s') at every state, μ computed in blocks."""
        points = self._checked(states, "states", "(M, D)", least=2, most=2)
        phi = self._checked_features(phi)
        rows = max(1, BLOCK // self.frequencies)
        blocks = [phi @ self.mu(points[i : i + rows]).T for i in range(0, len(points), rows)]
        return np.concatenate(blocks, axis=-1) if blocks else np.empty((*phi.shape[:-1], 0))

    def _phases(self, points: np.ndarray) -> np.ndarray:
        """2π wᵀs of every point and frequency, by coordinates: the bits of a matrix product depend on its shape."""
        phases = points[..., 0, None] * (2.0 * pi * self.w[:, 0])
        for j in range(1, self.state_dim):
            phases += points[..., j, None] * (2.0 * pi * self.w[:, j])
        return phases

    def _context(self, coefficients: np.ndarray) -> np.ndarray:
        return _interleaved(coefficients) * (self.volume / np.sqrt(self.frequencies))

    def _checked_features(self, phi: np.ndarray) -> np.ndarray:
        array = _real_array(phi, "phi")
        if array.ndim == 0 or array.shape[-1] != self.dimension:
            raise InvalidInput(
                f"phi must have shape (..., 2d) with 2d = {self.dimension}, the features of these frequencies; "
                f"got {array.shape}"
            )
        return array

    def _checked(self, values: np.ndarray, name: str, shape: str, least: int, most: int | None) -> np.ndarray:
        array = _real_array(values, name)
        if not least <= array.ndim <= (most or array.ndim) or array.shape[-1] != self.state_dim:
            raise InvalidInput(f"{name} must have shape {shape} with D = {self.state_dim}; got {array.shape}")
        return array


def effective_dimension(phi: Float[np.ndarray, "*batch feature"], tolerance: float = 1e-6) -> int:
    """d̃, the dimension of the span of the features: singular values above `tolerance` times the largest.

    Meant for exact coefficients: the noise of N samples adds directions of size N^{−1/2} that are no structure.
    """
    features = _real_array(phi, "phi")
    if features.ndim == 0 or features.size == 0:
        raise InvalidInput(
            f"phi must have shape (..., 2d) with at least one feature; got {features.shape}, whose span is nothing"
        )
    tolerance = read("tolerance", tolerance, float, above=0, below=1)
    singular = np.linalg.svd(features.reshape(-1, features.shape[-1]), compute_uv=False)
    return int((singular > tolerance * singular[0]).sum())


def ball_volume(dim: int, radius: float) -> float:
    """Vol(B_W) = π^{D/2} W^D / Γ(D/2 + 1)."""
    try:
        return pi ** (dim / 2) * radius**dim / gamma(dim / 2 + 1)
    except OverflowError:
        raise InvalidInput(
            f"the ball of radius {radius:g} in R^{dim} has no volume that a double can hold; Fourier features are for "
            f"D up to {PRACTICAL_DIMENSION}"
        ) from None


def uniform_in_ball(dim: int, count: int, radius: float, seed: int) -> Float[np.ndarray, "frequency dim"]:
    """Points uniform in the ball: a direction by a normal vector, a norm W·U^{1/D}.

    Directions and norms have a generator each, which is what makes a shorter draw the start of a longer one.
    """
    direction_seed, norm_seed = np.random.SeedSequence(seed).spawn(2)
    directions = np.random.default_rng(direction_seed).standard_normal((count, dim))
    norms = radius * np.random.default_rng(norm_seed).random(count) ** (1.0 / dim)
    return directions * (norms / np.linalg.norm(directions, axis=-1))[:, None]


def _real_array(values: np.ndarray, name: str) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(f"{name} must be an array of real numbers; its rows differ in length") from None
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise InvalidInput(f"{name} must be an array of real numbers; got dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} holds a number that is not finite")
    return array.astype(float, copy=False)


def _interleaved(coefficients: np.ndarray) -> np.ndarray:
    """(Re g₁, Im g₁, Re g₂, …): a complex array seen as pairs of floats."""
    return np.ascontiguousarray(coefficients).view(float)
