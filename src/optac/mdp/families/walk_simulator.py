"""Many episodes of a smooth walk at once, in continuous space, from one seeded generator."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Array
from optac.mdp.grid import interpolated_probabilities
from optac.mdp.sampling import Trajectories

if TYPE_CHECKING:
    from optac.mdp.families.smooth_walk import SmoothWalk


class WalkSimulator:
    """Draws the states of a walk in continuous space."""

    def __init__(self, walk: "SmoothWalk") -> None:
        self._walk = walk

    def play(
        self,
        policies: Float[np.ndarray, "member horizon state action"],
        rng: np.random.Generator,
        *,
        member: Int[np.ndarray, " batch"],
        uniform: Bool[np.ndarray, "horizon batch"] | None = None,
    ) -> Trajectories:
        """Episode i follows policies[member[i]] between the grid's points too, uniform where `uniform` is true."""
        walk, batch = self._walk, len(member)
        states = np.empty((walk.horizon + 1, batch, walk.dim))
        chosen = np.empty((walk.horizon, batch), dtype=np.int64)
        states[0] = walk.start
        for h in range(walk.horizon):
            probabilities = np.full((batch, walk.actions), 1.0 / walk.actions)
            for k in np.unique(member):
                follows = (member == k) if uniform is None else (member == k) & ~uniform[h]
                if follows.any():
                    table = policies[k, h]
                    probabilities[follows] = interpolated_probabilities(table, walk.grid, states[h, follows])
            chosen[h] = _drawn(probabilities, rng)
            states[h + 1] = self._next(h, states[h], chosen[h], rng)
        return Trajectories(states, chosen)

    def _next(self, h: int, states: Array, actions: Array, rng: np.random.Generator) -> Array:
        walk, row = self._walk, np.arange(len(states))
        means = walk.drift.means(walk.theta[h], states)[row, actions]
        slips = rng.random(len(states)) < walk.slip_probabilities(h, states)[row, actions]
        means[slips] = walk.start
        return means + walk.noise.sample(rng, len(states))


def _drawn(probabilities: Float[np.ndarray, "batch action"], rng: np.random.Generator) -> Array:
    thresholds = np.cumsum(probabilities, axis=-1)
    thresholds[:, -1] = 1.0
    return (thresholds <= rng.random((len(probabilities), 1))).sum(axis=-1)
