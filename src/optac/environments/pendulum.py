"""The sixth task, Pendulum: under the benchmark's cost it is paid for hanging still, not for swinging up."""

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.spaces import Box
from jaxtyping import Float

MAX_TORQUE = 2.0


class Pendulum(PendulumEnv):
    """r = −(cos θ + 0.1|sin θ| + 0.1 θ̇² + 0.001 u²) of the start of the step; θ = 0 is upright, u = 2a.

    Observations (cos θ, sin θ, θ̇); actions a ∈ [−1, 1]. Upright costs 1 a step and hanging pays 1.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def step(
        self, action: Float[np.ndarray, " act"]
    ) -> tuple[Float[np.ndarray, " obs"], float, bool, bool, dict[str, Any]]:
        """One control step; never terminates, and the time limit around it truncates."""
        angle, speed = self.state
        torque = MAX_TORQUE * np.asarray(action, np.float64)
        cost = np.cos(angle) + 0.1 * abs(np.sin(angle)) + 0.1 * speed**2 + 0.001 * torque[0] ** 2
        observation, _, terminated, truncated, info = super().step(torque)
        return observation, float(-cost), terminated, truncated, info
