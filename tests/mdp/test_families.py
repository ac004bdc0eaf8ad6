import numpy as np
import pytest

from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, make_problem
from optac.registry import ours

FAMILIES = tuple(ours("problem"))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_draws_its_instance_from_its_seed(name: str) -> None:
    one, again = make_problem(name, seed=3), make_problem(name, seed=3)
    assert (one.transitions == again.transitions).all() and (one.rewards == again.rewards).all()
    other = make_problem(name, seed=4)
    if name != "river-swim":
        assert not ((one.transitions == other.transitions).all() and (one.rewards == other.rewards).all())


@pytest.mark.parametrize("name", [name for name in FAMILIES if isinstance(make_problem(name), LowRankMDP)])
def test_facts_say_what_the_problem_says(name: str) -> None:
    problem = make_problem(name)
    facts = problem.facts
    assert facts["optimal_value"] == problem.optimal_value > facts["uniform_value"] == problem.uniform_value
    assert len(facts["ranks"]) == len(facts["smallest_singular_values"]) == problem.horizon
    for h in (0, problem.horizon - 1):
        assert facts["ranks"][h] == np.linalg.matrix_rank(problem.transitions[h].reshape(-1, problem.states))
        assert facts["ranks"][h] <= problem.rank


def test_lock_pays_one_for_the_combination_and_tempts_with_a_twentieth() -> None:
    problem = make_problem("combination-lock", horizon=3, actions=4, seed=1)
    assert problem.shape == (3, 3, 4) and problem.rank == 3
    assert problem.optimal_value == 1.0
    alive = 0.25
    expected = sum(alive**h * (1 - alive) * 0.05 for h in range(3)) + alive**3
    assert problem.uniform_value == pytest.approx(expected)
    good = problem.phi[:, :2, :, :2].sum(axis=-1).argmax(axis=-1)  # of every step and live row
    assert (problem.transitions[0, 0, good[0, 0]] == [0.5, 0.5, 0.0]).all()
    assert (problem.transitions[:, 2, :, 2] == 1).all() and (problem.rewards[:, 2] == 0).all()
    assert problem.rewards[2, 1, good[2, 1]] == 1.0 and problem.rewards[1, 1, good[1, 1]] == 0.0
    assert sorted(set(problem.rewards.ravel())) == [0.0, 0.05, 1.0]


def test_lock_rows_are_each_reached_with_probability_one_half() -> None:
    assert make_problem("combination-lock", horizon=5, actions=3).facts["eta_min"] == pytest.approx(0.5)


def test_lock_of_one_action_is_open() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=1)
    assert problem.optimal_value == problem.uniform_value == 1.0


def test_observed_lock_has_many_states_and_the_locks_values() -> None:
    bare = make_problem("combination-lock", horizon=4, actions=3, seed=2)
    seen = make_problem("observed-lock", horizon=4, actions=3, observations=5, seed=2)
    assert seen.states == 15 and seen.rank == 3
    assert seen.optimal_value == pytest.approx(1.0)
    assert seen.uniform_value == pytest.approx(bare.uniform_value)
    assert seen.initial == pytest.approx(np.repeat([0.2, 0.0], [5, 10]))
    assert seen.facts["eta_min"] == pytest.approx(0.5)


def test_random_simplex_has_peaky_factors_and_a_sparse_reward() -> None:
    for seed in range(3):
        problem = make_problem("random-simplex", seed=seed)
        assert problem.phi.sum(-1) == pytest.approx(np.ones((5, 30, 4)))
        assert (problem.phi.max(-1) > 0.9).mean() > 0.5
        assert (problem.rewards[:-1] == 0).all() and 1 <= (problem.rewards[-1] > 0).sum() <= 12
        assert problem.optimal_value - problem.uniform_value > 0.2


def test_river_swims_table() -> None:
    problem = make_problem("river-swim", horizon=20)
    right = problem.transitions[7, :, 1]
    assert right[0].tolist() == [0.4, 0.6, 0, 0, 0, 0]
    assert right[2].tolist() == pytest.approx([0, 0.05, 0.6, 0.35, 0, 0])
    assert right[5].tolist() == [0, 0, 0, 0, 0.4, 0.6]
    assert problem.transitions[7, 3, 0].tolist() == [0, 0, 1, 0, 0, 0]
    assert (
        problem.rewards[7, 0, 0] == 0.005
        and problem.rewards[7, 5, 1] == 1
        and problem.rewards[7].sum() == 1.005
    )
    assert problem.facts["ranks"][0] == 6


