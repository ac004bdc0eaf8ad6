"""The deterministic policy's return in its own environment under its own seeds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from optac.agents.training.environment_calls import Env, checked_observation, closed, restarted, stepped
from optac.agents.training.learner import stream_seed
from optac.environments import check_environment
from optac.numpy_policy import Policy

MOST_STEPS: Final = 10_000


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Undiscounted returns, one an episode; no bonus is ever part of them."""

    returns: Float[np.ndarray, " episode"]
    lengths: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def std(self) -> float:
        """The spread of the episodes' returns."""
        return float(self.returns.std())

    def __repr__(self) -> str:
        return f"<mean return {self.mean:.6g} ± {self.std:.3g} over {len(self.lengths)} episodes>"

    def row(self) -> dict[str, Any]:
        """Its part of a row of metrics."""
        return {
            "eval/mean_reward": self.mean,
            "eval/std_reward": self.std,
            "eval/mean_ep_length": float(np.mean(self.lengths)),
        }


def evaluate(
    policy: Policy,
    make_env: Callable[[], Env],
    *,
    episodes: int,
    seed: int,
    place: int,
    step_timeout: float = 0.0,
    max_steps: int | None = None,
) -> Evaluation:
    """Play `episodes` with tanh(mean), in a fresh environment under seeds that `seed` and `place` name.

    An episode that does not end by itself is cut off after `max_steps`, by default after the environment's time limit
    or, where it has none, after 10,000.
    """
    env = make_env()
    limit = max_steps or (env.spec.max_episode_steps if env.spec else None) or MOST_STEPS
    with closed(env):
        check_environment(env)
        seeds = (stream_seed(seed, "evaluation", place, i) for i in range(episodes))
        results = [_episode(policy, env, one, step_timeout, limit) for one in seeds]
    return Evaluation(np.array([total for total, _ in results]), tuple(length for _, length in results))


def _episode(policy: Policy, env: Env, seed: int, step_timeout: float, limit: int) -> tuple[float, int]:
    shape = env.observation_space.shape or ()
    obs = checked_observation(restarted(env, 0, step_timeout, seed), shape, 0)
    total, length, ended = 0.0, 0, False
    while not ended:
        obs, reward, terminated, truncated = stepped(
            env, policy(obs), shape, length, timeout=step_timeout, what="an evaluation's step"
        )
        total += reward
        length += 1
        ended = terminated or truncated or length >= limit
    return total, length
