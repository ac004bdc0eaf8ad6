"""Running moments of what the agent has seen and its discounted returns, kept on the host in float64."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from optac.agents.settings import AgentSettings
from optac.numpy_policy import OBSERVATION_BOUND


class Statistics(NamedTuple):
    """The statistics of the data that an update is given.

    The mean and spread of s', the spread of the reward, and of discounted returns the spread and the best.
    """

    next_obs_mean: Float[np.ndarray | jax.Array, " obs"]
    next_obs_std: Float[np.ndarray | jax.Array, " obs"]
    reward_std: Float[np.ndarray | jax.Array, ""]
    return_std: Float[np.ndarray | jax.Array, ""] = np.ones((), np.float32)
    best_return: Float[np.ndarray | jax.Array, ""] = np.full((), np.inf, np.float32)

    def standardised(self, obs: Float[Array, "*batch obs"]) -> Float[Array, "*batch obs"]:
        """Observations as every network sees them where they are normalised: (s − mean)/deviation within ±10."""
        bound = OBSERVATION_BOUND
        return jnp.clip((obs - self.next_obs_mean) / self.next_obs_std, -bound, bound)


def value_bound(
    settings: AgentSettings, statistics: Statistics, largest_addition: float | Float[Array, ""]
) -> Float[Array, ""] | None:
    """The largest running return seen, and what additions to the reward can be worth; None where nothing bounds."""
    if not settings.return_bound or settings.discount == 1:
        return None
    return jnp.asarray(statistics.best_return) + largest_addition / (1 - settings.discount)


@dataclass
class RunningMoments:
    """Count, mean and sum of squared deviations, merged a block at a time (Chan et al. 1979)."""

    count: int
    mean: Float[np.ndarray, "*shape"]
    squares: Float[np.ndarray, "*shape"]

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> "RunningMoments":
        """Of nothing."""
        return cls(0, np.zeros(shape), np.zeros(shape))

    def add(self, rows: Float[np.ndarray, "rows *shape"]) -> None:
        """Take in more rows."""
        n, block = self.count, np.asarray(rows, np.float64)
        m = len(block)
        block_mean = block.mean(axis=0)
        shift = block_mean - self.mean
        self.squares = self.squares + ((block - block_mean) ** 2).sum(axis=0) + shift**2 * (n * m / (n + m))
        self.mean = self.mean + shift * (m / (n + m))
        self.count = n + m

    def deviation(self) -> Float[np.ndarray, "*shape"]:
        """The standard deviation, 0 where the rows are constant."""
        return np.asarray(np.sqrt(self.squares / max(self.count, 1)))

    def std(self) -> Float[np.ndarray, "*shape"]:
        """The same, but 1 where the rows are constant so that dividing by it is harmless."""
        deviation = self.deviation()
        return np.where(deviation > 1e-6, deviation, 1.0)


@dataclass
class Returns:
    """The running return G ← γG + r of the episode under way, its moments over all steps, and the largest one.

    It weighs the latest reward most, where the return that followed a step weighs the next one most. Where rewards went
    on as they were for long, the two are the same: the spread of G is the scale of the values, and its maximum what the
    best state has been seen to be worth. Where every step costs, the maximum is the least cost of one step, which
    bounds next to nothing; where pay follows cost, it is too low by that cost, discounted. An episode cut off by a time
    limit is taken to have gone on as it went: G/(1 − γᵀ) after T steps.
    """

    discount: float
    moments: RunningMoments
    total: float = 0.0
    length: int = 0
    best: float = -math.inf

    def step(self, reward: float, *, terminated: bool, truncated: bool) -> float:
        """Count one step; G after it."""
        self.total = self.discount * self.total + reward
        self.length += 1
        after = self.total
        self.best = max(self.best, after)
        if truncated and not terminated and self.discount < 1:
            self.best = max(self.best, after / (1 - self.discount**self.length))
        if terminated or truncated:
            self.total, self.length = 0.0, 0
        return after

    def spread(self) -> float:
        """The deviation of G over all steps, at least 0.01; 1 while G has been the same at all of them."""
        return max(float(self.moments.std()), 0.01)
