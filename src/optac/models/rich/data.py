"""What a learner remembers of rich episodes: a bounded buffer of whole episodes, each row with its present label."""

from dataclasses import dataclass, field

import numpy as np

from optac.array_types import Array
from optac.mdp.rich_problem import RichTrajectories
from optac.models.rich.contexts import Contexts, Family
from optac.models.rich.decoders import Decoders
from optac.models.rich.past import Past

SAME_REWARD = 5e-4
MOST_REWARDS = 16
FULL_CELL = 60
"""rows of a context beyond which more of them call for no new fit"""


@dataclass
class Seen:
    """What a fit had before it: rows in every context up to `FULL_CELL`, all rows, and the neighbours' versions."""

    cells: Array
    rows: int
    versions: tuple[int, ...]


@dataclass
class StepRecord:
    """When a step's decoder was last fitted, and each of its latents last tried for a split."""

    version: int = 0
    """how often its labels changed"""
    fitted: Seen | None = None
    label_counts: Array | None = None
    episodes: int = 0
    tried: dict[int, Seen] = field(default_factory=dict)
    tries: int = 0
    """splits tried so far"""


class RichData:
    """The last `capacity` episodes. It changes in place: a buffer of this size is not copied an iteration."""

    def __init__(self, horizon: int, dim: int, actions: int, rank: int, capacity: int) -> None:
        self.horizon, self.actions_count, self.rank, self.capacity = horizon, actions, rank, capacity
        self.observations = np.empty((horizon, capacity, dim), dtype=np.float32)
        self.actions = np.zeros((horizon, capacity), dtype=np.int64)
        self.reward_ids = np.zeros((horizon, capacity), dtype=np.int64)
        self.shares = np.zeros((horizon, capacity, rank), dtype=np.float32)
        """q_h(z|x) of every row under the present decoders"""
        self.labels = np.zeros((horizon, capacity), dtype=np.int64)
        self.reward_values = np.zeros(1)
        """the distinct rewards met so far, at most 16; a further one counts as the nearest"""
        self.episodes = 0
        self.records = [StepRecord() for _ in range(horizon)]
        self.fits = 0
        self.past = Past(horizon, actions, rank, MOST_REWARDS)
        self._undecoded: list[Array] = []

    @property
    def evidence(self) -> "RichData":
        """What a fit needs: all of it."""
        return self

    @property
    def rows(self) -> int:
        return min(self.episodes, self.capacity)

    def add_roll_ins(self, played: RichTrajectories, *, whole_trajectories: bool) -> "RichData":
        """The data with these episodes, which are always used whole."""
        numbers = self.episodes + np.arange(played.episodes)
        at = numbers % self.capacity
        self._leave(at[numbers >= self.capacity])
        self.observations[:, at] = played.observations
        self.actions[:, at] = played.actions
        self.reward_ids[:, at] = self._ids(played.rewards)
        self.episodes += played.episodes
        self._undecoded.append(at)
        return self

    def decode_new(self, decoders: Decoders) -> None:
        """Label the rows that came since the last fit."""
        for at in self._undecoded:
            for h in range(self.horizon):
                self._label(h, at, decoders)
        self._undecoded = []

    def decode_step(self, h: int, decoders: Decoders) -> None:
        """Label all rows of a step anew."""
        before = self.labels[h, : self.rows].copy()
        self._label(h, np.arange(self.rows), decoders)
        self.past.relabel(h, before, self.labels[h, : self.rows])

    def contexts(self, h: int, rows: Array, used: Array) -> Contexts:
        """Past, future and rewards of some rows of step h, under the present labels of its neighbours."""
        rewards = len(self.reward_values)
        action, paid = self.actions[h, rows], self.reward_ids[h, rows]
        families = [Family(action * rewards + paid, self.actions_count, rewards)] if rewards > 1 else []
        if h > 0:
            families.append(Family(self.before(h)[rows], 1, int(used[h - 1]) * self.actions_count))
        if h < self.horizon - 1:
            count = int(used[h + 1])
            if count > 1:
                families.append(Family(action * count + self.labels[h + 1, rows], self.actions_count, count))
        return Contexts(tuple(families), Family(paid, 1, rewards))

    def past_counts(self, h: int, labels: Array, used: Array, count: int) -> list[Array]:
        """What left the buffer, counted as `contexts` are, (count, cells) a family, if its rows had these labels."""
        rewards = len(self.reward_values)
        paid, following = self.past.futures(h, self.labels[h, : self.rows], labels)
        tables = [paid[:count, :, :rewards].reshape(count, -1)] if rewards > 1 else []
        if h > 0:
            tables.append(np.zeros((count, int(used[h - 1]) * self.actions_count)))
        if h < self.horizon - 1 and used[h + 1] > 1:
            tables.append(following[:count, :, : int(used[h + 1])].reshape(count, -1))
        return tables

    def before(self, h: int) -> Array:
        """The pair (z, a) before every row of step h > 0, as one number."""
        return self.labels[h - 1, : self.rows] * self.actions_count + self.actions[h - 1, : self.rows]

    def seen(self, h: int, used: Array, label: int | None = None) -> Seen:
        """What a fit of step h, or of one of its latents, has before it now."""
        cell = self.actions[h, : self.rows] if h == 0 else self.before(h)
        size = self.actions_count * (1 if h == 0 else int(used[h - 1]))
        if label is not None:
            cell = cell[self.labels[h, : self.rows] == label]
        near = self.records[max(0, h - 1) : h + 2]
        counts = np.minimum(np.bincount(cell, minlength=size), FULL_CELL)
        return Seen(counts, len(cell), tuple(record.version for record in near))

    def _leave(self, at: Array) -> None:
        """Count what is in these slots for good, before others take them."""
        if len(at):
            self.past.add(self.shares[:, at], self.labels[:, at], self.actions[:, at], self.reward_ids[:, at])

    def _label(self, h: int, at: Array, decoders: Decoders) -> None:
        shares = decoders.decode(h, self.observations[h, at])
        self.shares[h, at] = shares
        self.labels[h, at] = shares.argmax(axis=1)

    def _ids(self, rewards: Array) -> Array:
        distance = np.abs(np.unique(rewards)[:, None] - self.reward_values).min(axis=1)
        new = np.unique(rewards)[distance > SAME_REWARD]
        room = MOST_REWARDS - len(self.reward_values)
        self.reward_values = np.concatenate([self.reward_values, new[:room]])
        return np.asarray(np.abs(rewards[..., None] - self.reward_values).argmin(axis=-1))
