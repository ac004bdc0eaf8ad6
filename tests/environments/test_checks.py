"""Environments the agents cannot learn in are refused with what to do."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text

from optac.environments import check_environment, make
from optac.errors import InvalidInput

LINE = Box(-1.0, 1.0, (2,))


class Shaped(gymnasium.Env):
    def __init__(self, observations=LINE, actions=LINE):
        self.observation_space, self.action_space = observations, actions


@pytest.mark.parametrize(
    ("observations", "actions", "says"),
    [
        (LINE, Discrete(3), "Discrete.* continuous actions"),
        (LINE, MultiDiscrete([2, 2]), "MultiDiscrete.* continuous actions"),
        (LINE, MultiBinary(2), "MultiBinary.* continuous actions"),
        (LINE, Box(0, 9, (2,), np.int64), "Box of float32 or float64"),
        (LINE, Box(-1.0, 1.0, (2,), np.float16), "Box of float32 or float64"),
        (LINE, Box(-np.inf, 1.0, (2,)), "unbounded actions.*TransformAction"),
        (LINE, Box(-1.0, np.inf, (2,)), "unbounded actions.*TransformAction"),
        (LINE, Box(-1.0, 1.0, (2, 2)), r"shape \(2, 2\)"),
        (LINE, Box(np.array([0.0, -1.0]), np.array([0.0, 1.0]), dtype=np.float64), "leave no choice"),
        (Dict({"a": LINE}), LINE, "Dict observations.*FlattenObservation"),
        (gymnasium.spaces.Tuple([LINE]), LINE, "Tuple observations.*FlattenObservation"),
        (Discrete(4), LINE, "Discrete.*FlattenObservation"),
        (Text(4), LINE, "Text"),
        (Box(0.0, 1.0, (3, 4)), LINE, r"shape \(3, 4\).*FlattenObservation"),
    ],
)
def test_refused_with_what_to_do(observations, actions, says):
    with pytest.raises(InvalidInput, match=says):
        check_environment(Shaped(observations, actions))


def test_the_named_environment_is_in_the_message():
    with pytest.raises(InvalidInput, match="CartPole-v1 has Discrete"):
        check_environment(make("CartPole-v1"))


def test_not_an_environment_is_refused():
    with pytest.raises(InvalidInput, match="not SyncVectorEnv"):
        check_environment(gymnasium.make_vec("Pendulum-v1", 2, vectorization_mode="sync"))


@pytest.mark.parametrize(
    "name", ["Pendulum-v1", "MountainCarContinuous-v0", "Hopper-v5", "optac/InvertedPendulum-v0"]
)
def test_continuous_environments_are_accepted_and_their_boxes_given(name):
    env = make(name)
    assert check_environment(env) == (env.observation_space, env.action_space)


@pytest.mark.parametrize(
    "wrapper", [gymnasium.wrappers.NormalizeObservation, gymnasium.wrappers.NormalizeReward]
)
def test_running_statistics_that_an_evaluation_would_not_share_are_refused(wrapper):
    env = gymnasium.wrappers.TimeLimit(wrapper(gymnasium.make("Pendulum-v1")), 10)
    with pytest.raises(InvalidInput, match=rf"{wrapper.__name__}.*fixed numbers"):
        check_environment(env)


def test_a_module_that_registers_an_id_is_imported_for_it(tmp_path, monkeypatch):
    (tmp_path / "cranes.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('my/Crane-v0', entry_point='gymnasium.envs.classic_control:PendulumEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert make("cranes:my/Crane-v0").spec.id == "my/Crane-v0"
    assert make("optac.environments:optac/Pendulum-v0").spec.id == "optac/Pendulum-v0"
    (tmp_path / "broken.py").write_text("nonsense")
    for module in ("broken", ".relative"):
        with pytest.raises(InvalidInput, match="cannot be imported"):
            make(f"{module}:my/Crane-v0")
    with pytest.raises(
        InvalidInput, match=r"register 'my/Crane-v0': there is no module derricks; .*--path DIR"
    ):
        make("derricks:my/Crane-v0")
    del gymnasium.registry["my/Crane-v0"]


def test_of_many_ids_the_nearest_are_named():
    with pytest.raises(InvalidInput, match=r"nearest first: Pendulum-v1, .* in all\)") as caught:
        make("Pendulun-v1")
    assert len(str(caught.value)) < 400


def test_the_advised_wrapper_is_accepted():
    env = gymnasium.wrappers.FlattenObservation(Shaped(Dict({"a": LINE, "b": Box(0.0, 1.0, (3, 4))})))
    assert check_environment(env)[0].shape == (14,)
