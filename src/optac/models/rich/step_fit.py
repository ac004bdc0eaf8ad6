"""The fit of one step: when it is due, on which rows, and its course from whitening over splits and EM to mergers."""

import numpy as np

from optac.array_types import Array
from optac.models.rich.contexts import indistinct_pair
from optac.models.rich.data import FULL_CELL, RichData, Seen
from optac.models.rich.decoders import Decoders
from optac.models.rich.discriminant import expectation_maximisation, logits, softmax
from optac.models.rich.splits import FEWEST_ROWS, best_split, loud_directions

ROWS_OF_A_FIT = 1_500
ROWS_PER_DIRECTION = 8
"""rows of a fit for every direction of x that its decoder may look at"""
WIDE, ROWS_PER_WIDE_DIRECTION = 256, 16
"""dimensions above which even a full fit has few rows for each, and how many of them a direction must have then"""
ACCEPT = 6.0
"""nats on held-out rows that the first split tried at a step must gain; the n-th must gain log n more"""
GATE = 1.0
"""least leading singular value over that of noise at which a split is tried"""
MERGE = 3.0
"""nats below which two latents are one"""
BLUR = 0.05
"""mean share of the less likely of two latents, over their rows, above which the decoder leaves them open"""
GROWTH, CELL_GROWTH = 0.2, 0.08


def due(data: RichData, h: int, decoders: Decoders) -> bool:
    """Whether step h or one of its latents has grown since its last fit, or half the buffer has turned over."""
    record = data.records[h]
    if record.fitted is None or record.label_counts is None:
        return True
    before = record.label_counts
    now = np.bincount(data.labels[h, : data.rows], minlength=len(before))
    turned = data.episodes > data.capacity and data.episodes - record.episodes >= data.capacity // 2
    larger = bool((now >= (1 + GROWTH) * before + 6).any())
    return turned or larger or _grown(record.fitted, data.seen(h, decoders.used))


def refitted(data: RichData, h: int, decoders: Decoders, rng: np.random.Generator) -> Decoders:
    """The decoders with step h fitted to its rows, which are labelled anew."""
    rows = _picked(data, h, rng, np.arange(data.rows))
    observations, labels = data.observations[h, rows].astype(float), data.labels[h, rows]
    mean, whiten, spread = whitening(observations, labels)
    features = (observations - mean) @ whiten
    contexts = data.contexts(h, rows, decoders.used)
    count = int(decoders.used[h])
    labels, now = _split(data, h, decoders.used, features, labels, (mean, whiten, spread), rng)
    if now > 1:
        # A decoder that moves away from labels that are right gains by noise, up to half a nat a weight.
        weights, _, _ = expectation_maximisation(
            features, contexts, np.eye(now)[labels], margin=features.shape[1] / 2
        )
        weights = _merged(data, h, decoders.used, features, weights, (mean, whiten), rows)
    else:
        weights = np.zeros((features.shape[1] + 1, 1))
    slope = whiten @ weights[:-1]
    decoders = decoders.changed(h, slope, weights[-1] - mean @ slope)
    data.decode_step(h, decoders)
    record = data.records[h]
    if now != count or weights.shape[1] != now:
        record.version += 1
        record.tried = {}
    record.fitted = data.seen(h, decoders.used)
    record.label_counts = np.bincount(data.labels[h, : data.rows], minlength=weights.shape[1])
    record.episodes = data.episodes
    return decoders


def _split(
    data: RichData,
    h: int,
    used: Array,
    features: Array,
    labels: Array,
    map_: tuple[Array, Array, Array],
    rng: np.random.Generator,
) -> tuple[Array, int]:
    """The labels after every split that holds, and how many labels there are."""
    count, record = int(used[h]), data.records[h]
    mean, whiten, spread = map_
    labels = labels.copy()
    for label in np.argsort(-np.bincount(labels, minlength=count)):
        mine = np.flatnonzero(labels == label)
        if count == data.rank or len(mine) < FEWEST_ROWS:
            continue
        seen = data.seen(h, used, int(label))
        last = record.tried.get(int(label))
        if last is not None and not _grown(last, seen):
            continue
        record.tried[int(label)] = seen
        own = _picked(data, h, rng, np.flatnonzero(data.labels[h, : data.rows] == label))
        inside = (data.observations[h, own] - mean) @ whiten
        axes = loud_directions(inside, spread)
        record.tries += 1
        accept = ACCEPT + np.log(record.tries)
        found = best_split(inside, data.contexts(h, own, used), axes, rng, accept=accept, gate=GATE)
        if found.weights is not None:
            child = logits(features[mine], found.weights).argmax(axis=1)
            labels[mine[child == 1]] = count
            count += 1
    return labels, count


