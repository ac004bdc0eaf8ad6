"""What our algorithms keep beyond what `optac.testing` asks of any: prices, traits, defaults that open a lock."""

import dataclasses

import numpy as np
import pytest

import optac
from optac.algorithms.loop.run import prepare
from optac.algorithms.protocol import is_reward_free, load_algorithm, traits
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP
from optac.registry import ours

ALGORITHMS = tuple(ours("algorithm"))
REWARD_FREE = tuple(name for name in ALGORITHMS if is_reward_free(load_algorithm(name)))

HORIZON, ACTIONS = 4, 3


@pytest.fixture(scope="module")
def lock() -> LowRankMDP:
    return optac.make_problem("combination-lock", horizon=HORIZON, actions=ACTIONS)


@pytest.fixture(scope="module")
def results(lock):
    """Every algorithm once with its defaults, on the small lock."""
    return {name: optac.solve(lock, name, seed=3) for name in ALGORITHMS}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_only_who_may_know_the_features_is_given_them(lock, name) -> None:
    run = prepare(lock, name)
    assert (
        (run.handle.features is not None)
        == (name == "lsvi-ucb")
        == traits(load_algorithm(name)).knows_features
    )


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ("moffle", "spanrl")])
def test_another_seed_is_another_run(lock, name) -> None:
    one, other = (optac.solve(lock, name, seed=seed, iterations=30) for seed in (3, 4))
    assert [{**row, "seconds": 0} for row in one.history] != [{**row, "seconds": 0} for row in other.history]


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "epsilon-greedy"])
def test_small_lock_opens_with_the_defaults(results, name) -> None:
    assert results[name].last_gap <= 0.05


def test_bills_are_as_priced(results) -> None:
    """Opt-AC never plans; Rep-UCB and the references one PP a round; RAFFLE one more at the end."""
    K = 500
    expected = {
        "opt-ac": (2 * K, K, 0, 0),
        "rep-ucb": ((1 + HORIZON) * K, 0, K, 0),
        "raffle": ((1 + HORIZON) * K + HORIZON, 0, K + 1, 0),
        "lsvi-ucb": (HORIZON * K, 0, K, 0),
        "ucbvi": ((1 + HORIZON) * K, 0, K, 0),
        "epsilon-greedy": ((1 + HORIZON) * K, 0, K, 0),
    }
    for name, numbers in expected.items():
        bill = results[name].bill
        assert numbers == (bill.SL, bill.PE, bill.PP, bill.CP), name
        assert results[name].episodes == K * HORIZON


def test_flambes_bill_is_a_fit_a_round_and_a_plan_a_planners_step(results) -> None:
    flambe = results["flambe"]
    steps = sum(row["planner_steps"] for row in flambe.history)
    rounds, planners = flambe.iterations, flambe.iterations * (HORIZON - 1)
    assert steps + planners + 1 == flambe.bill.PP  # each planner's last plan ends it; one plan for the reward
    assert rounds + HORIZON * flambe.bill.PP == flambe.bill.SL
    assert (flambe.bill.PE, flambe.bill.CP) == (0, 0)


@pytest.mark.parametrize("name", ["moffle", "spanrl"])
def test_adversarial_rounds_are_paid_as_constrained_planning(results, name) -> None:
    result = results[name]
    rounds = sum(row["adversarial_rounds"] for row in result.history)
    assert result.bill.CP == rounds >= HORIZON - 1 and result.bill.PE == 0
    assert result.bill.PP >= 1 and rounds * (1 + 64**2) <= result.bill.SL


@pytest.mark.parametrize("name", REWARD_FREE)
def test_reward_free_result_plans_for_another_reward(lock, results, name) -> None:
    """The reward is being alive in row 1 at the last step: worth ½ to who keeps the lock open."""
    rewards = np.zeros(lock.shape)
    rewards[-1, 1] = 1.0
    policy = results[name].plan(rewards)
    other = LowRankMDP(lock.phi, lock.mu, rewards, lock.initial)
    assert other.optimal_value == pytest.approx(0.5)
    assert other.value(policy) >= 0.45
    assert results[name].gap == results[name].last_gap


@pytest.mark.parametrize("name", REWARD_FREE)
def test_reward_free_rows_carry_no_gap_before_the_last(results, name) -> None:
    *earlier, last = results[name].history
    assert earlier and all(row["gap"] is None and row["last_gap"] is None for row in earlier)
    assert last["gap"] == last["last_gap"] == results[name].gap


@pytest.mark.parametrize("name", REWARD_FREE)
def test_what_a_reward_free_algorithm_learns_is_there(lock, results, name) -> None:
    learnt = results[name].learnt
    assert learnt.features.shape[:3] == lock.shape
    assert (results[name].model is not None) == (name in ("raffle", "flambe"))
    assert (len(learnt.cover) > 0) == (name != "raffle")
    for policies in learnt.cover:
        np.testing.assert_allclose(policies.sum(axis=-1), 1.0)


def test_planning_for_another_reward_is_refused_where_it_means_nothing(lock, results) -> None:
    with pytest.raises(InvalidInput, match=r"opt-ac learns for one reward; .* such as raffle"):
        results["opt-ac"].plan(lock.rewards)
    with pytest.raises(InvalidInput, match=r"shape \(4, 3, 3\)"):
        results["raffle"].plan(lock.rewards[:2])
    with pytest.raises(InvalidInput, match=r"\[0, 1\]; at \(h, s, a\) = "):
        results["raffle"].plan(lock.rewards + 1)


@pytest.mark.parametrize("name", ["flambe", "moffle", "spanrl"])
def test_budget_too_small_to_divide_is_refused(lock, name) -> None:
    with pytest.raises(InvalidInput, match="cap on episodes leaves"):
        optac.solve(lock, name, episodes=5)


@pytest.mark.parametrize("name", ["opt-ac", "rep-ucb", "raffle", "lsvi-ucb"])
def test_ridge_of_zero_is_refused_before_anything_is_played(lock, name) -> None:
    with pytest.raises(InvalidInput, match="lam must be above 0"):
        prepare(lock, name, lam=0)


@pytest.mark.parametrize("name", ["moffle", "spanrl"])
def test_model_free_algorithms_refuse_a_class_without_a_list(lock, name) -> None:
    with pytest.raises(InvalidInput, match="works on a list of candidate features"):
        optac.solve(lock, name, model_class="simplex")


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("horizon", [1, 2])
def test_shortest_horizons_run(name, horizon) -> None:
    problem = optac.make_problem("combination-lock", horizon=horizon, actions=2)
    assert optac.solve(problem, name, episodes=400).gap <= 0.5


@pytest.mark.parametrize("name", ALGORITHMS)
def test_theory_preset_runs(name) -> None:
    problem = optac.make_problem("combination-lock", horizon=3, actions=2)
    result = optac.solve(problem, name, preset="theory", episodes=1500)
    assert 0 <= result.gap <= 1 and dataclasses.is_dataclass(result.settings)
