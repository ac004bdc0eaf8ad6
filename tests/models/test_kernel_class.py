"""Kernels with Fourier features as a model class: features, likelihoods, Gram matrices, fits."""

from functools import cache

import numpy as np
import pytest

import optac
from optac.errors import InvalidInput
from optac.mdp.policies import uniform_policy
from optac.models import ConditionalFourierFeatures, FourierChoice, walk_among_decoys

SMALL = FourierChoice(frequencies=512, radius=4.0, next_samples=0)


@cache
def walk_and_class(candidates=8, choice=SMALL):
    walk = optac.make_problem("smooth-walk")
    return walk, walk_among_decoys(walk, candidates, choice)


def roll_ins(walk, rng):
    step, episode = np.indices((walk.horizon, walk.horizon))
    uniform = (step == episode) | (step == episode - 1)
    table = uniform_policy(*walk.shape)
    return walk.simulator.play(
        table[None], rng, member=np.zeros(walk.horizon, dtype=np.int64), uniform=uniform
    )


def test_reduced_features_give_the_density_that_algorithm_2_gives() -> None:
    """Rotation, scaling, quadrature weights and the interpolation over means change φ̂ᵀμ by less than 0.02."""
    walk, kernels = walk_and_class()
    features = ConditionalFourierFeatures(1, SMALL.frequencies, SMALL.radius, 0)
    means = np.random.default_rng(0).uniform(0.25, 0.75, (30, 1))
    phi = features.translated(features.phi_exact(walk.noise.characteristic), means)
    plain = features.inner_products(phi, walk.grid.points)
    reduced = kernels.features.phi(means) @ kernels.features.mu / walk.grid.weights
    assert np.abs(reduced - plain).max() < 0.02
    assert kernels.rank < 20 < features.dimension


def test_features_have_norm_at_most_one() -> None:
    _, kernels = walk_and_class()
    norms = np.linalg.norm(kernels.features.phi(np.linspace(0.25, 0.75, 999)[:, None]), axis=-1)
    assert 0.9 < norms.max() <= 1 + 1e-12


def test_data_are_the_log_likelihoods_and_the_gram_products_of_the_roll_ins() -> None:
    """Against a loop over the episodes: the fit at h takes RI(h), the Gram matrix at h takes RI(h + 1)."""
    walk, kernels = walk_and_class()
    played = roll_ins(walk, np.random.default_rng(1))
    data = kernels.empty_data(*walk.shape).add_roll_ins(played, whole_trajectories=False)
    for c in (0, 5):
        for h in range(walk.horizon):
            s, a, following = played.states[h, h], played.actions[h, h], played.states[h + 1, h]
            mean = walk.drift.means(kernels.thetas[c, h], s)[a]
            expected = np.log(max(walk.noise.density(following - mean), 1e-6))
            assert data.evidence[c, h] == pytest.approx(expected, rel=1e-9)
        for h in range(walk.horizon - 1):
            s, a = played.states[h, h + 1], played.actions[h, h + 1]
            phi = kernels.features.phi(walk.drift.means(kernels.thetas[c, h], s)[a])
            np.testing.assert_allclose(data.products[c, h], np.outer(phi, phi), atol=1e-12)
    assert (data.products[:, -1] == 0).all()


def test_whole_trajectories_add_every_transition() -> None:
    walk, kernels = walk_and_class()
    played = roll_ins(walk, np.random.default_rng(2))
    data = kernels.empty_data(*walk.shape).add_roll_ins(played, whole_trajectories=True)
    densities = kernels.log_densities(played.states[:-1], played.actions, played.states[1:])
    np.testing.assert_allclose(data.evidence, densities.sum(axis=-1), rtol=1e-12)


def test_fit_finds_the_walk_among_its_decoys_and_frees_what_data_leave_open() -> None:
    walk, kernels = walk_and_class()
    rng = np.random.default_rng(3)
    data = kernels.empty_data(*walk.shape)
    before = kernels.fit(data.evidence, None, slack=1e-2, rng=rng)
    assert before.contested()[0].mean() > 0.8
    for _ in range(20):
        data = data.add_roll_ins(roll_ins(walk, rng), whole_trajectories=True)
    model = kernels.fit(data.evidence, before, slack=1e-2, rng=rng)
    # The first step is only ever seen from the start, where candidates may agree: there nothing is claimed.
    for h in range(1, walk.horizon):
        np.testing.assert_array_equal(kernels.thetas[model.choice[h], h], walk.theta[h])
    assert not model.contested()[0][1:].any()
    assert np.abs(model.transitions - walk.transitions)[1:].sum(axis=-1).max() < 0.35


def test_features_off_the_grid_are_those_on_it_at_its_points() -> None:
    walk, kernels = walk_and_class()
    model = kernels.fit(np.zeros((8, 5)), None, slack=0.0, rng=np.random.default_rng(0))
    pairs = np.array([[walk.grid.points[40, 0], 2.0], [walk.grid.points[90, 0], 0.0]])
    np.testing.assert_allclose(model.at(3, pairs), model.phi[3, [40, 90], [2, 0]], atol=1e-14)


def test_class_of_no_candidates_is_refused() -> None:
    walk, _ = walk_and_class()
    with pytest.raises(InvalidInput, match="candidates=0"):
        walk_among_decoys(walk, 0, SMALL)
