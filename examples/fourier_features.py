"""Conditional random Fourier features in a minute: a density recovered, its dimension, and Opt-AC built on it.

python examples/fourier_features.py [FIGURE.png]

Four things are shown, and drawn into FIGURE.png (default: fourier_features.png):
1. φ̂ᵀμ comes near a density as d and N grow;
2. what W, d and N a target error asks for, by the theorem's bound and by a sharper one, and what they cost;
3. the 2d numbers of a feature hold few directions, the effective dimension d̃;
4. Opt-AC, which knows none of the walk's densities, comes within 5 % of V* − V(uniform).
"""

import sys

import numpy as np
from matplotlib import pyplot

import optac
from optac.mdp.noise import BumpNoise
from optac.models import effective_dimension, propose_fourier_size

TARGET = 0.05


def main(figure_path: str = "fourier_features.png") -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")

    # A smooth density on [-1, 1] that vanishes at the ends: c(1 − y²)³.
    density = BumpNoise(dim=1, radius=1.0, smoothness=3)
    states = np.linspace(-1, 1, 201)[:, None]
    truth = density.density(states)
    left.plot(states, truth, color="0.2", linewidth=2, label="the density c(1 − y²)³")

    print("1. φ̂ᵀμ against the density, sup error over [-1, 1], median of 9 draws of frequencies and samples:")
    for size in (32, 256, 2048):
        estimates = []
        for seed in range(9):
            features = optac.ConditionalFourierFeatures(1, frequencies=size, radius=2.0, seed=seed)
            samples = density.sample(np.random.default_rng(seed), size)
            estimates.append(features.density(samples, states))
        errors = np.abs(np.array(estimates) - truth).max(axis=1)
        print(f"   d = N = {size:4d}, W = 2: {np.median(errors):.3f}")
        middle = estimates[np.argsort(errors)[4]]
        left.plot(states, middle, label=f"d = N = {size}: sup error {np.median(errors):.3f}")

    print("2. what an error of 0.2 at 10,000 points asks for, with probability 0.95:")
    for bound in ("proved", "typical"):
        proposed = propose_fourier_size(
            0.2,
            state_dim=1,
            smoothness=3,
            derivative_norm=density.derivative_norm(),
            density_bound=density.peak,
            points=1e4,
            bound=bound,
        )
        print(f"   {bound}: {proposed}")

    print("3. the exact features of the density moved by 0 … 1 span few directions:")
    features = optac.ConditionalFourierFeatures(1, frequencies=512, radius=2.0, seed=0)
    moved = features.translated(features.phi_exact(density.characteristic), np.linspace(0, 1, 100)[:, None])
    print(f"   effective dimension {effective_dimension(moved, 1e-6)} at 1e-6, of 2d = {features.dimension}")

    print("4. Opt-AC on a walk in [0, 1]: 64 candidate kernels, features of the one it fits:")
    walk = optac.make_problem("smooth-walk")
    result = optac.solve(walk, "opt-ac", iterations=120, seed=0, frequencies=1024, next_samples=1024)
    span = walk.optimal_value - walk.uniform_value
    print(f"   V* = {walk.optimal_value:.3f}, uniform play {walk.uniform_value:.3f}")
    for name, gap in (("mixture", result.gap), ("last policy", result.last_gap)):
        verdict = "within" if gap <= TARGET * span else "not within"
        print(f"   after {result.episodes} episodes, {name}: {gap / span:.1%} of the range, {verdict} 5 %")
    first = next(row["episodes"] for row in result.history if row["gap"] <= TARGET * span)
    print(f"   the mixture was first within 5 % after {first} episodes")

    episodes = [row["episodes"] for row in result.history]
    for name, label in (("gap", "mixture"), ("last_gap", "last policy")):
        right.plot(episodes, [row[name] / span for row in result.history], label=label)
    right.axhline(TARGET, color="0.4", linestyle=":", label="5 %")
    left.set(xlabel="y", ylabel="density", ylim=(-0.65, 1.35), title="φ̂ᵀμ recovers a density")
    right.set(
        xlabel="episodes", ylabel="gap, share of V* − V(uniform)", title="Opt-AC on smooth-walk", yscale="log"
    )
    left.legend(frameon=False, fontsize=8, loc="lower center")
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(figure_path, dpi=150)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
