"""Many episodes at once, step by step over the whole batch, from one seeded generator."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import StateDistribution
from optac.mdp.values import Factors, Kernel


class Trajectories(NamedTuple):
    """States s_0 … s_H, numbers or points in R^D, and actions a_0 … a_{H-1} of a batch of episodes, the step first."""

    states: Int[np.ndarray, "steps batch"] | Float[np.ndarray, "steps batch dim"]
    actions: Int[np.ndarray, "horizon batch"]

    @property
    def episodes(self) -> int:
        return self.actions.shape[1]


class Simulator:
    """Draws s_1 and s' ~ T_h(·|s,a) by inverting cumulative distributions computed once.

    Of a kernel in factors only the rows that an episode meets are multiplied out.
    """

    def __init__(self, kernel: Kernel, initial: StateDistribution) -> None:
        self._factors = kernel if isinstance(kernel, Factors) else None
        self._transitions = None if isinstance(kernel, Factors) else _cumulative(kernel)
        self._initial = _cumulative(initial)

    def _thresholds(
        self, h: int, states: Int[np.ndarray, " batch"], actions: Int[np.ndarray, " batch"]
    ) -> Float[np.ndarray, "batch next"]:
        """The cumulative distributions of the next state."""
        if self._transitions is not None:
            return self._transitions[h, states, actions]
        assert self._factors is not None
        rows = np.maximum(self._factors.phi[h, states, actions] @ self._factors.mu[h], 0.0)
        return _cumulative(rows / rows.sum(axis=-1, keepdims=True))

    def play(
        self,
        policies: Float[np.ndarray, "member horizon state action"],
        rng: np.random.Generator,
        *,
        member: Int[np.ndarray, " batch"],
        uniform: Bool[np.ndarray, "horizon batch"] | None = None,
    ) -> Trajectories:
        """Episode i follows policies[member[i]]; where `uniform` is true its action is uniform instead."""
        _, horizon, _, actions = policies.shape
        batch = len(member)
        cumulative = _cumulative(policies)
        even = _cumulative(np.full(actions, 1.0 / actions))
        noise = rng.random((2, horizon, batch, 1))
        states = np.empty((horizon + 1, batch), dtype=np.int64)
        chosen = np.empty((horizon, batch), dtype=np.int64)
        states[0] = (self._initial <= rng.random((batch, 1))).sum(axis=-1)
        for h in range(horizon):
            thresholds = cumulative[member, h, states[h]]
            if uniform is not None:
                thresholds[uniform[h]] = even
            chosen[h] = (thresholds <= noise[0, h]).sum(axis=-1)
            following = self._thresholds(h, states[h], chosen[h])
            states[h + 1] = (following <= noise[1, h]).sum(axis=-1)
        return Trajectories(states, chosen)


def _cumulative(probabilities: np.ndarray) -> np.ndarray:
    """Cumulative sums along the last axis whose last entry no draw from [0, 1) can reach.

    Everything from the last positive entry on is raised above 1, so that rounding never draws an
    impossible outcome. A broadcast first axis stays broadcast.
    """
    if probabilities.ndim > 1 and probabilities.strides[0] == 0:
        return np.broadcast_to(_cumulative(probabilities[0]), probabilities.shape)
    cumulative = np.cumsum(probabilities, axis=-1)
    positive = probabilities > 0
    positive_after: np.ndarray = np.cumsum(positive[..., ::-1], axis=-1)[..., ::-1] - positive
    cumulative[positive_after == 0] = 2.0
    return cumulative
