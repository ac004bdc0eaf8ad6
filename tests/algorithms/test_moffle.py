"""MOFFLE: LearnRep on infinite data, the refusal of unreachable factors, the cover."""

import numpy as np
import pytest

import optac
from optac.algorithms.parts.class_regression import class_regression, fitted_q_iteration
from optac.algorithms.parts.min_max_features import explained_forms, learn_feature
from optac.errors import InvalidInput
from optac.models import truth_among_decoys
from tests.random_problems import random_problem


def forms_on_infinite_data(problem, candidates, h):
    """P itself as the data: every pair equally often."""
    return explained_forms(candidates[:, h], candidates[:, h + 1], problem.transitions[h])


def excess_losses(problem, candidates, h, candidate):
    """max over f and φ̃ of min_w L(φ, w; f) − min_w L(φ̃, w; f), by least squares for a spread of discriminators."""
    pairs = problem.states * problem.actions
    rank = candidates.shape[-1]
    worst = -np.inf
    for direction in np.random.default_rng(0).normal(size=(20, rank)):
        theta = direction / np.linalg.norm(direction) * np.sqrt(rank)
        for other in candidates[:8]:
            target = (problem.transitions[h] @ (other[h + 1].mean(axis=1) @ theta)).ravel()
            losses = []
            for phi in (candidates[candidate, h], *candidates[:8, h]):
                rows = phi.reshape(pairs, rank)
                weights = np.linalg.lstsq(rows, target, rcond=None)[0]
                losses.append(((rows @ weights - target) ** 2).mean())
            worst = max(worst, losses[0] - min(losses[1:]))
    return worst


@pytest.mark.parametrize("seed", range(3))
def test_learnt_feature_has_no_gap_on_infinite_data(seed) -> None:
    problem = random_problem(seed, states=6, rank=3)
    candidates = truth_among_decoys(problem.phi, problem.mu, 16, seed).features
    learnt = learn_feature(forms_on_infinite_data(problem, candidates, 1), tolerance=1e-9, max_rounds=100)
    assert not learnt.capped and learnt.gap <= 1e-9
    assert excess_losses(problem, candidates, 1, learnt.candidate) <= 1e-9


def test_adversary_finds_the_gap_of_a_wrong_feature() -> None:
    """The gap of any candidate is at least the excess of any one discriminator, so only the truth reaches 0."""
    problem = random_problem(1, states=6, rank=3)
    candidates = truth_among_decoys(problem.phi, problem.mu, 8, 1).features
    forms = forms_on_infinite_data(problem, candidates, 1)
    truth = next(i for i, phi in enumerate(candidates) if np.array_equal(phi, problem.phi))
    for wrong in range(8):
        gap = 3 * np.linalg.eigvalsh(forms - forms[wrong])[..., -1].max()
        assert gap >= excess_losses(problem, candidates, 1, wrong) - 1e-9
        assert (gap <= 1e-9) == (wrong == truth)


def test_capped_search_says_so_and_pays_for_its_rounds() -> None:
    problem = random_problem(1, states=6, rank=3)
    candidates = truth_among_decoys(problem.phi, problem.mu, 8, 1).features
    learnt = learn_feature(forms_on_infinite_data(problem, candidates, 1), tolerance=0.0, max_rounds=1)
    assert learnt.capped and learnt.rounds == 1
    assert (learnt.bill.CP, learnt.bill.SL, learnt.bill.PP) == (1, 65, 0)


def test_problem_with_an_unreachable_factor_is_refused() -> None:
    """Waiting at the lower-bound instance ends after H/3 steps: later its factor has probability 0."""
    problem = optac.make_problem("lower-bound", horizon=6, rank=6)
    assert problem.facts["eta_min"] == 0
    with pytest.raises(InvalidInput, match=r"moffle needs every factor .* η_min = 0; .* raffle or flambe"):
        optac.solve(problem, "moffle")


def test_class_regression_picks_the_candidate_that_explains_the_targets() -> None:
    """Targets linear in the second candidate: loss 0 there, weights (1, 3)."""
    features = np.array([[[[1.0, 0.0], [1.0, 0.0]]], [[[1.0, 0.0], [0.0, 1.0]]]])
    fit = class_regression(features, np.ones((1, 2)), np.array([[1.0, 3.0]]))
    assert fit.candidate == 1
    assert fit.prediction.ravel().tolist() == pytest.approx([1.0, 3.0], abs=1e-4)
    assert fit.loss == pytest.approx(0.0, abs=1e-9)


def test_fitted_q_iteration_is_optimal_on_infinite_data() -> None:
    problem = random_problem(2, states=6, rank=3)
    candidates = truth_among_decoys(problem.phi, problem.mu, 8, 2).features
    counts = np.round(problem.transitions * 10**9).astype(np.int64)
    q_values, bill = fitted_q_iteration(candidates, counts, problem.rewards)
    np.testing.assert_allclose(q_values, problem.optimal_q_values, atol=1e-6)
    assert (bill.PP, bill.SL) == (1, 4)


def test_covers_reach_the_live_rows() -> None:
    lock = optac.make_problem("combination-lock", horizon=7, actions=3)
    result = optac.solve(lock, "moffle")
    assert result.last_gap <= 0.05
    for h in range(3):
        reached = np.mean([lock.occupancy(policy)[h + 1] for policy in result.learnt.cover[h]], axis=0)
        assert reached[:2].min() > 0.1
