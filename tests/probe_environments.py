"""Environments small enough to know the answer, and ones that misbehave; importing this registers them.

The values are exact: Q of the one-step probe is its reward, of the two-step probe γ or 1, and so on.
"""

import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box


class Probe(gymnasium.Env[np.ndarray, np.ndarray]):
    """One observation, one action in [−2, 2]; subclasses say what happens."""

    observation_space = Box(-10, 10, (1,), np.float32)
    action_space = Box(-2, 2, (1,), np.float32)
    start = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return np.array([self.start], np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.count += 1
        observation, reward, terminated = self.outcome(float(action[0]))
        return np.array([observation], np.float32), reward, terminated, False, {}

    def outcome(self, action: float) -> tuple[float, float, bool]:
        raise NotImplementedError


class OneStep(Probe):
    """Reward 1, then the end: Q = 1."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        return 0.0, 1.0, True


class TwoStep(Probe):
    """Observation 0 then 1, reward 0 then 1, then the end: Q(0) = γ, Q(1) = 1."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        return 1.0, float(self.count == 2), self.count == 2


class SignOfAction(Probe):
    """One step, reward −(a − 1)² with actions in [−2, 2]: the best action is 1."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        return 0.0, -((action - 1.0) ** 2), True


class Forever(Probe):
    """Reward 1 − γ = 0.5 a step and no end but the time limit: Q = 1 where limits bootstrap (γ = ½)."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        return 0.0, 0.5, False


class Drifting(Probe):
    """A random walk pushed by the action, with its own generator: what a resumed run has to get right."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        self.place = (
            0.9 * getattr(self, "place", 0.0) + 0.1 * action + 0.05 * self.np_random.standard_normal()
        )
        return self.place, -(self.place**2), self.count >= 37

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.place = 0.0
        return super().reset(seed=seed)


class Outside:
    """Something that cannot be written down, as a socket to a simulator."""


class Unsavable(Drifting):
    """Holds what cannot be saved."""

    def __init__(self) -> None:
        self.simulator = Outside()


class Labelled(Drifting):
    """Holds an array of text, which no array file takes."""

    def __init__(self) -> None:
        self.labels = np.array(["left", "right"])


class Randomised(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A MuJoCo task whose every episode has another mass."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("optac.environments:optac/InvertedPendulum-v0"))

    def reset(self, **given: Any) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = super().reset(**given)
        model: Any = getattr(self.unwrapped, "model")  # noqa: B009
        model.body_mass[-1] = 5 + self.unwrapped.np_random.uniform()
        return observation, info


class Faulty(Drifting):
    """Goes wrong at step `at` of its life in the way `fault` names."""

    def __init__(self, fault: str, at: int) -> None:
        self.fault, self.at, self.life = fault, at, 0

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        self.life += 1
        if self.life == self.at:
            match self.fault:
                case "nan reward":
                    reward = float("nan")
                case "infinite reward":
                    reward = float("inf")
                case "huge reward":
                    reward = 1e30
                case "huge observation":
                    observation = observation + np.float32(1e12)
                case "nan observation":
                    observation = observation * np.nan
                case "infinite observation":
                    observation = observation + np.inf
                case "shape":
                    observation = np.zeros(2, np.float32)
                case "raise":
                    raise OSError("the simulator is gone")
                case "hang":
                    time.sleep(30)
                case "four values":
                    return observation, reward, terminated, info  # type: ignore[return-value]
                case "no outcome":
                    return None  # type: ignore[return-value]
                case "no observation":
                    observation = None  # type: ignore[assignment]
                case "text observation":
                    observation = "left"  # type: ignore[assignment]
                case "no reward":
                    reward = None  # type: ignore[assignment]
        return observation, reward, terminated, truncated, info


FAULTS = (
    "nan reward",
    "infinite reward",
    "huge reward",
    "huge observation",
    "nan observation",
    "infinite observation",
    "shape",
    "raise",
    "hang",
    "four values",
    "no reward",
)


class FaultyReset(Drifting):
    """Its reset goes wrong, in the way `fault` names, once `broken` is set."""

    fault, broken = "", False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        observation, info = super().reset(seed=seed)
        if not self.broken:
            return observation, info
        match self.fault:
            case "raise":
                raise OSError("the simulator is gone")
            case "hang":
                time.sleep(30)
            case "nan":
                return observation * np.nan, info
            case "shape":
                return np.zeros(2, np.float32), info
        return observation  # type: ignore[return-value]


for _probe in (OneStep, TwoStep, SignOfAction, Drifting, Unsavable, Labelled, Randomised):
    gymnasium.register(f"probe/{_probe.__name__}-v0", entry_point=_probe, disable_env_checker=True)
gymnasium.register("probe/Forever-v0", entry_point=Forever, max_episode_steps=5, disable_env_checker=True)
gymnasium.register("probe/Faulty-v0", entry_point=Faulty, disable_env_checker=True)
for _fault in FAULTS:
    gymnasium.register(
        f"probe/Faulty-{_fault.replace(' ', '_')}-v0",
        entry_point=Faulty,
        kwargs={"fault": _fault, "at": 150},
        disable_env_checker=True,
    )
