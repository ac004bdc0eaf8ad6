"""Running mean and variance of what the agent has seen, kept on the host in float64."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float


class Statistics(NamedTuple):
    """The statistics of the data that an update is given: the mean and spread of s', the spread of the reward."""

    next_obs_mean: Float[np.ndarray | jax.Array, " obs"]
    next_obs_std: Float[np.ndarray | jax.Array, " obs"]
    reward_std: Float[np.ndarray | jax.Array, ""]


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

    def std(self) -> Float[np.ndarray, "*shape"]:
        """The standard deviation, 1 where the rows are constant so that dividing by it is harmless."""
        std = np.sqrt(self.squares / max(self.count, 1))
        return np.where(std > 1e-6, std, 1.0)
