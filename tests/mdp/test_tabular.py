"""A problem from plain tables is the MDP of those tables; what is no MDP is refused by name; files keep all of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optac
from optac.errors import InvalidInput, InvalidProblem
from optac.mdp import LowRankMDP, SmoothWalk, TabularMDP, make_problem
from tests.random_problems import random_policy, random_problem


def tables(seed: int, *, steps: int | None = None, states: int = 4, actions: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    before = () if steps is None else (steps,)
    return rng.dirichlet(np.ones(states), size=(*before, states, actions)), rng.random((states, actions))


def value_by_hand(P: np.ndarray, r: np.ndarray, horizon: int) -> float:
    """V* of the first state by the textbook recursion, one number at a time."""
    states, actions = r.shape
    values = [0.0] * states
    for h in reversed(range(horizon)):
        table = P[h] if P.ndim == 4 else P
        values = [
            max(
                r[s, a] + sum(table[s, a, n] * values[n] for n in range(states) if h + 1 < horizon)
                for a in range(actions)
            )
            for s in range(states)
        ]
    return values[0]


@given(st.integers(0, 10_000), st.booleans())
def test_its_optimal_value_is_the_tables_own(seed: int, stationary: bool) -> None:
    P, r = tables(seed, steps=None if stationary else 3)
    problem = TabularMDP(P, r, horizon=3)
    assert problem.optimal_value == pytest.approx(value_by_hand(P, r, 3), abs=1e-12)


@given(st.integers(0, 10_000))
def test_its_factors_are_latents_that_multiply_to_the_table(seed: int) -> None:
    P, r = tables(seed, steps=3)
    P[1] = P[1, 0, 0]  # one row for all pairs: one latent, where the other steps have four
    problem = TabularMDP(P, r)
    np.testing.assert_allclose(np.einsum("hsad,hdn->hsan", problem.phi, problem.mu), P, atol=1e-15)
    assert (problem.phi >= 0).all() and problem.phi.sum(-1) == pytest.approx(np.ones((3, 4, 2)))
    assert problem.rank == 4 and (problem.phi[1].max(axis=(0, 1)) > 0).sum() == 1
    assert problem.facts["ranks"] == [4, 1, 4]


def test_one_table_for_all_steps_is_kept_once() -> None:
    P, r = tables(0)
    problem = TabularMDP(P, r, horizon=1000)
    assert problem.phi.strides[0] == problem.transitions.strides[0] == problem.rewards.strides[0] == 0


def test_rewards_outside_the_unit_interval_are_mapped_when_asked_and_original_undoes_it() -> None:
    P, r = tables(1)
    costs = 10 * r - 7
    with pytest.raises(InvalidProblem, match=r"rewards must lie in \[0, 1\]"):
        TabularMDP(P, costs, horizon=5)
    problem = TabularMDP(P, costs, horizon=5, rescale=True)
    assert problem.rewards.min() == 0.0 and problem.rewards.max() == 1.0
    assert problem.original(problem.optimal_value) == pytest.approx(value_by_hand(P, costs, 5))
    level = TabularMDP(P, np.full((4, 2), -3.0), horizon=5, rescale=True)
    assert level.original(level.optimal_value) == pytest.approx(-15.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": None}, "say how many with horizon=20"),
        ({"horizon": 0}, "horizon=0 is not valid"),
        ({"r": np.zeros((3, 4, 2))}, "horizon says 5, r says 3"),
        ({"P": np.full((2, 4, 4), 0.25)}, r"got \(2, 4, 4\); a table \(A, S, S\)"),
        ({"P": np.zeros((4, 4))}, r"P must have shape \(S, A, S\) or \(H, S, A, S\), .*got \(4, 4\)"),
        ({"r": np.zeros((4, 3))}, r"needs r of shape \(S, A\) = \(4, 2\), or \(H, S, A\); got \(4, 3\)"),
        ({"r": np.zeros((4, 2, 4))}, r"enters by its mean, \(P \* r\)\.sum\(-1\)"),
        ({"r": np.full((4, 2), np.nan)}, "r has nan at"),
        ({"r": "much"}, "r must be a numeric array"),
        ({"initial_state": 4}, "initial_state must be one of 0 … 3"),
    ],
)
def test_what_is_no_mdp_is_refused_and_says_why(changes: dict[str, Any], message: str) -> None:
    P, r = tables(2)
    with pytest.raises(InvalidInput, match=message):
        TabularMDP(**{"P": P, "r": r, "horizon": 5, **changes})


@pytest.mark.parametrize(
    ("row", "said"),
    [([0.5, 0.4, 0, 0], "sum to 0.9 and the smallest is 0"), ([1.5, -0.5, 0, 0], "the smallest is -0.5")],
)
def test_a_row_that_is_no_distribution_is_named(row: list[float], said: str) -> None:
    P, r = tables(3)
    P[2, 1] = row
    with pytest.raises(InvalidProblem, match=rf"at \(s, a\) = \(2, 1\) its entries {said}|{said}"):
        TabularMDP(P, r, horizon=5)


def test_every_algorithm_for_tables_solves_it_and_others_play_it() -> None:
    P, r = tables(4, states=3)
    problem = TabularMDP(P, r, horizon=2)
    assert optac.solve(problem, "opt-ac", iterations=60, seed=0).last_gap < 0.05
    assert optac.solve(problem, "ucbvi", iterations=60, seed=0).last_gap < 0.05
    env = problem.as_gymnasium()
    observation, _ = env.reset(seed=0)
    assert observation == 0 and env.step(1)[1] == pytest.approx(r[0, 1])


@pytest.mark.parametrize("steps", [None, 3])
def test_tables_survive_their_file_to_the_bit(steps: int | None, tmp_path: Path) -> None:
    P, r = tables(5, steps=steps)
    problem = TabularMDP(P, 5 * r - 2, horizon=3, initial_state=[0.5, 0.5, 0, 0], rescale=True)
    problem.save(tmp_path / "mine.npz")
    for again in (TabularMDP.load(tmp_path / "mine.npz"), make_problem(tmp_path / "mine.npz")):
        assert type(again) is TabularMDP and again.original(1.0) == problem.original(1.0)
        for name in ("phi", "mu", "rewards", "initial", "transitions"):
            assert np.array_equal(getattr(again, name), getattr(problem, name)), name


def test_a_file_keeps_the_problems_name_and_parameters_or_gives_it_its_own(tmp_path: Path) -> None:
    P, r = tables(5)
    for problem in (TabularMDP(P, r, 3, name="machine"), make_problem("random-simplex", seed=3)):
        problem.save(tmp_path / "mine.npz")
        again = make_problem(tmp_path / "mine.npz")
        assert repr(again) == repr(problem) and again.parameters == problem.parameters
    TabularMDP(P, r, 3).save(tmp_path / "mine.npz")
    assert make_problem(tmp_path / "mine.npz").name == str(tmp_path / "mine.npz")


def test_a_file_written_by_numpy_is_a_problem_of_the_command_too(tmp_path: Path) -> None:
    P, r = tables(6)
    np.savez(tmp_path / "mine.npz", P=P, r=r, horizon=3)
    assert make_problem(str(tmp_path / "mine.npz")).optimal_value == TabularMDP(P, r, 3).optimal_value


def test_a_low_rank_file_keeps_features_and_shared_steps_once(tmp_path: Path) -> None:
    source = random_problem(7)
    shared = [np.broadcast_to(one[0], (4, *one.shape[1:])) for one in (source.phi, source.mu, source.rewards)]
    problem = LowRankMDP(*shared, features=np.arange(10.0).reshape(5, 2))
    problem.save(tmp_path / "mine.npz")
    again = LowRankMDP.load(tmp_path / "mine.npz")
    assert again.phi.strides[0] == 0 and again.horizon == 4
    assert again.features is not None and np.array_equal(again.features, np.arange(10.0).reshape(5, 2))
    assert again.value(random_policy(0, again.shape)) == problem.value(random_policy(0, again.shape))


@pytest.mark.parametrize("name", ["smooth-walk", "rich-lock"])
def test_a_problem_without_a_table_is_saved_by_its_family_and_parameters(name: str, tmp_path: Path) -> None:
    problem = make_problem(name, horizon=2, actions=3, seed=4)
    problem.save(tmp_path / "mine.npz")
    again = type(problem).load(tmp_path / "mine.npz")
    assert again.parameters == problem.parameters
    assert np.array_equal(again.transitions, problem.transitions)
    other = LowRankMDP if isinstance(problem, SmoothWalk) else SmoothWalk
    with pytest.raises(InvalidInput, match=f"holds a {type(problem).__name__}, not a {other.__name__}"):
        other.load(tmp_path / "mine.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"P": np.zeros((2, 2))}, "lacks r; it has P"),
        ({"family": "unheard-of", "parameters": "{}"}, "unknown problem 'unheard-of'"),
        (
            {"family": "this_stranger:problem", "parameters": "{}"},
            "names problem .* where you trust that code",
        ),
        ({"family": "river-swim", "parameters": "["}, "parameters are not a JSON object"),
        ({"P": np.eye(2)[:, None], "r": np.zeros((2, 1)), "horizon": np.ones(3)}, "must be a single value"),
        ({"P": np.eye(2)[:, None], "r": np.zeros((2, 1)), "rescale": "often"}, "rescale=often is not valid"),
    ],
)
def test_a_bad_file_says_what_is_wrong(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(InvalidInput, match=message):
        make_problem(tmp_path / "mine.npz")


def test_a_file_of_another_ending_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"ends in \.npz"):
        random_problem(0).save(tmp_path / "mine")
    assert not list(tmp_path.iterdir())
