"""The sixth task, Pendulum: under the benchmark's cost it is paid for hanging still, not for swinging up.

And the swing-up of the same pendulum with a reward that says nothing until it is there.
"""

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.spaces import Box
from jaxtyping import Float

MAX_TORQUE = 2.0
UPRIGHT = 0.95
"""cos θ from which SparseSwingUp pays"""


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


class SparseSwingUp(PendulumEnv):
    """r = 1 where cos θ ≥ 0.95 at the start of the step, within 18° of upright, and 0 elsewhere.

    An episode begins hanging, θ within 0.1 of π and θ̇ within 0.1 of 0. Observations and actions are Pendulum's. The
    torque is too weak to go straight up: whoever knows nothing of the top must swing on purpose to see it once.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode=render_mode)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float[np.ndarray, " obs"], dict[str, Any]]:
        """Hanging, nearly at rest."""
        super().reset(seed=seed)
        self.state = np.array([np.pi, 0.0]) + self.np_random.uniform(-0.1, 0.1, 2)
        return self._get_obs(), {}

    def step(
        self, action: Float[np.ndarray, " act"]
    ) -> tuple[Float[np.ndarray, " obs"], float, bool, bool, dict[str, Any]]:
        """One control step; never terminates, and the time limit around it truncates."""
        reward = float(np.cos(self.state[0]) >= UPRIGHT)
        observation, _, terminated, truncated, info = super().step(
            MAX_TORQUE * np.asarray(action, np.float64)
        )
        return observation, reward, terminated, truncated, info
