"""LSVI-UCB and UCBVI: optimism, the exact answer on much data, and the lock that ε-greedy cannot open."""

import tracemalloc

import numpy as np
import pytest

import optac
from optac.algorithms import lsvi_ucb, ucbvi
from optac.models.transition_counts import TransitionCounts
from tests.random_problems import random_problem


def test_largest_reward_still_to_come() -> None:
    rewards = np.zeros((3, 2, 2))
    rewards[0, 0, 0], rewards[1, 1, 1], rewards[2, 0, 1] = 0.5, 0.25, 1.0
    assert ucbvi.still_to_come(rewards).tolist() == [1.75, 1.25, 1.0, 0.0]


def much_data(problem) -> TransitionCounts:
    """A thousand million visits of every pair, in the shares of the truth."""
    return TransitionCounts.of(np.round(problem.transitions * 10**9).astype(np.int64))


def test_optimistic_values_without_bonus_are_the_optimal_ones() -> None:
    problem = random_problem(3)
    ceilings = ucbvi.still_to_come(problem.rewards)
    values = ucbvi.values_by_frequencies(much_data(problem), problem.rewards, ceilings)
    np.testing.assert_allclose(values, problem.optimal_q_values, atol=1e-6)


def test_regressions_on_much_data_without_bonus_are_the_optimal_values() -> None:
    problem = random_problem(4, states=6, rank=3)
    settings = lsvi_ucb.Settings(beta=0.0, lam=1.0)
    _, q_values = lsvi_ucb.optimistic_regressions(settings, problem.phi, much_data(problem), problem.rewards)
    np.testing.assert_allclose(q_values, problem.optimal_q_values, atol=1e-5)


def test_bonus_makes_every_value_optimistic() -> None:
    """Ten visits of every pair and a generous β: Q ≥ Q* everywhere."""
    problem = random_problem(5)
    rng = np.random.default_rng(0)
    counts = np.zeros(problem.transitions.shape, dtype=np.int64)
    for index in np.ndindex(problem.shape):
        counts[index] = rng.multinomial(10, problem.transitions[index])
    settings = lsvi_ucb.Settings(beta=10.0, lam=1.0)
    seen = TransitionCounts.of(counts)
    _, q_values = lsvi_ucb.optimistic_regressions(settings, problem.phi, seen, problem.rewards)
    assert (q_values >= problem.optimal_q_values - 1e-9).all()


@pytest.mark.parametrize("name", ["lsvi-ucb", "ucbvi"])
@pytest.mark.parametrize("seed", range(3))
def test_references_open_a_lock(name, seed) -> None:
    lock = optac.make_problem("combination-lock", horizon=6, actions=10)
    assert optac.solve(lock, name, episodes=3000, seed=seed).last_gap <= 0.05


@pytest.mark.parametrize("name", ["lsvi-ucb", "ucbvi", "epsilon-greedy"])
def test_references_need_no_table_over_four_indices(name) -> None:
    """S = 3,000 and two million pairs of states a step: a table over (h, s, a, s') would be 1.4 GB."""
    lock = optac.make_problem("observed-lock", horizon=5, actions=4, observations=1000)
    tracemalloc.start()
    try:
        optac.solve(lock, name, iterations=3, keep_members=False)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
