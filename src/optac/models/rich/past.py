"""What the episodes that left the buffer had shown, kept as tables: visits, rewards and successors of latents.

A buffer alone forgets that an action was tried long ago, and the bonus would send the policy there again. The tables
are bounded, and count under the present labels: when a step is labelled anew, they move as its rows in the buffer do.
"""

import numpy as np

from optac.array_types import Array


class Past:
    """Sums over the rows of every step that are no longer held."""

    def __init__(self, horizon: int, actions: int, rank: int, rewards: int) -> None:
        self.gram = np.zeros((horizon, actions, rank, rank))
        """Σ q(·|x) q(·|x)ᵀ for each action"""
        self.paid = np.zeros((horizon, rank, actions, rewards))
        """how often a latent's action paid each of the distinct rewards"""
        self.following = np.zeros((horizon, rank, actions, rank))

    def add(self, shares: Array, labels: Array, actions: Array, reward_ids: Array) -> None:
        """Take in episodes: q (H, n, d) and hard labels, actions and numbers of rewards (H, n)."""
        for h, (q, z, a) in enumerate(zip(shares, labels, actions, strict=True)):
            np.add.at(self.paid[h], (z, a, reward_ids[h]), 1)
            np.add.at(self.gram[h], a, q[:, :, None] * q[:, None, :])
            if h + 1 < len(labels):
                np.add.at(self.following[h], (z, a, labels[h + 1]), 1)

    def relabel(self, h: int, before: Array, after: Array) -> None:
        """Move the tables of step h as the labels of its rows moved; a label without rows stays what it is."""
        flow = self._flow(before, after)
        self.paid[h] = np.tensordot(flow, self.paid[h], axes=1)
        self.gram[h] = flow @ self.gram[h] @ flow.T
        self.following[h] = np.tensordot(flow, self.following[h], axes=1)
        if h > 0:
            self.following[h - 1] = self.following[h - 1] @ flow.T

    def futures(self, h: int, before: Array, after: Array) -> tuple[Array, Array]:
        """Whole counts of the rewards and of the successors of step h, if its labels were to move like this."""
        flow = self._flow(before, after)
        paid, following = (np.tensordot(flow, table[h], axes=1) for table in (self.paid, self.following))
        return np.rint(paid), np.rint(following)

    def _flow(self, before: Array, after: Array) -> Array:
        """The share of each old label's rows that has each new one, (new, old)."""
        rank = self.paid.shape[1]
        flow = np.bincount(before * rank + after, minlength=rank * rank).reshape(rank, rank).astype(float)
        absent = np.flatnonzero(flow.sum(axis=1) == 0)
        flow[absent, absent] = 1.0
        return np.asarray((flow / flow.sum(axis=1, keepdims=True)).T)
