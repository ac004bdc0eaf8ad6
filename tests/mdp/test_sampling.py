import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.mdp.sampling import Simulator, _cumulative
from tests.random_problems import random_policy, random_problem


def test_state_frequencies_are_the_occupancies() -> None:
    problem = random_problem(0)
    policy = random_policy(0, problem.shape)
    episodes = 40_000
    played = problem.simulator.play(
        policy[None], np.random.default_rng(1), member=np.zeros(episodes, dtype=np.int64)
    )
    occupancy = problem.occupancy(policy)
    for h in range(problem.horizon):
        frequency = np.bincount(played.states[h], minlength=problem.states) / episodes
        assert frequency == pytest.approx(occupancy[h], abs=4 * 0.5 / np.sqrt(episodes))


def test_each_episode_follows_its_own_member() -> None:
    problem = random_problem(0)
    members = np.stack([np.eye(3)[np.full(problem.shape[:2], a)] for a in range(3)])
    which = np.array([0, 1, 2, 1, 0])
    played = problem.simulator.play(members, np.random.default_rng(0), member=which)
    assert (played.actions == which).all()


def test_uniform_steps_replace_the_policy_and_only_there() -> None:
    problem = random_problem(0)
    never_two = np.eye(3)[np.zeros(problem.shape[:2], dtype=int)][None]
    uniform = np.zeros((problem.horizon, 3000), dtype=bool)
    uniform[2] = True
    played = problem.simulator.play(
        never_two, np.random.default_rng(0), member=np.zeros(3000, dtype=np.int64), uniform=uniform
    )
    assert (played.actions[[0, 1, 3]] == 0).all()
    assert np.bincount(played.actions[2]) / 3000 == pytest.approx(np.full(3, 1 / 3), abs=0.04)


@given(
    st.lists(st.sampled_from([0.0, 1e-12, 0.1, 0.3, 1.0]), min_size=1, max_size=6).filter(
        lambda p: sum(p) > 0
    )
)
def test_no_draw_is_impossible(weights: list[float]) -> None:
    probabilities = np.array(weights) / sum(weights)
    cumulative = _cumulative(probabilities)
    for noise in (
        0.0,
        0.1,
        0.5,
        np.nextafter(1.0, 0.0),
        *np.clip(np.cumsum(probabilities), 0, np.nextafter(1, 0)),
    ):
        drawn = int((cumulative <= noise).sum())
        assert probabilities[drawn] > 0


def test_same_seed_same_episodes() -> None:
    problem = random_problem(0)
    policy = random_policy(0, problem.shape)[None]
    member = np.zeros(10, dtype=np.int64)
    one, two = (problem.simulator.play(policy, np.random.default_rng(5), member=member) for _ in range(2))
    assert (one.states == two.states).all() and (one.actions == two.actions).all()


def test_simulator_takes_a_broadcast_table_as_it_is() -> None:
    table = np.broadcast_to(np.eye(2)[None, :, None], (50, 2, 1, 2))
    simulator = Simulator(table, np.array([0.0, 1.0]))
    played = simulator.play(
        np.ones((1, 50, 2, 1)), np.random.default_rng(0), member=np.zeros(2, dtype=np.int64)
    )
    assert (played.states == 1).all()
