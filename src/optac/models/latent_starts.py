"""Where searches for latents start: at states that differ most, by what the transitions or their features say."""

from dataclasses import replace

import numpy as np

from optac.array_types import Array
from optac.models.latent_search import TINY, Latents, Observed, counts_around, expected_counts, sums_by_index

STIRRING = 1e-2


def fresh_start(seen: Observed, rng: np.random.Generator, guide: Latents | None) -> Latents:
    """One decoder for all steps, its latents started at states that differ most, as k-means++ picks centres.

    States differ by where they lead and whence they come, under the decoder of `guide`, or by their features: a coin
    decides where both are at hand.
    """
    shape = 1, seen.states, seen.rank
    weights = None if seen.features is None else np.zeros((1, seen.features.shape[1], seen.rank))
    if seen.features is not None and (guide is None or rng.random() < 0.5):
        q = _feature_groups(seen, rng)
    elif guide is None:
        q = rng.dirichlet(np.ones(seen.rank), size=seen.states)
    else:
        decoder = guide.at_every_step(seen.horizon)
        after = sums_by_index(
            (seen.state * seen.horizon + seen.step) * seen.actions + seen.action,
            seen.numbers[:, None] * decoder[seen.step + 1, seen.following],
            seen.states * seen.horizon * seen.actions,
        ).reshape(seen.states, -1, seen.rank)
        before = sums_by_index(
            (seen.following * seen.horizon + seen.step) * seen.actions + seen.action,
            seen.numbers[:, None] * decoder[seen.step, seen.state],
            seen.states * seen.horizon * seen.actions,
        ).reshape(seen.states, seen.horizon, -1)
        q = _far_apart([after, before], seen.rank, rng)
    q = q.reshape(shape)
    return Latents(q, expected_counts(seen, q), weights)


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
