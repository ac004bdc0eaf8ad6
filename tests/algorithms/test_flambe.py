"""FLAMBE: the elliptical planner covers, halts within its bound and says when its cap ends it."""

import numpy as np
import pytest

import optac
from optac.algorithms.parts.elliptical_planner import elliptical_planner
from optac.mdp.values import occupancies
from tests.random_problems import model_of, random_problem


@pytest.mark.parametrize("beta", [0.3, 0.1, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_planner_halts_within_its_bound_and_leaves_nothing_worth_more_than_beta(seed, beta) -> None:
    problem = random_problem(seed, rank=3)
    model, h = model_of(problem), 2
    covered = elliptical_planner(
        model, h, problem.initial, beta=beta, cap=10**6, rng=np.random.default_rng(0)
    )
    assert not covered.capped
    bound = 4 * 3 / beta * np.log(1 + 4 / beta)  # (4d/β) log(1 + 4/β), by the elliptical potential
    assert 0 < covered.steps <= bound
    assert covered.steps + 1 == covered.bill.PP and covered.bill.SL == 4 * covered.bill.PP
    sigma = np.eye(3)
    for policy in covered.policies:
        flow = occupancies(problem.transitions, policy, problem.initial)[h][:, None] * policy[h]
        sigma += np.einsum("sa,sad,sae->de", flow, problem.phi[h], problem.phi[h])
    rewards = np.zeros(problem.shape)
    rewards[h] = np.einsum("sad,de,sae->sa", problem.phi[h], np.linalg.inv(sigma), problem.phi[h])
    left = optac.LowRankMDP(problem.phi, problem.mu, rewards, problem.initial)
    assert left.optimal_value <= beta + 1e-9


def test_planner_says_when_its_cap_ends_it() -> None:
    problem = random_problem(0)
    covered = elliptical_planner(
        model_of(problem), 1, problem.initial, beta=1e-3, cap=5, rng=np.random.default_rng(0)
    )
    assert covered.capped and covered.steps == len(covered.policies) == 5
    lock = optac.make_problem("combination-lock", horizon=3, actions=2)
    result = optac.solve(lock, "flambe", episodes=400, beta=1e-3, planner_cap=5)
    assert all(row["planner_capped"] for row in result.history)
    assert result.capped == {"planner": 6} and result.summary()["capped"] == {"planner": 6}
    assert optac.solve(lock, "flambe", episodes=400).capped == {}


def test_planner_that_stops_at_once_stands_for_uniform_play() -> None:
    problem = random_problem(0)
    covered = elliptical_planner(
        model_of(problem), 1, problem.initial, beta=2.0, cap=5, rng=np.random.default_rng(0)
    )
    assert covered.steps == 0 and not covered.capped
    np.testing.assert_array_equal(covered.policies, np.full((1, *problem.shape), 1 / 3))


def test_budget_is_divided_among_rounds_and_steps() -> None:
    """H = 4: J = 8 rounds, 3 steps that matter, so 2,400 episodes give n = 100 and are spent."""
    lock = optac.make_problem("combination-lock", horizon=4, actions=3)
    result = optac.solve(lock, "flambe", episodes=2400)
    assert result.settings.samples == 100 and result.episodes == 2400 and result.iterations == 8


def test_cover_reaches_the_live_rows_of_every_step() -> None:
    lock = optac.make_problem("combination-lock", horizon=6, actions=4)
    cover = optac.solve(lock, "flambe").learnt.cover
    for h in range(1, 5):
        reached = np.mean([lock.occupancy(policy)[h] for policy in cover[h]], axis=0)
        assert reached[:2].min() > 0.1
