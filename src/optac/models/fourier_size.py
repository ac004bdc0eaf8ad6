"""How large conditional Fourier features must be for a target error ζ, and what that costs.

The three terms of the appendix's theorem get a third of ζ each:

    truncation       S_{D−1} C_m (2π)^{−m} W^{D−m} / (m − D)
    random features  Hoeffding Vol(B_W) √(2L/d)
    estimation       Hoeffding Vol(B_W) √(2L/N)

with C_m the largest L¹ norm of an m-th directional derivative of a density (A2) and L = log(4·points/δ). That
is the bound "proved". It ignores that a density is at most M (A1), by which the variance of both averages is at
most M·Vol(B_W) instead of Vol(B_W)² (Parseval). Bernstein's inequality with that variance is the bound
"typical": smaller sizes, the more so the larger the volume. The first is proved at all the points at once; the second
is a rule of thumb, for Parseval speaks of the whole ball and not of the d frequencies drawn. Measured errors lie
several times below both.
"""

from dataclasses import dataclass
from math import ceil, gamma, log, pi, sqrt
from typing import Literal

from optac.errors import InvalidInput, require_known
from optac.models.fourier import ConditionalFourierFeatures, ball_volume
from optac.settings import read

BOUNDS = ("proved", "typical")
PHASES_A_SECOND = 2e7
"""cosines and sines of float64 phases one core of a small machine computes a second; for the estimate only"""


@dataclass(frozen=True)
class FourierSize:
    """W, d and N for a target ζ, and what they cost."""

    zeta: float
    state_dim: int
    radius: float
    frequencies: int
    samples: int

    @property
    def volume(self) -> float:
        """Vol(B_W)."""
        return ball_volume(self.state_dim, self.radius)

    @property
    def phases(self) -> int:
        """Phases computed for the feature of one pair (s,a): d·N."""
        return self.frequencies * self.samples

    @property
    def feature_bytes(self) -> int:
        """Memory of one feature, 2d doubles."""
        return 16 * self.frequencies

    @property
    def seconds(self) -> float:
        """About how long the feature of one pair takes on one core."""
        return self.phases / PHASES_A_SECOND

    def features(self, seed: int = 0) -> ConditionalFourierFeatures:
        """The features of this size."""
        return ConditionalFourierFeatures(self.state_dim, self.frequencies, self.radius, seed)

    def __str__(self) -> str:
        return (
            f"ζ = {self.zeta:g} in R^{self.state_dim}: W = {self.radius:.3g} (volume {self.volume:.3g}), "
            f"d = {self.frequencies}, N = {self.samples}; a pair (s,a) costs {self.phases:.3g} phases, about "
            f"{self.seconds:.3g} s, and {self.feature_bytes / 2**20:.3g} MB"
        )


def propose_fourier_size(
    zeta: float,
    *,
    state_dim: int,
    smoothness: int,
    derivative_norm: float,
    density_bound: float,
    points: float = 1e6,
    delta: float = 0.05,
    bound: Literal["proved", "typical"] = "typical",
) -> FourierSize:
    """W, d, N with which the error is at most ζ at `points` = |Θ||X||Y| points with probability 1 − δ.

    m is `smoothness`, C_m `derivative_norm`, M `density_bound`. Without `bound="proved"` only typically so.
    """
    zeta = read("zeta", zeta, float, above=0)
    state_dim = read("state_dim", state_dim, int, least=1)
    smoothness = read("smoothness", smoothness, int, least=1)
    derivative_norm = read("derivative_norm", derivative_norm, float, above=0)
    density_bound = read("density_bound", density_bound, float, above=0)
    points = read("points", points, float, above=0)
    delta = read("delta", delta, float, above=0, below=1)
    require_known("bound", [str(bound)], BOUNDS)
    if smoothness <= state_dim:
        raise InvalidInput(
            f"smoothness={smoothness} is too small; (A2) needs m > D = {state_dim}, else the truncation error W^(D-m) "
            "does not fall"
        )
    share = zeta / 3
    radius = max(1.0, _truncation_radius(share, state_dim, smoothness, derivative_norm))
    volume = ball_volume(state_dim, radius)
    logarithm = log(4 * points / delta)
    if bound == "proved":
        count = ceil(2 * logarithm * (volume / share) ** 2)
    else:
        count = ceil(_bernstein_count(share, density_bound * volume, 2 * volume, logarithm))
    return FourierSize(zeta, state_dim, radius, count, count)


def _truncation_radius(share: float, dim: int, smoothness: int, derivative_norm: float) -> float:
    """The W at which S_{D−1} C_m (2π)^{−m} W^{D−m} / (m − D) equals the share."""
    sphere = 2 * pi ** (dim / 2) / gamma(dim / 2)
    constant = sphere * derivative_norm / ((2 * pi) ** smoothness * (smoothness - dim))
    return float((constant / share) ** (1.0 / (smoothness - dim)))


def _bernstein_count(share: float, variance: float, largest: float, logarithm: float) -> float:
    """The least n with √(2σ²L/n) + 2bL/(3n) ≤ share: a quadratic in 1/√n."""
    a, b = 2 * largest * logarithm / 3, sqrt(2 * variance * logarithm)
    root = (-b + sqrt(b * b + 4 * a * share)) / (2 * a)
    return 1.0 / root**2
