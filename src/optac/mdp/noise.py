"""The noise ξ of a smooth walk s' = m(s,a) + ξ: even densities near 0, with samples and exact transforms.

`peak` is M of (A1), the largest value of the density; `characteristic` is E[exp(i tᵀξ)], real for an even density.
"""

from dataclasses import dataclass
from math import gamma, pi
from typing import TypeAlias

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class BumpNoise:
    """c(1 − ‖ξ‖²/ρ²)^m on the ball of radius ρ: derivatives up to order m − 1 vanish at its boundary (A2)."""

    dim: int
    radius: float
    smoothness: int

    @property
    def peak(self) -> float:
        """c = Γ(m + 1 + D/2) / (π^{D/2} Γ(m + 1) ρ^D)."""
        m, dim = self.smoothness, self.dim
        return gamma(m + 1 + dim / 2) / (pi ** (dim / 2) * gamma(m + 1) * self.radius**dim)

    def density(self, offsets: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch"]:
        inside = 1.0 - (offsets**2).sum(axis=-1) / self.radius**2
        return np.asarray(self.peak * np.maximum(inside, 0.0) ** self.smoothness)

    def sample(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "sample dim"]:
        """A uniform direction, and ‖ξ‖²/ρ² ~ Beta(D/2, m + 1)."""
        directions = rng.standard_normal((count, self.dim))
        norms = self.radius * np.sqrt(rng.beta(self.dim / 2, self.smoothness + 1, count))
        return directions * (norms / np.linalg.norm(directions, axis=-1))[:, None]

    def characteristic(self, t: Float[np.ndarray, "frequency dim"]) -> Float[np.ndarray, " frequency"]:
        """Γ(ν + 1)(2/z)^ν J_ν(z) with z = ρ‖t‖ and ν = m + D/2."""
        from scipy.special import jv

        order = self.smoothness + self.dim / 2
        z = np.maximum(self.radius * np.linalg.norm(t, axis=-1), 1e-6)
        return np.asarray(gamma(order + 1) * (2.0 / z) ** order * jv(order, z))

    def derivative_norm(self) -> float:
        """C_m of (A2): ∫|∂_u^m density| for a unit vector u, in closed form up to a one-dimensional integral.

        At distance q from the axis u the density is a scaled (1 − y²)^m with scale √(1 − q²); the integral over
        the orthogonal ball is a Beta function.
        """
        m, dim = self.smoothness, self.dim
        derivative = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** m
        y = np.linspace(-1.0, 1.0, 20_001)
        along = float(np.trapezoid(np.abs(derivative.deriv(m)(y)), y))
        exponent = (m + 1) / 2
        across = pi ** ((dim - 1) / 2) * gamma(exponent + 1) / gamma(exponent + (dim + 1) / 2)
        return self.peak * self.radius ** (dim - m) * along * across


@dataclass(frozen=True)
class GaussianNoise:
    """N(0, σ²I) cut off at the cube of half-width ρ.

    The cut leaves a jump of relative height exp(−ρ²/2σ²) at the boundary, so (A2) fails formally, as it does for
    every Gaussian on a compact set: beyond |w| ≈ 1/σ the transform falls like 1/|w| at that small height.
    """

    dim: int
    radius: float
    deviation: float

    @property
    def peak(self) -> float:
        return float(self._axis_peak() ** self.dim)

    def density(self, offsets: Float[np.ndarray, "*batch dim"]) -> Float[np.ndarray, "*batch"]:
        inside = (np.abs(offsets) <= self.radius).all(axis=-1)
        exponent = -(offsets**2).sum(axis=-1) / (2 * self.deviation**2)
        return np.asarray(np.where(inside, self.peak * np.exp(exponent), 0.0))

    def sample(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "sample dim"]:
        """By inverting the distribution function of each coordinate."""
        from scipy.special import ndtr, ndtri

        low = ndtr(-self.radius / self.deviation)
        uniform = low + (1.0 - 2.0 * low) * rng.random((count, self.dim))
        return np.asarray(self.deviation * ndtri(uniform))

    def characteristic(self, t: Float[np.ndarray, "frequency dim"]) -> Float[np.ndarray, " frequency"]:
        """A product over coordinates of ∫ cos(t x) density(x) dx, by Gauss–Legendre quadrature."""
        nodes, weights = np.polynomial.legendre.leggauss(200)
        x = self.radius * nodes
        mass = self.radius * weights * self._axis_peak() * np.exp(-(x**2) / (2 * self.deviation**2))
        transforms = [np.cos(np.multiply.outer(t[:, j], x)) @ mass for j in range(self.dim)]
        return np.asarray(np.prod(transforms, axis=0))

    def _axis_peak(self) -> float:
        from scipy.special import ndtr

        inside = 1.0 - 2.0 * ndtr(-self.radius / self.deviation)
        return float(1.0 / (np.sqrt(2 * pi) * self.deviation * inside))


Noise: TypeAlias = BumpNoise | GaussianNoise
