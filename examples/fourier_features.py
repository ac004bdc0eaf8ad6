"""Conditional random Fourier features in a minute: a density recovered, its dimension, and Opt-AC built on it.

python examples/fourier_features.py
"""

import numpy as np

import optac
from optac.mdp.noise import BumpNoise
from optac.models import effective_dimension, propose_fourier_size


def main() -> None:
    # A smooth density on [-1, 1] that vanishes at the ends: c(1 − y²)³.
    density = BumpNoise(dim=1, radius=1.0, smoothness=3)
    states = np.linspace(-1, 1, 201)[:, None]
    truth = density.density(states)
    samples = density.sample(np.random.default_rng(0), 4096)

    print("1. φ̂ᵀμ against the density, sup error over [-1, 1]:")
    for frequencies in (64, 512, 4096):
        features = optac.ConditionalFourierFeatures(1, frequencies, radius=2.0, seed=0)
        error = np.abs(features.density(samples[:frequencies], states) - truth).max()
        print(f"   d = N = {frequencies:4d}, W = 2: {error:.3f}")

    print("2. what a target error would cost, for certain and typically:")
    for bound in ("proved", "typical"):
        size = propose_fourier_size(
            0.2,
            state_dim=1,
            smoothness=3,
            derivative_norm=density.derivative_norm(),
            density_bound=density.peak,
            points=1e4,
            bound=bound,
        )
        print(f"   {bound}: {size}")

    print("3. 1024 numbers a feature, yet few directions: exact features of the density moved by up to 1,")
    features = optac.ConditionalFourierFeatures(1, 512, radius=2.0, seed=0)
    moved = features.translated(features.phi_exact(density.characteristic), np.linspace(0, 1, 100)[:, None])
    print(f"   effective dimension {effective_dimension(moved)} of {features.dimension}")

    print("4. Opt-AC on a walk in [0, 1] whose densities it must learn:")
    walk = optac.make_problem("smooth-walk")
    result = optac.solve(walk, iterations=60, seed=0, frequencies=1024, next_samples=1024)
    share = result.gap / (walk.optimal_value - walk.uniform_value)
    print(f"   V* = {walk.optimal_value:.3f}, uniform play {walk.uniform_value:.3f}")
    print(f"   after {result.episodes} episodes: mixture {result.value:.3f} (gap {share:.1%} of the range),")
    print(f"   last policy {result.last_value:.3f}")
    action = result.last_policy.act(0, walk.start, np.random.default_rng(0))
    print(f"   its first action at the start: {action}")


if __name__ == "__main__":
    main()
