"""What `optac.solve` promises of every algorithm, and what it refuses."""

import numpy as np
import pytest

import optac
from optac.algorithms.loop.run import prepare
from optac.errors import InvalidInput
from optac.mdp.values import occupancies
from optac.registry import ours
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
        ({"pe": "guess"}, "unknown pe 'guess'; known, nearest first: regression, exact"),
        ({"whole_trajectories": "maybe"}, "whole_trajectories must be true or false"),
        ({"pe_samples": 2.5}, "pe_samples must be a whole number"),
        ({"rank": 10}, "rank=10 is out of range; .* between 1 and S·A = 9"),
        (
            {"model_class": "neural"},
            "unknown model class 'neural'; known, nearest first: linear, decoder, finite",
        ),
        ({"model_class": []}, "at least one candidate"),
        ({"candidates": 0, "model_class": "finite"}, "candidates=0 is not valid"),
        ({"rho": np.ones((3, 3))}, r"rho must be a distribution of shape \(3, 3\)"),
        ({"lam": 0}, "lam=0.0 is not valid; lam must be above 0"),
        ({"model_class": [("phi", "mu")]}, "candidate 0 of model_class is not a problem or a pair"),
        ({"model_class": [random_problem(0)]}, r"candidate 0 of model_class has \(H, S, A\) = \(4, 5, 3\)"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(lock, arguments, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        optac.solve(lock, **{"iterations": 3, **arguments} if "episodes" not in arguments else arguments)


@pytest.mark.parametrize("algorithm", ours("algorithm"))
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
    assert [row["iteration"] for row in heard] == list(range(1, 201))
    assert heard[-1] is result.history[-1]


def test_coverage_is_the_optimal_policys_density_ratio() -> None:
    """Under uniform ρ, C = S·max_h,s d*_h(s): the lock's start is certain, so C = 3."""
    lock = optac.make_problem("combination-lock", horizon=3, actions=3)
    assert optac.solve(lock, iterations=60).coverage == pytest.approx(3.0)
    rho = np.array([[0.3], [0.05], [0.65]]) * np.full((3, 3), 1 / 3)
    result = optac.solve(lock, iterations=60, rho=rho)
    fitted = occupancies(result.model.transitions, lock.optimal_policy, lock.initial)
    in_row_one = max(lock.occupancy(lock.optimal_policy)[:, 1].max(), fitted[:, 1].max())
    assert result.coverage == pytest.approx(in_row_one / 0.05) and result.coverage > 5


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


def test_certificate_that_says_no_more_than_the_rewards_is_none(lock) -> None:
    """With every bonus at 1 the optimistic value is all the rewards there are, the pessimistic one nothing."""
    assert optac.solve(lock, iterations=1, alpha=1e9).certificate is None
    assert optac.solve(lock, iterations=200).certificate < lock.rewards.max(axis=(1, 2)).sum()


def test_certificate_holds_where_the_first_step_is_all_the_error() -> None:
    """The elliptical bonus pays one step later: in a problem of two steps nothing would pay for the first."""
    held = 0
    for seed in range(8):
        problem = optac.make_problem("lower-bound", horizon=2, rank=8, actions=4, seed=seed)
        result = optac.solve(problem, iterations=400, seed=seed)
        held += result.certificate is None or result.certificate >= result.gap
    assert held == 8


def test_history_has_at_most_a_thousand_rows_and_ends_with_the_last_iteration(lock) -> None:
    result = optac.solve(lock, "epsilon-greedy", iterations=2501)
    iterations = [row["iteration"] for row in result.history]
    assert len(iterations) <= 1000 and iterations[:2] == [3, 6] and iterations[-1] == 2501
    assert result.iterations == len(result.policy) == 2501


def test_whoever_may_end_a_run_sees_every_iteration_of_it(lock) -> None:
    seen = []
    run = prepare(lock, "epsilon-greedy", iterations=2501)
    result = run(until=lambda row: seen.append(row["iteration"]) or row["iteration"] == 1600)
    assert seen == list(range(1, 1601))
    assert result.iterations == 1600 and [row["iteration"] for row in result.history[:2]] == [3, 6]


def test_a_yes_that_is_taken_back_before_the_batch_is_over_ends_nothing(lock) -> None:
    """Else a run would end as solved for good whose last policy was seen to fall again."""
    result = prepare(lock, "epsilon-greedy", iterations=100)(until=lambda row: row["iteration"] == 5)
    assert result.iterations == 100


def test_iterations_and_episodes_together_keep_to_the_smaller(lock) -> None:
    run = prepare(lock, iterations=1000, episodes=30, preset="theory", model_class="finite")
    assert run.rounds == 10 and run.settings.pe_accuracy == pytest.approx(10**-0.5)


def test_epsilon_greedy_deploys_its_greedy_policy(lock) -> None:
    result = optac.solve(lock, "epsilon-greedy", iterations=50)
    assert set(np.unique(result.last_policy.probabilities)) == {0.0, 1.0}
    assert (result.policy[10].probabilities > 0).all()
