import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import optac
from optac.errors import InvalidInput
from optac.mdp.gymnasium_conversion import _absorbing_table
from optac.mdp.tabular import simplex_factors
from tests.random_problems import random_problem


def optimal_value_of_table(env_id: str, horizon: int) -> float:
    """V* by plain loops over the environment's own table, episodes ending where it says so."""
    env = gymnasium.make(env_id).unwrapped
    value = np.zeros(env.observation_space.n)
    for _ in range(horizon):
        value = np.array(
            [
                max(
                    sum(p * (r + (0.0 if done else value[t])) for p, t, r, done in env.P[s][a])
                    for a in range(env.action_space.n)
                )
                for s in range(env.observation_space.n)
            ]
        )
    return float(env.initial_state_distrib @ value)


@pytest.mark.parametrize(
    ("env_id", "horizon"), [("FrozenLake-v1", 20), ("CliffWalking-v1", 30), ("Taxi-v4", 25)]
)
def test_optimal_value_is_the_environments_own(env_id: str, horizon: int) -> None:
    problem = optac.from_gymnasium(env_id, horizon=horizon)
    assert problem.original(problem.optimal_value) == pytest.approx(
        optimal_value_of_table(env_id, horizon), abs=1e-9
    )
    assert (problem.phi >= 0).all() and problem.phi.sum(-1) == pytest.approx(np.ones(problem.shape))


def test_cliff_walkings_best_path_takes_thirteen_steps() -> None:
    problem = optac.from_gymnasium("CliffWalking-v1", horizon=40)
    assert problem.original(problem.optimal_value) == pytest.approx(-13)


def test_frozen_lakes_rewards_stay_as_they_are() -> None:
    problem = optac.from_gymnasium("FrozenLake-v1", horizon=20, is_slippery=False)
    assert problem.optimal_value == problem.original(problem.optimal_value) == 1.0


def test_large_tables_are_not_copied_for_every_step() -> None:
    problem = optac.from_gymnasium("Taxi-v4", horizon=200)
    assert all(array.strides[0] == 0 for array in (problem.phi, problem.transitions, problem.rewards))
    assert problem.states == problem.rank == 500


def test_a_terminal_state_that_others_pass_through_gets_a_twin() -> None:
    """State 1 ends the episode when entered from 0, not when entered from 2."""
    table = {
        0: {0: [(1.0, 1, 0.5, True)]},
        1: {0: [(1.0, 0, 0.25, False)]},
        2: {0: [(1.0, 1, 0.0, False)]},
    }
    transitions, rewards = _absorbing_table(table, np.array([0.5, 0.0, 0.5]))
    assert transitions[:, 0].argmax(-1).tolist() == [3, 0, 1, 3]
    assert rewards[:, 0].tolist() == [0.5, 0.25, 0.0, 0.0]


def test_simplex_factors_take_the_fewer_of_rows_and_columns() -> None:
    kernel = np.array([[[0.5, 0.5, 0.0]], [[0.5, 0.5, 0.0]], [[0.2, 0.3, 0.5]]])
    phi, mu = simplex_factors(kernel)
    assert phi.shape[-1] == 2 and phi @ mu == pytest.approx(kernel)
    phi, mu = simplex_factors(np.array([[[1.0, 0.0]], [[0.0, 1.0]]]))
    assert phi.shape[-1] == 2


@pytest.mark.parametrize("time", [True, False])
def test_any_problem_passes_gymnasiums_own_check(time: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(random_problem(0).as_gymnasium(time=time), skip_render_check=True)


def test_episode_of_the_environment_is_one_of_the_problem() -> None:
    problem = optac.make_problem("combination-lock", horizon=3, actions=2)
    env = problem.as_gymnasium()
    assert env.observation_space.n == 9
    observation, info = env.reset(seed=0)
    total = 0.0
    for h in range(3):
        assert observation == h * 3 + info["state"] and info["step"] == h
        action = int(problem.optimal_policy[h, info["state"]].argmax())
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        assert terminated == (h == 2) and not truncated
    assert total == 1.0
    with pytest.raises(InvalidInput, match="call reset"):
        env.step(0)


def test_returns_in_the_environment_average_to_the_exact_value() -> None:
    problem = random_problem(2)
    env = problem.as_gymnasium(time=False)
    rng = np.random.default_rng(0)
    returns = []
    for episode in range(3000):
        env.reset(seed=episode)
        done, total = False, 0.0
        while not done:
            _, reward, done, _, _ = env.step(int(rng.integers(problem.actions)))
            total += reward
        returns.append(total)
    error = np.std(returns) / np.sqrt(len(returns))
    assert np.mean(returns) == pytest.approx(problem.uniform_value, abs=4 * error)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "FrozenLak-v1"])
def test_environments_without_a_table_are_refused(env_id: str) -> None:
    with pytest.raises(InvalidInput, match=r"transition table|cannot make"):
        optac.from_gymnasium(env_id, horizon=5)
