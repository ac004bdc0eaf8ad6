"""A restored environment goes on as the saved one does, to the bit."""

import json
from collections import deque

import gymnasium
import numpy as np
import pytest

from optac.environments import TASKS, can_save, make, model_hashes, restore_state, save_state, unsaved_part
from optac.errors import InvalidInput

OTHERS = [
    *("HalfCheetah-v5", "Ant-v5", "Humanoid-v5", "Pusher-v5", "Reacher-v4", "Reacher-v5", "Walker2d-v5"),
    *(
        "Swimmer-v5",
        "InvertedDoublePendulum-v5",
        "HumanoidStandup-v5",
        "Pendulum-v1",
        "MountainCarContinuous-v0",
    ),
]
pytestmark = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")


def through_files(state):
    """What comes back from a JSON file and an array file."""
    return {name: json.loads(json.dumps(v)) if name == "layers" else v.copy() for name, v in state.items()}


def actions(env, count):
    generator = np.random.default_rng(7)
    low, high = env.action_space.low, env.action_space.high
    return [generator.uniform(low, high).astype(np.float32) for _ in range(count)]


def advance(env, chosen):
    """Everything seen on the way, new episodes begun where one ends."""
    seen = []
    for action in chosen:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((observation.tobytes(), float(reward).hex(), terminated, truncated))
        if terminated or truncated:
            seen.append(env.reset()[0].tobytes())
    return seen


@pytest.mark.parametrize("name", [*TASKS, *OTHERS])
def test_restored_environment_goes_on_bit_for_bit(name):
    saved, other = make(name), make(name)
    chosen = actions(saved, 300)
    saved.reset(seed=3), other.reset(seed=11)
    advance(saved, chosen[:37]), advance(other, chosen[-5:])
    state = through_files(save_state(saved))
    restore_state(other, state)
    assert advance(other, chosen[37:]) == advance(saved, chosen[37:])


def test_a_state_that_names_no_constants_leaves_them_where_they_are():
    """As those of checkpoints do that were made before constants were named."""
    saved, other = make("optac/InvertedPendulum-v0"), make("optac/InvertedPendulum-v0")
    chosen = actions(saved, 20)
    saved.reset(seed=3), other.reset(seed=11)
    advance(saved, chosen[:5])
    state, named = save_state(saved), set()
    for layer in state["layers"]:
        constants = {
            name for name, v in layer["attributes"].items() if isinstance(v, dict) and "constant" in v
        }
        layer["attributes"] = {n: v for n, v in layer["attributes"].items() if n not in constants}
        named |= constants
    assert "model" in named
    restore_state(other, through_files(state))
    assert advance(other, chosen[5:]) == advance(saved, chosen[5:])


def test_restores_into_an_environment_never_reset():
    saved, fresh = make("optac/Pendulum-v0"), make("optac/Pendulum-v0")
    chosen = actions(saved, 250)
    saved.reset(seed=0)
    advance(saved, chosen[:20])
    restore_state(fresh, through_files(save_state(saved)))
    assert advance(fresh, chosen[20:]) == advance(saved, chosen[20:])


def test_saving_does_not_disturb():
    watched, alone = make("optac/Hopper-v0"), make("optac/Hopper-v0")
    chosen = actions(alone, 30)
    watched.reset(seed=4), alone.reset(seed=4)
    with_saves = []
    for action in chosen:
        save_state(watched)
        with_saves += advance(watched, [action])
    assert with_saves == advance(alone, chosen)


def test_a_state_without_its_warm_start_would_not_do():
    saved, other = make("optac/Ant-v0"), make("optac/Ant-v0")
    chosen = actions(saved, 60)
    saved.reset(seed=0), other.reset(seed=1)
    advance(saved, chosen[:30])
    body, copy = saved.unwrapped, other.unwrapped
    copy.set_state(body.data.qpos, body.data.qvel)
    assert advance(other, chosen[30:]) != advance(saved, chosen[30:])


