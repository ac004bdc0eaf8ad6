"""SpanRL: its spanner spans with coefficients at most C, also where reachable features live in a subspace."""

import numpy as np
import pytest

import optac
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.robust_spanner import robust_spanner
from optac.algorithms.spanrl import psdp
from optac.mdp import LowRankMDP
from tests.random_problems import random_policy, random_problem

C, NUDGE = 2.0, 1e-3


def exact_oracles(problem: LowRankMDP, h: int):
    """LinOpt and LinEst by dynamic programming on the truth."""

    def optimise(theta):
        rewards = np.zeros(problem.shape)
        rewards[h] = problem.phi[h] @ theta
        low, high = rewards[h].min(), rewards[h].max()
        rewards[h] = (rewards[h] - low) / max(high - low, 1e-12)
        return LowRankMDP(problem.phi, problem.mu, rewards, problem.initial).optimal_policy

    def estimate(policy):
        flow = problem.occupancy(policy)[h][:, None] * policy[h]
        return np.einsum("sa,sad->d", flow, problem.phi[h])

    return optimise, estimate


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("h", [1, 3])
def test_every_reachable_feature_has_coefficients_at_most_c(seed, h) -> None:
    problem = random_problem(seed, states=6, actions=3, rank=3)
    optimise, estimate = exact_oracles(problem, h)
    spanner = robust_spanner(optimise, estimate, 3, C=C, epsilon=NUDGE, max_calls=10**4)
    assert not spanner.capped and spanner.effective_rank == 3
    policies = [random_policy(i, problem.shape) for i in range(50)]
    policies += [optimise(theta) for theta in np.random.default_rng(0).normal(size=(50, 3))]
    for policy in policies:
        assert np.abs(np.linalg.solve(spanner.columns, estimate(policy))).max() <= C + 1e-9


def test_spanner_is_robust_when_reachable_features_live_in_a_subspace() -> None:
    """The lock's expected features are mixtures of (½, ½, 0) and (0, 0, 1): two dimensions of three."""
    lock = optac.make_problem("combination-lock", horizon=4, actions=3)
    optimise, estimate = exact_oracles(lock, 2)
    spanner = robust_spanner(optimise, estimate, 3, C=C, epsilon=NUDGE, max_calls=10**4)
    assert not spanner.capped and spanner.effective_rank == 2
    features = np.stack([estimate(policy) for policy in spanner.policies], axis=1)
    for seed in range(50):
        feature = estimate(random_policy(seed, lock.shape))
        coefficients = np.linalg.solve(spanner.columns, feature)
        assert np.abs(coefficients).max() <= C + 1e-9
        assert np.linalg.norm(features @ coefficients - feature) <= C * 3 * NUDGE


def finite_oracles(features: np.ndarray):
    """LinOpt and LinEst over a list of reachable features; policy i is an array that holds i."""

    def optimise(theta):
        return np.full((1, 1, 1), float((features @ theta).argmax()))

    return optimise, lambda policy: features[int(policy.item())]


def test_columns_are_swapped_until_no_coefficient_exceeds_c() -> None:
    """Chosen once each, the first three span the fourth with a coefficient of about 2^{d−1} = 4: a swap mends that."""
    features = np.array([[1.1, 0.0, 0.0], [-1.0, 1.1, 0.0], [-1.0, -1.0, 1.1], [1.0, 1.0, 1.0]])
    greedy = np.linalg.solve(features[:3].T, features[3])
    assert np.abs(greedy).max() > 3 > C
    spanner = robust_spanner(*finite_oracles(features), 3, C=C, epsilon=NUDGE, max_calls=10**3)
    assert spanner.swaps >= 1 and not spanner.capped
    assert np.abs(np.linalg.solve(spanner.columns, features.T)).max() <= C + 1e-9


def test_features_that_lie_against_the_normal_are_spanned_too() -> None:
    """Along +e₁ nothing is longer than 0.1, along −e₁ something is 1."""
    features = np.array([[0.1, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    spanner = robust_spanner(*finite_oracles(features), 2, C=C, epsilon=NUDGE, max_calls=10**3)
    assert np.abs(np.linalg.solve(spanner.columns, features.T)).max() <= C + 1e-9


def test_cap_on_calls_ends_the_search_and_is_said() -> None:
    problem = random_problem(0, states=6, rank=3)
    spanner = robust_spanner(*exact_oracles(problem, 1), 3, C=C, epsilon=NUDGE, max_calls=6)
    assert spanner.capped and spanner.calls == 6 and len(spanner.policies) == 3


def test_psdp_finds_the_policy_for_the_reward_of_one_step() -> None:
    """Reward 1 for the features (½, ½, 0) at step 2: the lock must stay open for three actions."""
    lock = optac.make_problem("combination-lock", horizon=4, actions=3)
    handle = prepare(lock, "spanrl").handle
    uniform = np.full((1, *lock.shape), 1 / 3)
    rewards = lock.phi[2] @ np.array([1.0, 1.0, 0.0])
    policy, bill = psdp(
        handle,
        handle.model_class.features,
        (uniform, uniform),
        rewards,
        2,
        samples=2000,
        rng=np.random.default_rng(0),
    )
    alive = lock.occupancy(policy)[3][:2].sum()
    assert alive == pytest.approx(1.0)
    assert (bill.PP, bill.SL) == (1, 4) and handle.episodes_played == 4000


def test_covers_reach_the_live_rows() -> None:
    lock = optac.make_problem("combination-lock", horizon=6, actions=3)
    result = optac.solve(lock, "spanrl")
    assert result.last_gap <= 0.05
    for h, policies in enumerate(result.learnt.cover):
        reached = np.mean([lock.occupancy(policy)[h] for policy in policies], axis=0)
        assert h == 0 or reached[:2].min() > 0.02
