"""How often each transition (s_h, a_h, s_{h+1}) was seen, of those that were: memory grows with them, never with S²."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Array, Counts, Visits
from optac.mdp.sampling import Trajectories
from optac.mdp.values import check_table


@dataclass(frozen=True)
class TransitionCounts:
    """Sorted keys of (h, s, a, s') and how often each was seen, for H steps, S states and A actions."""

    shape: tuple[int, int, int]
    keys: Int[np.ndarray, " seen"]
    numbers: Int[np.ndarray, " seen"]

    @classmethod
    def empty(cls, horizon: int, states: int, actions: int) -> "TransitionCounts":
        nothing = np.zeros(0, dtype=np.int64)
        return cls((horizon, states, actions), nothing, nothing)

    @classmethod
    def of(cls, counts: "TransitionCounts | Counts") -> "TransitionCounts":
        """The counts themselves, or those of a dense table N_h(s,a,s')."""
        if isinstance(counts, TransitionCounts):
            return counts
        keys = np.flatnonzero(counts)
        return cls(counts.shape[:3], keys, counts.ravel()[keys].astype(np.int64))

    def add(self, step: Array, state: Array, action: Array, following: Array) -> "TransitionCounts":
        """The counts with one more of each transition given."""
        new, times = np.unique(
            np.ravel_multi_index((step, state, action, following), self._dense_shape), return_counts=True
        )
        place = np.searchsorted(self.keys, new)
        known = place < len(self.keys)
        known[known] = self.keys[place[known]] == new[known]
        numbers = self.numbers.copy()
        numbers[place[known]] += times[known]
        fresh = place[~known]
        return TransitionCounts(
            self.shape,
            np.insert(self.keys, fresh, new[~known]),
            np.insert(numbers, fresh, times[~known]),
        )

    def add_trajectories(self, played: Trajectories) -> "TransitionCounts":
        """The counts with every transition of every episode."""
        states, actions = played
        steps = np.broadcast_to(np.arange(len(actions))[:, None], actions.shape)
        return self.add(steps.ravel(), states[:-1].ravel(), actions.ravel(), states[1:].ravel())

    @cached_property
    def index(self) -> tuple[Array, Array, Array, Array]:
        """(h, s, a, s') of every transition seen, in order."""
        step, state, action, following = np.unravel_index(self.keys, self._dense_shape)
        return step, state, action, following

    @property
    def total(self) -> int:
        """How many transitions were seen, repetitions included."""
        return int(self.numbers.sum())

    @cached_property
    def visits(self) -> Visits:
        """N_h(s,a)."""
        pairs = self.keys // self.shape[1]
        seen = np.bincount(pairs, weights=self.numbers, minlength=int(np.prod(self.shape)))
        return seen.astype(np.int64).reshape(self.shape)

    def mean_following(
        self, h: int, values: Float[np.ndarray, " state"]
    ) -> Float[np.ndarray, "state action"]:
        """Σ_s' N_h(s,a,s') V(s') / N_h(s,a), and 0 where nothing was seen."""
        _, states, actions = self.shape
        first, last = np.searchsorted(self.keys, [h * self._step, (h + 1) * self._step])
        keys = self.keys[first:last] - h * self._step
        sums = np.bincount(
            keys // states,
            weights=self.numbers[first:last] * values[keys % states],
            minlength=states * actions,
        )
        return sums.reshape(states, actions) / np.maximum(self.visits[h], 1)

    def dense(self) -> Counts:
        """N_h(s,a,s') as a table, refused where it would not fit."""
        check_table(*self.shape)
        table = np.zeros(int(np.prod(self._dense_shape)), dtype=np.int64)
        table[self.keys] = self.numbers
        return table.reshape(self._dense_shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Counts:
        """np.asarray(counts) is the table."""
        return self.dense().astype(dtype or np.int64, copy=False)

    @property
    def _step(self) -> int:
        _, states, actions = self.shape
        return states * actions * states

    @property
    def _dense_shape(self) -> tuple[int, int, int, int]:
        horizon, states, actions = self.shape
        return horizon, states, actions, states


def dense_counts(counts: TransitionCounts | Counts) -> Counts:
    """N_h(s,a,s') as a table."""
    return np.asarray(counts)
