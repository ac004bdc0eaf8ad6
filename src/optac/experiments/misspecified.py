"""Opt-AC where the model is only approximately low-rank: four questions to `smooth-walk`.

- realised: Θ holds the truth; is the gap at most 5 % of V* − V(uniform)?
- misspecified: the truth is ζ away from Θ; how does the final gap grow with ζ, beside H² d̃^{3/2} |A| ζ?
- dimension: the effective dimension d̃ of the features against the number d of frequencies.
- tied: features of size d = 8/ε², so that their own error ζ falls with ε; how many episodes to ε, beside ε⁻⁴?

The seed draws the instance and the learner both.
"""

from typing import Any

import numpy as np

from optac.algorithms.loop import prepare
from optac.experiments.study import Cell
from optac.mdp import SmoothWalk, make_problem
from optac.mdp.grid import Grid
from optac.mdp.smooth_walk import RADIUS
from optac.models import ConditionalFourierFeatures, FourierChoice, effective_dimension
from optac.models.kernel_features import KernelFeatures

ZETAS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
EPSILONS = (0.8, 0.4, 0.2, 0.1, 0.05)
FREQUENCIES = (16, 32, 64, 128, 256, 512, 1024, 2048)
TOLERANCES = (1e-3, 1e-6)
ITERATIONS = {1: 200, 2: 250}
LONG_ITERATIONS = 400
"""for the realised class in R¹, where one instance in five is not yet within 5 % after 200"""
SEEDS = 5
PLANE_SEEDS = 1
MOST_ITERATIONS = 2000
FEATURE_RADIUS = 6.0


def cells() -> list[Cell]:
    """The dimensions first, then the seeds outermost."""
    here = "optac.experiments.misspecified"
    listed = [
        Cell(f"dimension D={dim} d={d}", f"{here}:dimension", {"dim": dim, "frequencies": d})
        for dim in (1, 2)
        for d in FREQUENCIES
    ]
    for seed in range(SEEDS):
        for zeta in ZETAS:
            listed.append(
                Cell(f"zeta={zeta} s{seed}", f"{here}:learnt", {"dim": 1, "zeta": zeta, "seed": seed})
            )
        for epsilon in EPSILONS:
            listed.append(
                Cell(f"epsilon={epsilon} s{seed}", f"{here}:tied", {"epsilon": epsilon, "seed": seed})
            )
        if seed < PLANE_SEEDS:
            listed.append(Cell(f"plane s{seed}", f"{here}:learnt", {"dim": 2, "zeta": 0.0, "seed": seed}))
    long = {"dim": 1, "zeta": 0.0, "iterations": LONG_ITERATIONS}
    return listed + [Cell(f"long s{seed}", f"{here}:learnt", {**long, "seed": seed}) for seed in range(SEEDS)]


def learnt(dim: int, zeta: float, seed: int, iterations: int | None = None) -> dict[str, Any]:
    """The final gaps of Opt-AC at misspecification ζ."""
    walk = make_problem("smooth-walk", dim=dim, misspecification=zeta, seed=seed)
    result = prepare(walk, "opt-ac", iterations=iterations or ITERATIONS[dim], seed=seed)()
    return {
        "study": "learnt",
        "dim": dim,
        "zeta": zeta,
        "seed": seed,
        "episodes": result.episodes,
        "gap": result.gap,
        "last_gap": result.last_gap,
        "range": walk.optimal_value - walk.uniform_value,
        "effective_dimension": result.model.phi.shape[-1] if result.model else None,
        "horizon": walk.horizon,
        "actions": walk.actions,
        "certificate": result.certificate,
        "time/run": result.seconds,
    }


def dimension(dim: int, frequencies: int) -> dict[str, Any]:
    """d̃ of the exact features of every kernel of the walk's family, at each tolerance."""
    walk = make_problem("smooth-walk", dim=dim)
    features = ConditionalFourierFeatures(dim, frequencies, FEATURE_RADIUS)
    means = Grid(dim, 64 if dim == 1 else 20, RADIUS, 1.0 - RADIUS).points
    phi = features.translated(features.phi_exact(walk.noise.characteristic), means)
    return {
        "study": "dimension",
        "dim": dim,
        "frequencies": frequencies,
        "effective_dimensions": {str(t): effective_dimension(phi, t) for t in TOLERANCES},
    }


def tied(epsilon: float, seed: int) -> dict[str, Any]:
    """Episodes until the mixture's gap is at most ε, with features of d = N = 8/ε²."""
    walk = make_problem("smooth-walk", seed=seed)
    size = int(np.ceil(8 / epsilon**2))
    choice = FourierChoice(frequencies=size, radius=FEATURE_RADIUS, next_samples=size)
    run = prepare(
        walk,
        "opt-ac",
        iterations=MOST_ITERATIONS,
        seed=seed,
        keep_members=False,
        frequencies=size,
        radius=FEATURE_RADIUS,
        next_samples=size,
    )
    result = run(until=lambda row: row["gap"] <= epsilon)
    first = next((row["episodes"] for row in result.history if row["gap"] <= epsilon), None)
    return {
        "study": "tied",
        "epsilon": epsilon,
        "seed": seed,
        "frequencies": size,
        "zeta": feature_error(walk, choice, seed),
        "effective_dimension": result.model.phi.shape[-1] if result.model else None,
        "episodes": first,
        "budget": MOST_ITERATIONS * walk.horizon,
        "time/run": result.seconds,
    }


def feature_error(walk: SmoothWalk, choice: FourierChoice, seed: int) -> float:
    """sup |T − φ̂ᵀμ| over means and next states on grids: the ζ of the learner's own features."""
    features = KernelFeatures(walk.noise, walk.grid, (RADIUS, 1.0 - RADIUS), choice, seed)
    means = Grid(walk.dim, 40, RADIUS, 1.0 - RADIUS).points
    estimate = features.phi(means) @ features.mu / walk.grid.weights
    return float(np.abs(estimate - walk.noise.density(walk.grid.points - means[:, None])).max())
