"""Splitting one latent into two: where to look, where to cut, and whether held-out rows agree.

A step starts with one latent. Its rows' contexts, less what the one label explains, are regressed on their
observations: the leading singular directions of that cross-covariance are where a decoder could tell something. Along
each, a threshold and a few sweeps of EM make two children. They are kept if they explain rows left out of all this.
"""

from dataclasses import dataclass

import numpy as np

from optac.array_types import Array
from optac.models.rich.contexts import Contexts, Family, left_one_out
from optac.models.rich.discriminant import expectation_maximisation, logits, precision, softmax

FOLDS = 4
DIRECTIONS = 2
FEWEST_ROWS = 8


@dataclass(frozen=True)
class Split:
    """A decoder of two children, or None if no split holds; its held-out gain, and how much there was to find."""

    weights: Array | None
    gain: float
    excess: float


def best_split(
    features: Array, contexts: Contexts, axes: Array, rng: np.random.Generator, *, accept: float, gate: float
) -> Split:
    """The split with the largest gain on held-out rows, if that is at least `accept` nats.

    `axes` are directions of large variance, further starts beside those that the contexts point out. The latter are
    not tried where the leading singular value stays below `gate` times what noise alone would make it.
    """
    rows = len(features)
    directions, excess = telling_directions(features, contexts)
    told = directions.shape[1] if excess >= gate else 0
    if rows < FEWEST_ROWS:
        return Split(None, 0.0, excess)
    directions, common = directions[:, :told], precision(features)
    starts = [_split_along(features, contexts, common, one) for one in (*directions.T, *axes.T)]
    order = [k for k in np.argsort([-gain for _, _, gain in starts]) if starts[k][2] >= accept][:2]
    if not order:
        return Split(None, 0.0, excess)
    gains = dict.fromkeys(order, 0.0)
    fold = rng.permutation(rows) % FOLDS
    for left_out in range(FOLDS):
        kept, tested = np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)
        seen, common = contexts.take(kept), precision(features[kept])
        found, _ = telling_directions(features[kept], seen)
        lines = (*found[:, :told].T, *axes.T)
        for k in order:
            if k < len(lines):
                weights, tables, _ = _split_along(features[kept], seen, common, lines[k])
                gains[k] += _held_out(features[tested], contexts.take(tested), weights, tables)
    best = max(order, key=lambda k: gains[k])
    return Split(starts[best][0] if gains[best] >= accept else None, gains[best], excess)


def telling_directions(features: Array, contexts: Contexts) -> tuple[Array, float]:
    """Directions of x that the contexts depend on, (D, ≤2), and the leading singular value over that of noise."""
    targets = _residuals(contexts)
    rows, dim = features.shape
    if targets.shape[1] == 0 or rows < 6:
        return np.zeros((dim, 0)), 0.0
    centred = features - features.mean(axis=0)
    covariance = centred.T @ centred / rows
    if not np.trace(covariance) > 0:  # all rows are equal
        return np.zeros((dim, 0)), 0.0
    shrinkage = 0.02 + dim / (dim + rows)
    covariance[np.diag_indices(dim)] += shrinkage * np.trace(covariance) / dim
    root = np.linalg.cholesky(covariance)
    cross = np.linalg.solve(root, centred.T @ targets / rows)
    left, singular, _ = np.linalg.svd(cross, full_matrices=False)
    excess = singular[0] * np.sqrt(rows) / (np.sqrt(dim) + np.sqrt(targets.shape[1]))
    return np.linalg.solve(root.T, left[:, :DIRECTIONS]), float(excess)


def loud_directions(features: Array, spread: Array) -> Array:
    """Directions of largest variance before whitening, as functionals of the whitened features."""
    plain = (features - features.mean(axis=0)) * spread
    _, vectors = np.linalg.eigh(plain.T @ plain)
    return np.asarray(spread[:, None] * vectors[:, -DIRECTIONS:])


def _residuals(contexts: Contexts) -> Array:
    """Indicators of the outcomes less their mean given the group, scaled to variance 1, (rows, outcomes)."""
    columns = [_family_residuals(family) for family in (*contexts.families, contexts.pooled)]
    return np.concatenate(columns, axis=1)


def _family_residuals(family: Family) -> Array:
    counts = np.bincount(family.ids, minlength=family.cells)
    totals = family.totals(counts[None])[0]
    chosen = np.flatnonzero((counts >= 2) & (counts < totals))
    share = counts[chosen] / totals[chosen]
    outcome = family.ids[:, None] == chosen
    group = (family.ids // family.size)[:, None] == chosen // family.size
    scale = np.sqrt(share * (1 - share) * totals[chosen] / len(family.ids))
    return np.asarray((outcome - group * share) / scale)


def _split_along(
    features: Array, contexts: Contexts, common: Array, direction: Array
) -> tuple[Array, list[Array], float]:
    """Two children from a direction: the best threshold, then EM."""
    scores = features @ direction
    above = scores > _threshold(contexts, scores)
    sides = np.stack([~above, above], axis=1).astype(float)
    return expectation_maximisation(features, contexts, sides, common)


def _threshold(contexts: Contexts, scores: Array) -> float:
    """Of a few dozen thresholds, tails of any size among them, the one whose sides explain the contexts best."""
    rows = len(scores)
    order = np.argsort(scores)
    tails = np.unique(np.geomspace(2, rows / 2, 14).astype(int))
    cuts = np.unique(np.concatenate([tails, rows - tails]))
    segment = np.empty(rows, dtype=np.int64)
    segment[order] = np.searchsorted(cuts, np.arange(rows), side="right")
    gain = np.zeros(len(cuts))
    for family, common in zip(contexts.families, contexts.common, strict=True):
        flat = np.bincount(segment * family.cells + family.ids, minlength=(len(cuts) + 1) * family.cells)
        counts = flat.reshape(len(cuts) + 1, -1).astype(float)
        below = counts.cumsum(axis=0)[:-1]
        gain += left_one_out(family, below, common)
        gain += left_one_out(family, counts.sum(axis=0) - below, common)
    cut = cuts[int(np.argmax(gain))]
    return float(0.5 * (scores[order[cut - 1]] + scores[order[cut]]))


def _held_out(features: Array, contexts: Contexts, weights: Array, tables: list[Array]) -> float:
    """Σ log Σ_z q(z|x) e^evidence over rows that the decoder and the tables were not fitted to."""
    shares = softmax(logits(features, weights)) * np.exp(contexts.evidence(tables))
    return float(np.log(shares.sum(axis=1) + 1e-300).sum())
