"""What the episodes that left the buffer had shown, kept as tables: visits, rewards and successors of latents.

A buffer alone forgets that an action was tried long ago, and the bonus would send the policy there again. The tables
are bounded, and count under the present labels: when a step is labelled anew, they move as its rows in the buffer do.
"""

import numpy as np

from optac.array_types import Array


class Past:
    """Sums over the rows of every step that are no longer held."""

    def __init__(self, horizon: int, actions: int, rank: int) -> None:
        self.gram = np.zeros((horizon, actions, rank, rank))
        """Σ q(·|x) q(·|x)ᵀ for each action"""
        self.tried = np.zeros((horizon, rank, actions))
        self.paid = np.zeros((horizon, rank, actions))
        self.following = np.zeros((horizon, rank, actions, rank))

    def add(self, shares: Array, labels: Array, actions: Array, rewards: Array) -> None:
        """Take in episodes: q (H, n, d) and hard labels, actions and rewards (H, n)."""
        rank = shares.shape[-1]
        count = self.tried.shape[-1]
        for h, (q, z, a) in enumerate(zip(shares, labels, actions, strict=True)):
            pair = z * count + a
            self.tried[h] += np.bincount(pair, minlength=rank * count).reshape(rank, count)
            self.paid[h] += np.bincount(pair, rewards[h], rank * count).reshape(rank, count)
            np.add.at(self.gram[h], a, q[:, :, None] * q[:, None, :])
            if h + 1 < len(labels):
                then = np.bincount(pair * rank + labels[h + 1], minlength=rank * rank * count)
                self.following[h] += then.reshape(rank, count, rank)

    def relabel(self, h: int, before: Array, after: Array) -> None:
        """Move the tables of step h as the labels of its rows moved; a label without rows stays what it is."""
        rank = self.tried.shape[1]
        flow = np.bincount(before * rank + after, minlength=rank * rank).reshape(rank, rank).astype(float)
        absent = np.flatnonzero(flow.sum(axis=1) == 0)
        flow[absent, absent] = 1.0
        flow /= flow.sum(axis=1, keepdims=True)
        self.tried[h], self.paid[h] = flow.T @ self.tried[h], flow.T @ self.paid[h]
        self.gram[h] = flow.T @ self.gram[h] @ flow
        self.following[h] = np.tensordot(flow.T, self.following[h], axes=1)
        if h > 0:
            self.following[h - 1] = self.following[h - 1] @ flow
