"""A problem with rich observations as a Gymnasium environment, so that others' agents can be run on it."""

from typing import TYPE_CHECKING, Any, SupportsInt

import gymnasium
import numpy as np

from optac.array_types import Array
from optac.errors import InvalidInput

if TYPE_CHECKING:
    from optac.mdp.rich_problem import RichProblem

    BaseEnv = gymnasium.Env[Any, Any]
else:
    BaseEnv = gymnasium.Env


class RichEnv(BaseEnv):
    """Observations in R^D, discrete actions; terminated after step H, never truncated. The latent is not shown."""

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own attribute)

    def __init__(self, problem: "RichProblem") -> None:
        self.problem = problem
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (problem.dim,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(problem.actions)
        self._latent = np.zeros(1, dtype=np.int64)
        self._step = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        self._latent = self.problem.simulator.first(1, self.np_random)
        return self._observation(), {"step": 0}

    def step(self, action: SupportsInt) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._step >= self.problem.horizon:
            raise InvalidInput("the episode is over after step H; call reset() before the next step")
        if not self.action_space.contains(action):
            raise InvalidInput(f"action {action!r} is not one of 0 … {self.problem.actions - 1}")
        pair = self._latent, np.array([int(action)])
        self._latent, reward = self.problem.simulator.step(self._step, *pair, self.np_random)
        self._step += 1
        over = self._step == self.problem.horizon
        return self._observation(), float(reward[0]), over, False, {"step": self._step}

    def _observation(self) -> Array:
        # After the last step there is no step H: the final observation shows the last step's code.
        row = min(self._step, self.problem.horizon - 1)
        return np.asarray(self.problem.emission.draw(row, self._latent, self.np_random)[0])