def test_deep_sea_pays_one_for_always_right_through_its_action_map() -> None:
    problem = make_problem("deep-sea", size=8, seed=5)
    assert problem.optimal_value == pytest.approx(1.0)
    assert problem.original(1.0) == pytest.approx(0.99)
    state = 0
    for h in range(8):
        ahead = [int(problem.transitions[h, state, a].argmax()) for a in (0, 1)]
        right = int(np.argmax(ahead)) if state < 7 else int(problem.rewards[h, state].argmax())
        assert problem.rewards[h, state, 1 - right] == pytest.approx(0.01 / 8)
        assert problem.rewards[h, state, right] == (1.0 if state == 7 else 0.0)
        state = max(ahead)
    assert state == 7


def test_stochastic_deep_sea_fails_one_right_in_n() -> None:
    problem = make_problem("deep-sea", size=4, stochastic=True)
    moves = problem.transitions[0, 0].max(axis=-1)
    assert sorted(moves.tolist()) == [0.75, 1.0]
    assert 0.75**3 <= problem.optimal_value < 1.0


@pytest.mark.parametrize(
    ("horizon", "rank", "actions"),
    [(2, 5, 3), (3, 4, 3), (4, 6, 3), (9, 8, 2), (12, 20, 3), (6, 6, 1), (2, 3, 1)],
)
@pytest.mark.parametrize("seed", range(4))
def test_lower_bound_pays_a_half_plus_epsilon(horizon: int, rank: int, actions: int, seed: int) -> None:
    problem = make_problem("lower-bound", horizon=horizon, rank=rank, actions=actions, epsilon=0.2, seed=seed)
    assert problem.states == problem.rank == rank
    assert problem.optimal_value == pytest.approx(0.7)
    assert problem.rewards.max(axis=(1, 2)).sum() == pytest.approx(1.0)
    assert 0.5 < problem.uniform_value <= 0.7 + 1e-12


def test_lower_bound_hides_one_triple_of_step_leaf_and_action() -> None:
    """All that can be told from ½ is one entry, and every policy that misses it earns exactly ½."""
    problem = make_problem("lower-bound", horizon=9, rank=10, actions=3, epsilon=0.3, seed=2)
    good = 8
    special = np.argwhere((problem.transitions[..., good] > 0.5) & (problem.transitions[..., good] < 1.0))
    assert len(special) == 1
    step, leaf, action = special[0]
    missing = problem.optimal_policy.copy()
    missing[step, leaf] = np.eye(3)[(action + 1) % 3]
    assert problem.value(missing) == pytest.approx(0.5)
    values = []
    for entry in range(3):
        policy = problem.optimal_policy.copy()
        policy[:entry, 7], policy[entry, 7] = np.eye(3)[0], np.eye(3)[1]
        values.append(problem.value(policy))
    assert sorted(values) == pytest.approx([0.5, 0.5, 0.8])


def test_lower_bound_of_two_steps_is_a_contextual_bandit() -> None:
    problem = make_problem("lower-bound", horizon=2, rank=7, actions=4, epsilon=0.1)
    assert problem.initial == pytest.approx(np.repeat([0.2, 0.0], [5, 2]))
    assert problem.uniform_value == pytest.approx(0.5 + 0.1 / 4)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("combination-lok", {}, "unknown problem 'combination-lok'; known, nearest first: combination-lock"),
        (
            "combination-lock",
            {"horizn": 6},
            "unknown parameter of combination-lock 'horizn'; .* first: horizon",
        ),
        ("combination-lock", {"horizon": 0}, "horizon=0 is too small; horizon must be at least 1"),
        ("combination-lock", {"horizon": "six"}, "horizon=six is not valid; horizon must be a whole number"),
        ("combination-lock", {"horizon": 2.5}, "must be a whole number"),
        ("combination-lock", {"actions": 0}, "actions=0 is too small"),
        ("deep-sea", {"stochastic": "maybe"}, "stochastic must be true or false"),
        ("lower-bound", {"epsilon": 0.7}, "epsilon must be a finite number, at most 0.5 and above 0"),
        ("lower-bound", {"rank": 3, "horizon": 5}, "rank=3 is too small; rank must be at least 4"),
        ("lower-bound", {"rank": 20, "horizon": 4}, "horizon must be 2 or at least 6"),
        ("combination-lock", {"seed": -1}, "seed=-1 is not valid; seed must be a whole number, at least 0"),
        ("random-simplex", {"concentration": -1}, "concentration"),
    ],
)
def test_wrong_names_and_parameters_are_refused(
    name: str, parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_problem(name, **parameters)
