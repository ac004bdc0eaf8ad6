"""What `optac.solve` promises of every algorithm, and what it refuses."""

import numpy as np
import pytest

import optac
from optac.algorithms import ALGORITHMS
from optac.errors import InvalidInput
from tests.random_problems import random_problem


@pytest.fixture(scope="module")
def lock():
    return optac.make_problem("combination-lock", horizon=3, actions=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "opt-ca"}, "unknown algorithm 'opt-ca'; known, nearest first: opt-ac"),
        ({"iterations": 0}, "iterations=0 is not valid; iterations must be a whole number, at least 1"),
        ({"episodes": 2}, "episodes=2 is less than one round, which plays 3"),
        ({"seed": -1}, "seed=-1 is not valid"),
        ({"preset": "practicle"}, "unknown preset 'practicle'; known, nearest first: practical, theory"),
        ({"alfa": 1.0}, "unknown setting 'alfa'; known, nearest first: alpha"),
        ({"alpha": "big"}, "alpha=big is not valid; alpha must be a finite number, at least 0"),
        ({"alpha": -1}, "alpha=-1 is not valid"),
        ({"pe": "guess"}, "pe must be one of exact, regression"),
        ({"whole_trajectories": "maybe"}, "whole_trajectories must be true or false"),
        ({"pe_samples": 2.5}, "pe_samples must be a whole number"),
        ({"rank": 10}, "rank=10 is out of range; .* between 1 and S·A = 9"),
        ({"model_class": "neural"}, "unknown model_class 'neural'; known: simplex, finite"),
        ({"model_class": []}, "at least one candidate"),
        ({"candidates": 0, "model_class": "finite"}, "candidates=0 is too small"),
        ({"rho": np.ones((3, 3))}, r"rho must be a distribution of shape \(3, 3\)"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(lock, arguments, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        optac.solve(lock, **{"iterations": 3, **arguments} if "episodes" not in arguments else arguments)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_result_and_history_agree(lock, algorithm) -> None:
    result = optac.solve(lock, algorithm, iterations=30, seed=1)
    last = result.history[-1]
    assert last["iteration"] == result.iterations and last["episodes"] == result.episodes
    assert last["gap"] == pytest.approx(result.gap) and last["last_gap"] == pytest.approx(result.last_gap)
    assert last["bill"] == result.bill.asdict() and last["seconds"] == pytest.approx(result.seconds)
    assert result.optimal_value - result.value == result.gap
    assert 0 <= result.last_policy.act(0, 0, np.random.default_rng(0)) < 3
    assert result.policy.sample(np.random.default_rng(0)).probabilities.shape == lock.shape


def test_episodes_cap_any_number_of_iterations(lock) -> None:
    capped = optac.solve(lock, iterations=100, episodes=31)
    assert capped.episodes == 30 and capped.iterations == 10


def test_dropping_members_changes_nothing_but_their_absence(lock) -> None:
    kept = optac.solve(lock, iterations=100)
    dropped = optac.solve(lock, iterations=100, keep_members=False)
    assert dropped.gap == kept.gap and dropped.last_gap == kept.last_gap and len(dropped.policy) == 100
    assert dropped.certificate is None and kept.certificate is not None
    with pytest.raises(InvalidInput, match="keep_members=True"):
        dropped.policy.sample(np.random.default_rng(0))


def test_progress_hears_of_rows_in_order(lock) -> None:
    heard = []
    result = optac.solve(lock, iterations=200, progress=heard.append)
    assert [row["iteration"] for row in heard] == sorted(row["iteration"] for row in heard)
    assert heard[-1] is result.history[-1]


def test_coverage_is_the_optimal_policys_density_ratio() -> None:
    """Under uniform ρ, C = S·max_h,s d*_h(s): the lock's start is certain, so C = 3."""
    lock = optac.make_problem("combination-lock", horizon=3, actions=3)
    assert optac.solve(lock, iterations=60).coverage == pytest.approx(3.0)
    rho = np.full((3, 3), 0.1)
    rho[0] = 0.4 / 3
    rho /= rho.sum()
    dead_end = optac.solve(lock, iterations=60, rho=rho).coverage
    assert dead_end == pytest.approx(max(1 / (3 * rho[0, 0]), 0.5 / (3 * rho[1, 0])), rel=0.3)


def test_rho_that_misses_a_reached_state_has_no_coverage() -> None:
    lock = optac.make_problem("combination-lock", horizon=3, actions=3)
    rho = np.zeros((3, 3))
    rho[2] = 1 / 3
    assert optac.solve(lock, iterations=5, rho=rho).coverage is None


def test_certificate_bounds_the_gap_without_the_truth() -> None:
    held = []
    for seed in range(6):
        result = optac.solve(
            optac.make_problem("combination-lock", horizon=4, seed=seed), iterations=200, seed=seed
        )
        held.append(result.certificate >= result.gap)
        assert result.certificate < 1.0
    assert sum(held) >= 5


def test_certificate_that_says_nothing_is_none() -> None:
    """Rewards of 1 everywhere, one iteration: the optimistic and pessimistic values are H apart."""
    problem = random_problem(0, horizon=3)
    rewards = np.ones(problem.shape)
    generous = optac.LowRankMDP(problem.phi, problem.mu, rewards, problem.initial)
    result = optac.solve(generous, iterations=1, alpha=1e9)
    assert result.certificate is None or result.certificate < 3
    assert result.gap == pytest.approx(0.0)