def test_normalising_wrapper_and_its_queue_are_saved():
    def wrapped():
        env = gymnasium.wrappers.NormalizeObservation(make("Pendulum-v1"))
        env.seen = deque([1.5, 2.5], maxlen=2)
        return env

    saved, other = wrapped(), wrapped()
    chosen = actions(saved, 60)
    saved.reset(seed=0), other.reset(seed=1)
    advance(saved, chosen[:30])
    saved.seen.append(3.5)
    restore_state(other, through_files(save_state(saved)))
    assert other.seen == deque([2.5, 3.5]) and other.seen.maxlen == 2
    assert advance(other, chosen[30:]) == advance(saved, chosen[30:])


def test_the_action_space_draws_the_same_actions_after_restoring():
    saved, other = make("Pendulum-v1"), make("Pendulum-v1")
    saved.reset(seed=0), other.reset(seed=0)
    saved.action_space.seed(1), saved.action_space.sample()
    restore_state(other, through_files(save_state(saved)))
    assert saved.action_space.sample() == other.action_space.sample()


def test_a_handle_to_the_outside_cannot_be_saved_and_is_named():
    env = make("Pendulum-v1")
    env.reset(seed=0)
    assert can_save(env) and unsaved_part(env) is None
    with open("/dev/null") as handle:
        env.unwrapped.connection = handle
        assert not can_save(env)
        assert "PendulumEnv.connection is a _io.TextIOWrapper" in unsaved_part(env)


def test_another_environment_is_refused():
    pendulum, reacher = make("Pendulum-v1"), make("optac/Reacher-v0")
    pendulum.reset(seed=0), reacher.reset(seed=0)
    with pytest.raises(InvalidInput, match="make the environment as it was made"):
        restore_state(reacher, save_state(pendulum))


def test_a_state_of_another_size_is_refused():
    ant = make("optac/Ant-v0")
    ant.reset(seed=0)
    state = save_state(ant)
    name = next(name for name, value in state.items() if name != "layers" and value.size > 100)
    state[name] = state[name][:-1]
    with pytest.raises(InvalidInput, match="saved MuJoCo state has"):
        restore_state(ant, state)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("step", 0),
        ("state", {"pickle": "x"}),
        ("state", {"array": "missing"}),
        ("action_space", {"space": {"list": 3}}),
    ],
)
def test_a_forged_state_raises_our_error_and_replaces_no_method(attribute, value):
    env = make("Pendulum-v1").unwrapped
    env.reset(seed=0)
    state = save_state(env)
    state["layers"][0]["attributes"] = {attribute: value}
    with pytest.raises(InvalidInput):
        restore_state(env, state)
    assert "step" not in vars(env)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["text"]),
        np.array([1j]),
        np.array([1], np.longdouble),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.array([b"bytes"]),
        np.array([None]),
        np.ma.masked_array([1.0, 2.0], [True, False]),
        {1, "one"},
        np.longdouble(1),
    ],
    ids=lambda value: f"{type(value).__name__} of {getattr(value, 'dtype', 'mixed')}",
)
def test_a_value_that_no_file_of_ours_holds_cannot_be_saved_and_is_named(value):
    env = make("Pendulum-v1")
    env.unwrapped.odd = value
    assert "PendulumEnv.odd is a" in unsaved_part(env)


def test_a_container_that_holds_itself_cannot_be_saved():
    env = make("Pendulum-v1")
    env.unwrapped.odd = []
    env.unwrapped.odd.append(env.unwrapped.odd)
    assert "PendulumEnv.odd holds itself" in unsaved_part(env)


def test_a_models_hash_tells_a_changed_number_and_nothing_else():
    one, other = make("optac/Hopper-v0"), make("optac/Hopper-v0")
    one.reset(seed=0), other.reset(seed=1)
    advance(one, actions(one, 5))
    assert len(model_hashes(one)) == 1 and model_hashes(one) == model_hashes(other)
    other.unwrapped.model.body_mass[1] *= 1 + 1e-15
    assert model_hashes(one) != model_hashes(other)
    assert model_hashes(make("Pendulum-v1")) == []