def _merged(
    data: RichData,
    h: int,
    used: Array,
    features: Array,
    weights: Array,
    map_: tuple[Array, Array],
    rows: Array,
) -> Array:
    """The decoder with two latents made one, where the contexts of all rows do not tell them apart."""
    count = weights.shape[1]
    mean, whiten = map_
    everything = np.arange(data.rows)
    slope = (whiten @ weights[:-1]).astype(np.float32)
    values = data.observations[h, : data.rows] @ slope + (weights[-1] - mean @ slope).astype(np.float32)
    least = least_gains(softmax(values), whiten.shape[1])
    now = values.argmax(axis=1)
    past = data.past_counts(h, now, used, count)
    pair = indistinct_pair(data.contexts(h, everything, used), now, count, least, past)
    if pair is None:
        return weights
    shares = softmax(logits(features, weights))
    shares[:, pair[0]] += shares[:, pair[1]]
    shares = np.delete(shares, pair[1], axis=1)
    if count == 2:
        return np.zeros((features.shape[1] + 1, 1))
    contexts = data.contexts(h, rows, used)
    return expectation_maximisation(features, contexts, shares)[0]


def least_gains(shares: Array, dim: int) -> Array:
    """The nats that every pair of latents must gain on the rows of these shares (rows, d) to stay two, (d, d).

    The decoder was fitted to these very rows. Where it leaves two latents open, since the observations do not fall into
    two groups, its weights are fitted to noise, which gains dim/2 nats for nothing: they are asked for on top.
    """
    count = shares.shape[1]
    least = np.full((count, count), MERGE)
    top = shares.argmax(axis=1)
    for i in range(count):
        for j in range(i + 1, count):
            both = shares[(top == i) | (top == j)][:, [i, j]]
            if len(both) and (both.min(axis=1) / both.sum(axis=1)).mean() > BLUR:
                least[i, j] += dim / 2
    return least


def _grown(old: Seen, new: Seen) -> bool:
    """Whether the rows grew by a fifth, those of contexts not yet full by a twelfth, or a neighbour changed."""
    if old.versions != new.versions or len(old.cells) != len(new.cells):
        return True
    room = old.cells[old.cells < FULL_CELL].sum()
    more = (new.cells - old.cells).clip(0).sum()
    return bool(new.rows - old.rows >= max(6, GROWTH * old.rows) or more >= max(4, CELL_GROWTH * room))


def _picked(data: RichData, h: int, rng: np.random.Generator, among: Array) -> Array:
    """At most some 1,500 of these rows, rare contexts first: every (z, a) before and action now gets an equal share."""
    if len(among) <= ROWS_OF_A_FIT:
        return among
    cell = data.actions[h, among] + (data.actions_count * data.before(h)[among] if h > 0 else 0)
    sizes = np.bincount(cell)
    return among[rng.random(len(among)) * sizes[cell] < _level(sizes[sizes > 0])]


def _level(sizes: Array) -> float:
    """The cap L with Σ min(size, L) = ROWS_OF_A_FIT."""
    ordered = np.sort(sizes)
    below = np.concatenate([[0], np.cumsum(ordered)[:-1]])
    above = len(ordered) - np.arange(len(ordered))
    full = np.flatnonzero(below + above * ordered >= ROWS_OF_A_FIT)
    if not len(full):
        return float(ordered[-1])
    first = int(full[0])
    return float((ROWS_OF_A_FIT - below[first]) / above[first])


def whitening(observations: Array, labels: Array) -> tuple[Array, Array, Array]:
    """The mean, a map to whitened features, and the spread of each feature before it was whitened.

    Under the map the covariance within the present latents is the identity, slightly shrunk. It keeps one direction for
    every eight rows, the loudest: with more than the rows can tell apart, a decoder is fitted to noise. Wide
    observations are cut first, to one direction for every sixteen rows, the loudest over all rows and not within the
    latents: there the direction in which two of them differ is as quiet as any.
    """
    rows, dim = observations.shape
    mean = observations.mean(axis=0)
    centred, basis = observations - mean, None
    if dim > WIDE:
        basis = np.linalg.eigh(centred.T @ centred)[1][:, -max(1, rows // ROWS_PER_WIDE_DIRECTION) :]
        centred = centred @ basis
    for label in np.unique(labels):
        mine = labels == label
        centred[mine] -= centred[mine].mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / rows)
    kept = min(centred.shape[1], max(1, rows // ROWS_PER_DIRECTION))
    values, vectors = values[-kept:].clip(0), vectors[:, -kept:]
    shrinkage = 1e-3 + 0.1 * kept / (kept + rows)
    spread = np.sqrt(values + shrinkage * (values.mean() + 1e-12))
    whiten = vectors / spread
    return mean, whiten if basis is None else basis @ whiten, spread
