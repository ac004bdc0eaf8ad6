"""Five of the paper's six tasks: MuJoCo bodies under the rewards of MBBL, the model-based RL benchmark.

The paper evaluates on the tasks of Wang et al., "Benchmarking Model-Based Reinforcement Learning"
(arXiv:1907.02057; code: github.com/WilsonWangTHU/mbbl). What sets them apart from Gymnasium's tasks of the
same name: the reward is a function of the observation s at the *start* of the step and of the action a,
velocities are the raw joint velocities, and no state ends an episode, so every end is a truncation.
"""

from typing import Any, ClassVar

import mujoco
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.spaces import Box
from jaxtyping import Float

from optac.environments.clean_model import initialise

Observation = Float[np.ndarray, " obs"]
Action = Float[np.ndarray, " act"]
Positions = Float[np.ndarray, " position"]
Velocities = Float[np.ndarray, " velocity"]
Coordinates = Float[np.ndarray, " coordinate"]


class MujocoTask(MujocoEnv):
    """A body, where it starts, what is seen of it, and a reward r(s, a) with s seen before the step."""

    model_file: ClassVar[str]
    frame_skip_: ClassVar[int]
    camera: ClassVar[dict[str, Any]]
    spread: ClassVar[float]
    """Starts are uniform within it around the model's own positions and velocities."""
    hidden: ClassVar[int] = 0
    """How many leading positions (the root's place in the plane) are zero at the start and never seen."""

    def __init__(self, render_mode: str | None = None, **view: Any) -> None:
        super().__init__(
            self.model_file,
            self.frame_skip_,
            observation_space=None,
            render_mode=render_mode,
            default_camera_config=self.camera,
            **view,
        )
        size = self._observe().size
        # MuJoCo takes a coordinate beyond mjMAXVAL for a blown-up simulation, so this is the true range.
        self.observation_space = Box(-mujoco.mjMAXVAL, mujoco.mjMAXVAL, (size,), np.float64)

    def task_reward(self, s: Observation, a: Action) -> float:
        """r(s, a)."""
        raise NotImplementedError

    def start(self) -> tuple[Positions, Velocities]:
        """A random start: positions and velocities."""
        return self._uniform(self.init_qpos, self.spread), self._uniform(self.init_qvel, self.spread)

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:  # type: ignore[override]
        """One control step; never terminates, and the time limit around it truncates."""
        reward = self.task_reward(self._observe(), np.asarray(action, np.float64))
        self.do_simulation(action, self.frame_skip)
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, False, False, {}

    def reset_model(self) -> Observation:
        """The first observation of an episode."""
        positions, velocities = self.start()
        positions[: self.hidden] = 0.0
        self.set_state(positions, velocities)
        return self._observe()

    def _observe(self) -> Observation:
        return np.concatenate([self.data.qpos[self.hidden :], self.data.qvel])

    def _initialize_simulation(self) -> tuple[mujoco.MjModel, mujoco.MjData]:
        return initialise(self.fullpath, self.width, self.height)

    def _uniform(self, centre: Coordinates, scale: float) -> Coordinates:
        return centre + self.np_random.uniform(-scale, scale, centre.size)


class Runner(MujocoTask):
    """A body of many joints, whose start has Gaussian velocities."""

    frame_skip_ = 5
    camera: ClassVar = {"distance": 4.0}
    spread = 0.1

    def start(self) -> tuple[Positions, Velocities]:
        noise = self.np_random.standard_normal(self.model.nv)
        return self._uniform(self.init_qpos, self.spread), self.init_qvel + self.spread * noise


def _modes(frames_per_second: int) -> dict[str, Any]:
    return {
        "render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"],
        "render_fps": frames_per_second,
    }


class Ant(Runner):
    """r = ẋ − 3(z − 0.57)² − 0.1‖a‖² + 1, ẋ = s[13] and z = s[0]; 27 observations, no contact forces."""

    metadata = _modes(20)
    model_file = "ant.xml"
    hidden = 2

    def task_reward(self, s: Observation, a: Action) -> float:
        return float(s[13] - 3.0 * (s[0] - 0.57) ** 2 - 0.1 * np.sum(a**2) + 1.0)


class HalfCheetah(Runner):
    """r = ẋ − 0.1‖a‖², ẋ = s[8]; 17 observations."""

    metadata = _modes(20)
    model_file = "half_cheetah.xml"
    hidden = 1

    def task_reward(self, s: Observation, a: Action) -> float:
        return float(s[8] - 0.1 * np.sum(a**2))


class Hopper(MujocoTask):
    """r = ẋ − 3(z − 1.3)² − 0.1‖a‖² + 1, ẋ = s[5] and z = s[0]; 11 observations, velocities not clipped."""

    metadata = _modes(125)
    model_file = "hopper.xml"
    frame_skip_ = 4
    camera: ClassVar = {
        "trackbodyid": 2,
        "distance": 3.0,
        "lookat": np.array((0.0, 0.0, 1.15)),
        "elevation": -20.0,
    }
    spread = 0.005
    hidden = 1

    def task_reward(self, s: Observation, a: Action) -> float:
        return float(s[5] - 3.0 * (s[0] - 1.3) ** 2 - 0.1 * np.sum(a**2) + 1.0)


class InvertedPendulum(MujocoTask):
    """r = −θ², θ = s[1] the pole's angle; 4 observations, forces in [−3, 3]."""

    metadata = _modes(25)
    model_file = "inverted_pendulum.xml"
    frame_skip_ = 2
    camera: ClassVar = {"trackbodyid": 0, "distance": 2.04}
    spread = 0.01

    def task_reward(self, s: Observation, a: Action) -> float:
        return float(-(s[1] ** 2))


class Reacher(MujocoTask):
    """r = −‖fingertip − target‖ − ‖a‖², the vector being s[8:]; 11 observations.

    s = (cos θ, sin θ, target, θ̇, fingertip − target), θ the two joint angles.
    """

    metadata = _modes(50)
    model_file = "reacher.xml"
    frame_skip_ = 2
    camera: ClassVar = {"trackbodyid": 0}

    def task_reward(self, s: Observation, a: Action) -> float:
        return float(-np.linalg.norm(s[8:]) - np.sum(a**2))

    def start(self) -> tuple[Positions, Velocities]:
        positions, velocities = self._uniform(self.init_qpos, 0.1), self._uniform(self.init_qvel, 0.005)
        positions[2:], velocities[2:] = self._target(), 0.0
        return positions, velocities

    def _target(self) -> Coordinates:
        while True:
            target = self.np_random.uniform(-0.2, 0.2, 2)
            if np.linalg.norm(target) < 0.2:
                return target

    def _observe(self) -> Observation:
        angles, target = self.data.qpos[:2], self.data.qpos[2:]
        reach = self.get_body_com("fingertip") - self.get_body_com("target")
        return np.concatenate([np.cos(angles), np.sin(angles), target, self.data.qvel[:2], reach])
