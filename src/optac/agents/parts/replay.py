"""The replay buffer: a ring of float32 rows in host memory that knows which rows are not on disk yet.

Rows live in NumPy because drawing a batch there is cheaper than XLA's gather on a CPU. A million rows of
HalfCheetah (17 observations, 6 actions) take 168 MB; memory that no row has touched yet is not taken.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Rows(NamedTuple):
    """Transitions on the host. Actions are in [−1, 1]; `terminated` is 1 where the MDP ended."""

    obs: Float[np.ndarray, "*batch obs"]
    action: Float[np.ndarray, "*batch act"]
    reward: Float[np.ndarray, "*batch"]
    next_obs: Float[np.ndarray, "*batch obs"]
    terminated: Float[np.ndarray, "*batch"]


class Before(NamedTuple):
    """A replay before some rows: how many were added, the rows that these take the place of, and the priorities."""

    added: int
    lost: Rows
    priorities: Float[np.ndarray, " capacity"] | None


@dataclass
class Replay:
    """The last `capacity` of `added` transitions; row i of the run is in slot i mod capacity.

    Rows are drawn alike until some are given a priority. From then on a row is drawn in proportion to its own, and one
    that has none yet, 0, like the row with the largest.
    """

    capacity: int
    rows: Rows
    added: int = 0
    priorities: Float[np.ndarray, " capacity"] | None = None

    @classmethod
    def empty(cls, capacity: int, obs: int, act: int) -> "Replay":
        """Room for `capacity` transitions."""
        shapes = ((obs,), (act,), (), (obs,), ())
        return cls(capacity, Rows(*[np.zeros((capacity, *shape), np.float32) for shape in shapes]))

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(
        self,
        obs: Float[np.ndarray, " obs"],
        action: Float[np.ndarray, " act"],
        reward: float,
        next_obs: Float[np.ndarray, " obs"],
        terminated: bool,
    ) -> None:
        """Take in one transition, in place of the oldest when full."""
        slot = self.added % self.capacity
        rows = self.rows
        rows.obs[slot] = obs
        rows.action[slot] = action
        rows.reward[slot] = reward
        rows.next_obs[slot] = next_obs
        rows.terminated[slot] = terminated
        if self.priorities is not None:
            self.priorities[slot] = 0.0
        self.added += 1

    def before(self, count: int) -> Before:
        """What `undo` needs to take back the next `count` rows and all priorities given meanwhile."""
        first = max(self.added, self.capacity)
        lost = self.between(first, max(first, self.added + count))
        return Before(self.added, lost, None if self.priorities is None else self.priorities.copy())

    def undo(self, before: Before) -> None:
        """Be as when `before` was asked for."""
        self.added, self.priorities = before.added, before.priorities
        self.put(max(self.added, self.capacity), before.lost)

    def at(self, slots: Int[np.ndarray, "*batch"]) -> Rows:
        """The rows in these slots."""
        return Rows(*[column[slots] for column in self.rows])

    def draw(self, shape: tuple[int, ...], *, generator: np.random.Generator) -> Int[np.ndarray, "*batch"]:
        """Slots drawn with replacement: uniformly, or by their priorities."""
        if self.priorities is None:
            return generator.integers(0, len(self), shape)
        held = self.priorities[: len(self)]
        ends = np.cumsum(np.where(held > 0, held, held.max() or 1.0), dtype=np.float64)
        return np.searchsorted(ends[:-1], generator.random(shape) * ends[-1], side="right")

    def prioritise(self, slots: Int[np.ndarray, "*batch"], priority: Float[np.ndarray, "*batch"]) -> None:
        """Let the rows in these slots be drawn in proportion to `priority`; of a slot that comes twice, the last."""
        if not np.all((priority > 0) & np.isfinite(priority)):
            raise ValueError("a priority is not above 0 and finite")
        if self.priorities is None:
            self.priorities = np.zeros(self.capacity, np.float32)
        self.priorities[slots] = priority

    def ahead(
        self, slots: Int[np.ndarray, "*batch"], steps: int, discount: float
    ) -> tuple[Float[np.ndarray, "*batch"], Float[np.ndarray, "*batch obs"], Float[np.ndarray, "*batch"]]:
        """Σ γʲ rⱼ over the next `steps` rows of each slot's episode, the observation after them, and γᵐ there.

        The sum ends early, after m rows, where the episode does or where no later row is held; where the MDP ended, the
        last is 0. A row goes on in the next one where that begins with the observation this one led to: after a time
        limit it does not, and where it does by chance, the same state goes on from there.
        """
        rows, newest = self.rows, (self.added - 1) % self.capacity
        reward = rows.reward[slots]
        at, weight, going = slots, np.ones_like(reward), np.ones(reward.shape, bool)
        for _ in range(steps - 1):
            following = (at + 1) % len(self)
            same = (rows.obs[following] == rows.next_obs[at]).all(axis=-1)
            going = going & same & (rows.terminated[at] == 0) & (at != newest)
            at = np.where(going, following, at)
            weight = np.where(going, np.float32(discount) * weight, weight)
            reward = reward + np.where(going, weight * rows.reward[at], np.float32(0.0))
        return reward, rows.next_obs[at], np.float32(discount) * weight * (1 - rows.terminated[at])

    def weighted(
        self, room: int, *, generator: np.random.Generator
    ) -> tuple[Rows, Float[np.ndarray, " room"]]:
        """All rows, or a sample that stands for them, and how many each stands for.

        There are always `room` of them, those too many with weight 0: what is compiled for them is compiled once.
        """
        held = len(self)
        slots = np.arange(held) if held <= room else generator.integers(0, held, room)
        weight = np.full(room, held / len(slots), np.float32)
        weight[len(slots) :] = 0.0
        return self.at(np.resize(slots, room)), weight

    def oldest(self) -> int:
        """The number, counted over the whole run, of the oldest row still held."""
        return self.added - len(self)

    def between(self, start: int, end: int) -> Rows:
        """Rows start … end − 1 of the run, all still held."""
        return self.at(np.arange(start, end) % self.capacity)

    def put(self, start: int, rows: Rows) -> None:
        """Write rows back under their numbers in the run, beginning with `start`."""
        slots = np.arange(start, start + len(rows.reward)) % self.capacity
        for column, values in zip(self.rows, rows, strict=True):
            column[slots] = values
