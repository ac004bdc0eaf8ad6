"""What an episode says of a latent beside its observation: where it came from, where each action led, what that paid.

Three families of counts, each a table of distributions: the pair (z, a) before, as one distribution; the next latent
given the action; the reward given the action. A labelling of rows is good where these differ between labels. Summed
over rows, the log ratios below are the log-likelihood of the labels over that of one label for all: N times the mutual
information between labels and contexts, where the tables are the labels' own frequencies.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from optac.array_types import Array

PSEUDO_COUNT = 1.0
"""weight of the common table in each label's own"""
FLOOR = 1e-9


class Family(NamedTuple):
    """Outcomes of rows, `ids` = group · size + outcome: `groups` distributions over `size` outcomes each."""

    ids: Array
    groups: int
    size: int

    @property
    def cells(self) -> int:
        return self.groups * self.size

    def grouped(self, table: Array) -> Array:
        """A table (labels, cells) as (labels, groups, size)."""
        return table.reshape(len(table), self.groups, self.size)

    def totals(self, table: Array) -> Array:
        """Every cell's group total, in the shape of the table (labels, cells)."""
        return np.repeat(self.grouped(table).sum(axis=-1), self.size, axis=-1)


@dataclass(frozen=True)
class Contexts:
    """The families of a step's rows, and the rewards whatever the action, which only point out directions."""

    families: tuple[Family, ...]
    pooled: Family

    def take(self, rows: Array) -> "Contexts":
        """Those of some rows."""
        picked = tuple(family._replace(ids=family.ids[rows]) for family in self.families)
        return Contexts(picked, self.pooled._replace(ids=self.pooled.ids[rows]))

    def __len__(self) -> int:
        return len(self.pooled.ids)

    @cached_property
    def common(self) -> list[Array]:
        """Every family's frequencies when all rows have one label, (cells,)."""
        tables = []
        for family in self.families:
            counts = np.bincount(family.ids, minlength=family.cells)[None] + FLOOR
            tables.append((counts / family.totals(counts))[0])
        return tables

    def log_ratios(self, labels: Array) -> list[Array]:
        """log P(outcome|label) / P(outcome) of soft labels (rows, d), smoothed, a table (d, cells) a family."""
        tables = []
        for family, common in zip(self.families, self.common, strict=True):
            counts = np.stack([np.bincount(family.ids, one, family.cells) for one in labels.T])
            own = (counts + PSEUDO_COUNT * common) / (family.totals(counts) + PSEUDO_COUNT)
            tables.append(np.log(own / common))
        return tables

    def evidence(self, log_ratios: list[Array]) -> Array:
        """Σ over the families of every row's log ratios, (rows, d)."""
        parts = (table[:, family.ids].T for family, table in zip(self.families, log_ratios, strict=True))
        return np.asarray(sum(parts, start=np.zeros((len(self), 1))))

    @cached_property
    def unlabelled(self) -> float:
        """What `left_one_out` measures from: every row judged by the others' tables, with one label for all."""
        zero = np.zeros(len(self), dtype=np.int64)
        return self._left_one_out(zero, 1)

    def left_one_out(self, labels: Array, count: int) -> float:
        """Log-likelihood of hard labels over one label for all, every row judged by the others' tables."""
        return self._left_one_out(labels, count) - self.unlabelled

    def _left_one_out(self, labels: Array, count: int) -> float:
        gain = 0.0
        for family, common in zip(self.families, self.common, strict=True):
            flat = np.bincount(labels * family.cells + family.ids, minlength=count * family.cells)
            gain += float(left_one_out(family, flat.reshape(count, -1).astype(float), common).sum())
        return gain


def left_one_out(family: Family, counts: Array, common: Array) -> Array:
    """Σ over cells of N log P₋₁/P, P₋₁ a cell's smoothed frequency without the row itself, a number a label."""
    with np.errstate(divide="ignore", invalid="ignore"):
        own = (counts - 1 + PSEUDO_COUNT * common) / (family.totals(counts) - 1 + PSEUDO_COUNT)
        return np.asarray(np.where(counts > 0, counts * np.log(own / common), 0.0).sum(axis=-1))


def indistinct_pair(
    contexts: Contexts, labels: Array, count: int, least_gain: Array, past: list[Array]
) -> tuple[int, int] | None:
    """The two labels whose contexts are told almost as well when they are one: a gain furthest below `least_gain` nats.

    What is asked of every pair of labels is an entry of `least_gain`, (d, d). `past` has counts to add, (d, cells) a
    family: two latents that a settled policy treats each in its own way look alike, but for what was tried long ago.
    """
    tables = []
    for family, earlier in zip(contexts.families, past, strict=True):
        flat = np.bincount(labels * family.cells + family.ids, minlength=count * family.cells)
        tables.append(flat.reshape(count, -1) + earlier)
    sizes = np.bincount(labels, minlength=count)
    best, pair = 0.0, None
    for i in range(count):
        for j in range(i + 1, count):
            gain = -np.inf if min(sizes[i], sizes[j]) < 2 else 0.0
            for family, counts in zip(contexts.families, tables, strict=True):
                both = counts[[i, j]]
                together = both.sum(axis=0, keepdims=True)
                common = (together + FLOOR) / family.totals(together + FLOOR)
                gain += float(left_one_out(family, both, common).sum())
                gain -= float(left_one_out(family, together, common).sum())
            if gain - least_gain[i, j] < best:
                best, pair = gain - least_gain[i, j], (i, j)
    return pair
