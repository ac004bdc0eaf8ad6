"""The six tasks behave as the benchmark's do."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from optac.environments import TASKS, make
from optac.errors import InvalidInput

OBSERVATIONS = {
    "Ant": 27,
    "HalfCheetah": 17,
    "Hopper": 11,
    "Reacher": 11,
    "InvertedPendulum": 4,
    "Pendulum": 3,
}
BOUNDS = {
    "Ant": (8, 1),
    "HalfCheetah": (6, 1),
    "Hopper": (3, 1),
    "Reacher": (2, 1),
    "InvertedPendulum": (1, 3),
}


def short(name):
    return name.removeprefix("optac/").removesuffix("-v0")


def hand_reward(task, s, a):
    """The benchmark's formula, written out a second time from the observation alone."""
    control = sum(float(x) ** 2 for x in a)
    cos, sin, speed = s[:3]
    return {
        "Ant": lambda: s[13] - 3 * (s[0] - 0.57) ** 2 - 0.1 * control + 1,
        "HalfCheetah": lambda: s[8] - 0.1 * control,
        "Hopper": lambda: s[5] - 3 * (s[0] - 1.3) ** 2 - 0.1 * control + 1,
        "Reacher": lambda: -((s[8] ** 2 + s[9] ** 2 + s[10] ** 2) ** 0.5) - control,
        "InvertedPendulum": lambda: -s[1] * s[1],
        "Pendulum": lambda: -(cos + 0.1 * abs(sin) + 0.1 * speed**2 + 0.001 * 4 * control),
    }[task]()


@pytest.fixture(params=TASKS)
def name(request):
    return request.param


def test_check_env_passes(name):
    env = gymnasium.make(name).unwrapped
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
    # The benchmark's forces are in [−3, 3], and Gymnasium advises [−1, 1].
    expected = ["symmetric and normalized"] if short(name) == "InvertedPendulum" else []
    assert len(caught) == len(expected)
    assert all(text in str(warning.message) for text, warning in zip(expected, caught, strict=True))


def test_sizes_and_bounds_are_the_benchmarks(name):
    env = gymnasium.make(name)
    size, bound = BOUNDS.get(short(name), (1, 1))
    assert env.observation_space.shape == (OBSERVATIONS[short(name)],)
    assert env.action_space.shape == (size,)
    assert np.all(env.action_space.low == -bound) and np.all(env.action_space.high == bound)


def test_reward_is_of_the_observation_before_the_step(name):
    env = gymnasium.make(name)
    s, _ = env.reset(seed=1)
    env.action_space.seed(1)
    rewards, of_start, of_end = [], [], []
    for _ in range(40):
        a = env.action_space.sample()
        after, reward, *_ = env.step(a)
        rewards.append(reward)
        of_start.append(hand_reward(short(name), s, a))
        of_end.append(hand_reward(short(name), after, a))
        s = after
    # Pendulum shows its state in single precision and is paid by the exact one.
    assert rewards == pytest.approx(of_start, rel=1e-6, abs=1e-6)
    assert np.mean(np.abs(np.subtract(rewards, of_end)) > 1e-4) > 0.5


def test_every_episode_ends_by_truncation_at_the_benchmarks_length(name):
    env = gymnasium.make(name)
    env.reset(seed=2)
    env.action_space.seed(2)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(TASKS[name].episode_steps)]
    assert ends[-1] == (False, True)
    assert set(ends[:-1]) == {(False, False)}


def test_velocities_are_seen_unclipped():
    env = gymnasium.make("optac/Hopper-v0")
    env.reset(seed=0)
    body = env.unwrapped
    body.set_state(body.init_qpos, np.full(body.model.nv, 25.0))
    assert np.all(body._observe()[5:] == 25.0)


@pytest.mark.parametrize(
    ("name", "hidden"), [("optac/Ant-v0", 2), ("optac/HalfCheetah-v0", 1), ("optac/Hopper-v0", 1)]
)
def test_episodes_start_at_the_origin(name, hidden):
    env = gymnasium.make(name)
    for seed in range(3):
        env.reset(seed=seed)
        assert np.all(env.unwrapped.data.qpos[:hidden] == 0.0)
        assert np.all(env.unwrapped.data.qpos[hidden:] != env.unwrapped.init_qpos[hidden:])


def test_pendulum_pays_for_hanging_and_charges_for_standing():
    env = gymnasium.make("optac/Pendulum-v0")
    env.reset(seed=0)
    rewards = []
    for angle in (np.pi, 0.0):
        env.unwrapped.state = np.array([angle, 0.0])
        rewards.append(env.step(np.zeros(1, np.float32))[1])
    assert rewards == [1.0, -1.0]


def test_pendulum_full_action_is_torque_two():
    ours, theirs = gymnasium.make("optac/Pendulum-v0"), gymnasium.make("Pendulum-v1")
    ours.reset(seed=3), theirs.reset(seed=3)
    for a in (1.0, -0.5, 0.25):
        mine, *_ = ours.step(np.array([a], np.float32))
        other, *_ = theirs.step(np.array([2 * a], np.float32))
        assert np.array_equal(mine, other)


def test_reacher_agrees_with_gymnasiums_v4():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v4 is called out of date; it is the one with the benchmark's reward
        theirs = gymnasium.make("Reacher-v4")
    ours = gymnasium.make("optac/Reacher-v0")
    theirs.reset(seed=0), ours.reset(seed=0)
    ours.unwrapped.set_state(theirs.unwrapped.data.qpos, theirs.unwrapped.data.qvel)
    ours.action_space.seed(0)
    for _ in range(50):
        a = ours.action_space.sample()
        (s, r, *_), (other, other_r, *_) = ours.step(a), theirs.step(a)
        assert np.array_equal(s, other) and r == pytest.approx(other_r, rel=1e-6)


def test_ids_work_through_gymnasiums_module_prefix_without_loading_mujoco_first(tmp_path):
    program = (
        "import sys, gymnasium, optac.environments\n"
        "assert 'mujoco' not in sys.modules and 'jax' not in sys.modules\n"
        "gymnasium.make('optac.environments:optac/HalfCheetah-v0').reset(seed=0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_unknown_environment_names_the_nearest():
    with pytest.raises(InvalidInput, match="nearest first: optac/HalfCheetah-v0"):
        make("optac/HalfCheeta-v0")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("HalfCheetah-v55", "v5"),
        ("no_such_module:Ant-v0", "no_such_module"),
        ("a b", "'b' is not a parameter"),
        ("a!b", "Malformed"),
    ],
)
def test_an_environment_that_cannot_be_made_says_why(name, says):
    with pytest.raises(InvalidInput, match=says):
        make(name)
