"""Opt-AC where the model is only approximately low-rank: four questions to `smooth-walk`.

- realised: Θ holds the truth; when is the gap at most 5 % of V* − V(uniform)?
- misspecified: the truth is ζ away from Θ; how does the final gap grow with ζ, beside H² d̃^{3/2} |A| ζ?
- dimension: the effective dimension d̃ of the features against the number d of frequencies.
- tied: features of size d = N = 8/ε², so that their own error ζ falls with ε; how many episodes to ε, beside ε⁻⁴?

The ζ of the theorem is sup |T − φ̂ᵀμ|: what the truth is away from Θ and the features' own error together. So that the
first can be told from the second, the misspecified runs take features whose error is below every ζ studied. The seed
draws the instance and the learner both.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from optac.mdp import SmoothWalk, make_problem
from optac.mdp.families.smooth_walk import RADIUS
from optac.mdp.grid import Grid
from optac.models import ConditionalFourierFeatures, FourierChoice, effective_dimension
from optac.models.kernel_features import KernelFeatures
from optac.sweeps.cells import Cell, cell
from optac.sweeps.measuring import measured

ZETAS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
EPSILONS = (0.8, 0.4, 0.2, 0.1, 0.05)
FREQUENCIES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
TOLERANCES = (1e-3, 1e-6)
SHARE = 0.05
"""of V* − V(uniform): the gap asked of the realised runs"""
EPISODES = 2_000
TIED_EPISODES = 10_000
SEEDS = 10
PLANE_SEEDS = 5
DEFAULT = FourierChoice()
SHARP = FourierChoice(frequencies=32_768, next_samples=0, tolerance=1e-4)
"""exact coefficients, which the learner may take, since it knows its candidates"""
PLANE = FourierChoice(frequencies=16_384, next_samples=0)
"""four times the default frequencies, without sampling noise: in R² the default's error can keep a run from 5 %"""
MEANS = {1: 64, 2: 20}


def cells() -> list[Cell]:
    """The dimensions first, then the seeds outermost: a part of them is a smaller study, not a torn one."""
    listed = [
        cell(dimension, f"dimension D={dim} d={d}", dim=dim, frequencies=d)
        for dim in (1, 2)
        for d in FREQUENCIES
    ]
    for seed in range(SEEDS):
        listed.append(cell(realised, f"realised D=1 s{seed}", dim=1, seed=seed))
        listed += [cell(misspecified, f"zeta={zeta} s{seed}", zeta=zeta, seed=seed) for zeta in ZETAS]
        listed += [
            cell(tied, f"epsilon={epsilon} s{seed}", epsilon=epsilon, seed=seed) for epsilon in EPSILONS
        ]
        if seed < PLANE_SEEDS:
            listed.append(cell(realised, f"realised D=2 s{seed}", dim=2, seed=seed))
    # From the last seed down: it is the one that the default features keep from 5 %.
    last_first = reversed(range(PLANE_SEEDS))
    return listed + [cell(realised, f"realised D=2 fine s{s}", dim=2, seed=s, fine=True) for s in last_first]


def realised(dim: int, seed: int, fine: bool = False) -> dict[str, Any]:
    """Opt-AC with its default features, or with finer ones, where Θ holds the truth."""
    choice = PLANE if fine else DEFAULT
    return _learnt("realised", make_problem("smooth-walk", dim=dim, seed=seed), choice, seed)


def misspecified(zeta: float, seed: int) -> dict[str, Any]:
    """Opt-AC where the truth is ζ away from Θ."""
    return _learnt("misspecified", make_problem("smooth-walk", misspecification=zeta, seed=seed), SHARP, seed)


def dimension(dim: int, frequencies: int) -> dict[str, Any]:
    """d̃ of the exact features of every kernel of the walk's family, at each tolerance."""
    walk = make_problem("smooth-walk", dim=dim)
    choice = FourierChoice(frequencies=frequencies)
    return {
        "study": "dimension",
        "dim": dim,
        "frequencies": frequencies,
        "effective_dimensions": {str(t): exact_dimension(walk, choice, t) for t in TOLERANCES},
    }


