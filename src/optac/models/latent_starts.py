"""Where searches for latents start: at states that differ most, by what the transitions or their features say."""

from dataclasses import replace

import numpy as np

from optac.array_types import Array
from optac.models.latent_search import (
    TINY,
    Latents,
    Observed,
    counts_around,
    expected_counts,
    lower_bound,
    sums_by_index,
)

STIRRING = 1e-2


def fresh_start(seen: Observed, rng: np.random.Generator, guide: Latents | None) -> Latents:
    """One decoder for all steps, its latents started at states that differ most, as k-means++ picks centres.

    States differ by where they lead and whence they come, under the decoder of `guide`, or by their features: a coin
    decides where both are at hand. Without either they are started at random.
    """
    shape = 1, seen.states, seen.rank
    weights = None if seen.features is None else np.zeros((1, seen.features.shape[1], seen.rank))
    if seen.features is not None and (guide is None or rng.random() < 0.5):
        q = _feature_groups(seen, rng)
    elif guide is None:
        q = rng.dirichlet(np.ones(seen.rank), size=seen.states)
    else:
        q = _far_apart(_profiles(seen, guide), seen.rank, rng)
    q = q.reshape(shape)
    return Latents(q, expected_counts(seen, q), weights)


def split(seen: Observed, latents: Latents, k: int, rng: np.random.Generator) -> Latents:
    """One decoder for all steps with latent k in two, by its states' transitions, and the two others most alike in one.

    Where a search stands at a maximum that takes two latents for one, it has put a third one in two.
    """
    q = np.array(latents.q.mean(axis=0))
    others = [z for z in range(seen.rank) if z != k]
    merged = [_merged(q, i, j) for n, i in enumerate(others) for j in others[:n]]
    bounds = [
        lower_bound(seen, Latents(one[None], expected_counts(seen, one[None]), None)) for one, _ in merged
    ]
    q, empty = merged[int(np.argmax(bounds))]
    inside = (q.argmax(axis=-1) == k) & seen.visited.any(axis=0)
    if inside.sum() > 1:
        halves = _far_apart([table[inside] for table in _profiles(seen, latents)], 2, rng)
        mass = q[inside, k]
        q[inside, k], q[inside, empty] = mass * halves[:, 0], mass * halves[:, 1]
    q = ((1 - STIRRING) * q + STIRRING / seen.rank)[None]
    weights = None if latents.weights is None else np.zeros((1, *latents.weights.shape[1:]))
    return Latents(q, expected_counts(seen, q), weights)


def _merged(q: Array, i: int, j: int) -> tuple[Array, int]:
    """q with latent j taken into i, and the place that is empty then."""
    q = q.copy()
    q[:, i] += q[:, j]
    q[:, j] = 0.0
    return q, j


def _profiles(seen: Observed, guide: Latents) -> list[Array]:
    """Where every state leads and whence it comes, at every step: its counts of next and of last latents."""
    decoder = guide.at_every_step(seen.horizon)
    size = seen.states * seen.horizon * seen.actions
    after = sums_by_index(
        (seen.state * seen.horizon + seen.step) * seen.actions + seen.action,
        seen.numbers[:, None] * decoder[seen.step + 1, seen.following],
        size,
    )
    before = sums_by_index(
        (seen.following * seen.horizon + seen.step) * seen.actions + seen.action,
        seen.numbers[:, None] * decoder[seen.step, seen.state],
        size,
    )
    return [
        after.reshape(seen.states, -1, seen.rank),
        before.reshape(seen.states, seen.horizon, -1),
    ]


def reseeded(seen: Observed, latents: Latents, h: int, rng: np.random.Generator) -> Latents:
    """The latents of step h started anew, those of the other steps as they are."""
    tables = []
    here = seen.part(h, h)
    index = here.state * seen.actions + here.action
    after = sums_by_index(
        index, here.numbers[:, None] * latents.q[h + 1][here.following], seen.states * seen.actions
    )
    tables.append(after.reshape(seen.states, seen.actions, seen.rank))
    if h > 0:
        there = seen.part(h - 1, h - 1)
        index = there.following * seen.actions + there.action
        before = sums_by_index(
            index, there.numbers[:, None] * latents.q[h - 1][there.state], seen.states * seen.actions
        )
        tables.append(before.reshape(seen.states, 1, -1))
    q = latents.q.copy()
    q[h] = _far_apart(tables, seen.rank, rng)
    changed = replace(latents, q=q)
    return replace(changed, table_counts=counts_around(seen, changed, h))


def _feature_groups(seen: Observed, rng: np.random.Generator) -> Array:
    """States by the nearest of d feature vectors far from one another."""
    assert seen.features is not None
    visited = seen.visited.any(axis=0)
    gain = visited.astype(float)
    distances: list[Array] = []
    for _ in range(seen.rank):
        centre = rng.choice(seen.states, p=gain / gain.sum()) if gain.sum() > 0 else rng.integers(seen.states)
        distances.append(((seen.features - seen.features[centre]) ** 2).sum(axis=-1))
        gain = np.where(visited, np.min(distances, axis=0), 0.0)
    nearest = np.argmin(distances, axis=0)
    return 0.9 * np.eye(seen.rank)[nearest] + 0.1 / seen.rank


def _far_apart(tables: list[Array], rank: int, rng: np.random.Generator) -> Array:
    """q started at d states far from one another by what a centre of their own would gain them in likelihood.

    Each table (S, rows, columns) counts outcomes of every state, a distribution a row.
    """
    pooled = [_shares(table.sum(axis=0, keepdims=True) + 0.1) for table in tables]
    own = sum(_log_likelihoods(table, _shares(table)) for table in tables)
    best = sum(_log_likelihoods(table, pool) for table, pool in zip(tables, pooled, strict=True))
    centres: list[Array] = []
    for _ in range(rank):
        gain = np.maximum(np.asarray(own) - np.asarray(best), 0.0)
        total = gain.sum()
        centre = rng.choice(len(gain), p=gain / total) if total > 0 else int(rng.integers(len(gain)))
        likelihood = np.asarray(
            sum(
                _log_likelihoods(table, _shares(table[centre : centre + 1] + pool))
                for table, pool in zip(tables, pooled, strict=True)
            )
        )
        centres.append(likelihood)
        best = np.max(centres, axis=0)
    logits = np.stack(centres, axis=-1)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    q = weights / weights.sum(axis=-1, keepdims=True)
    return (1 - STIRRING) * q + STIRRING / rank


def _shares(table: Array) -> Array:
    return table / np.maximum(table.sum(axis=-1, keepdims=True), TINY)


def _log_likelihoods(table: Array, shares: Array) -> Array:
    """Σ over a state's outcomes of their number times the log of their share."""
    return np.asarray((table * np.log(np.maximum(shares, TINY))).sum(axis=(1, 2)))