def tied(epsilon: float, seed: int) -> dict[str, Any]:
    """Episodes until the mixture's gap is at most ε, with features of d = N = 8/ε²."""
    walk = make_problem("smooth-walk", seed=seed)
    size = int(np.ceil(8 / epsilon**2))
    choice = FourierChoice(frequencies=size, next_samples=size)
    run = _measured(walk, choice, seed, episodes=TIED_EPISODES, epsilon=epsilon, stop_at="both")
    return {
        "study": "tied",
        "epsilon": epsilon,
        "seed": seed,
        "budget": TIED_EPISODES,
        "mixture": run["mixture"] and run["mixture"]["episodes"],
        "last": run["last"] and run["last"]["episodes"],
        **_features(walk, choice, seed),
        "time/seconds": run["time/seconds"],
    }


def _learnt(study: str, walk: SmoothWalk, choice: FourierChoice, seed: int) -> dict[str, Any]:
    """The final gaps, and the episodes until the mixture's is at most 5 % of the range."""
    gap_range = walk.optimal_value - walk.uniform_value
    run = _measured(walk, choice, seed, episodes=EPISODES, epsilon=SHARE * gap_range, stop_at="end")
    return {
        "study": study,
        "dim": walk.dim,
        "zeta": walk.parameters["misspecification"],
        "seed": seed,
        "horizon": walk.horizon,
        "actions": walk.actions,
        "range": gap_range,
        "episodes": run["episodes"],
        "gap": run["gap"],
        "last_gap": run["last_gap"],
        "mixture": run["mixture"] and run["mixture"]["episodes"],
        **_features(walk, choice, seed),
        "time/seconds": run["time/seconds"],
    }


def _measured(walk: SmoothWalk, choice: FourierChoice, seed: int, **budget: Any) -> dict[str, Any]:
    return measured(walk, "opt-ac", seed=seed, **asdict(choice), **budget)


def _features(walk: SmoothWalk, choice: FourierChoice, seed: int) -> dict[str, Any]:
    """The size of the learner's features, their errors, and d̃ of the exact ones of that size."""
    features, own_error, effective = _known_features(walk.dim, choice, seed)
    return {
        "frequencies": choice.frequencies,
        "radius": choice.radius,
        "next_samples": choice.next_samples,
        "columns": features.rank,
        "feature_error": own_error,
        "total_error": total_error(walk, features),
        "density_bound": walk.noise.peak,
        "effective_dimension": effective,
    }


@lru_cache(maxsize=1)
def _known_features(dim: int, choice: FourierChoice, seed: int) -> tuple[KernelFeatures, float, int]:
    """The features a learner of this seed computes, their error and d̃, the same at every ζ."""
    walk = make_problem("smooth-walk", dim=dim, seed=seed)
    features = KernelFeatures(walk.noise, walk.grid, (RADIUS, 1.0 - RADIUS), choice, seed)
    return features, feature_error(walk, features), exact_dimension(walk, choice, TOLERANCES[-1], seed)


def exact_dimension(walk: SmoothWalk, choice: FourierChoice, tolerance: float, seed: int = 0) -> int:
    """d̃ at N = ∞: the dimension of the span of the features of all kernels of the family."""
    features = ConditionalFourierFeatures(walk.dim, choice.frequencies, choice.radius, seed)
    means = Grid(walk.dim, MEANS[walk.dim], RADIUS, 1.0 - RADIUS).points
    phi = features.translated(features.phi_exact(walk.noise.characteristic), means)
    return effective_dimension(phi, tolerance)


def feature_error(walk: SmoothWalk, features: KernelFeatures) -> float:
    """sup |T_θ − φ̂_θᵀμ| over the family's means and next states on grids: the features' own part of ζ."""
    means = Grid(walk.dim, 40, RADIUS, 1.0 - RADIUS).points
    estimate = features.phi(means) @ features.mu / walk.grid.weights
    return float(np.abs(estimate - walk.noise.density(walk.grid.points - means[:, None])).max())


def total_error(walk: SmoothWalk, features: KernelFeatures) -> float:
    """sup |T − φ̂_θ*ᵀμ| over h, s, a and s' on the grid: the theorem's ζ, the features' part included."""
    points, largest = walk.grid.points, 0.0
    for h in range(walk.horizon):
        estimate = features.phi(walk.drift.means(walk.theta[h], points)) @ features.mu / walk.grid.weights
        largest = max(largest, float(np.abs(estimate - walk.density(h, points, points)).max()))
    return largest
