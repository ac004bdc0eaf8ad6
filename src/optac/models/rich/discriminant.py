"""The decoder's own fit: a linear softmax from soft labels in closed form, and EM around it.

The decoder is q(z|x) = softmax(xB + b). Its step of EM is linear discriminant analysis: class means and one covariance
within classes. No density is assumed of x: the decoder enters the likelihood as q alone, relative to the data's own
marginal. A maximum over all linear maps would fit the noise of rows whose contexts say nothing; this one puts the
border where the means leave it.
"""

import numpy as np

from optac.array_types import Array
from optac.models.rich.contexts import Contexts

WORTH_OF_X = (3.0, 6.0, 12.0, 24.0)
"""nats that an observation counts for in each sweep of EM: at first so few that contexts can move its label"""
DRIFT = 5.0
"""nats lost to the best sweep at which EM stops"""


def precision(features: Array, weights: Array | None = None) -> Array:
    """(Σ w x xᵀ + D·I)⁻¹, which fits of the decoder to the same rows, each of its weight w, have in common."""
    dim = features.shape[1]
    weighted = features if weights is None else features * weights[:, None]
    return np.asarray(np.linalg.inv(weighted.T @ features + dim * np.eye(dim)))


def discriminant(features: Array, labels: Array, common: Array) -> Array:
    """Weights (D + 1, d) of log q up to a constant; the covariance within is shrunk towards the identity.

    The scatter within is that of all rows, whose inverse is `common`, less what the d means m, each of n rows, account
    for. By Woodbury's identity its inverse times mᵀ is G (n⁻¹ − m G)⁻¹ n⁻¹ with G = common · mᵀ.
    """
    sizes = labels.sum(axis=0) + 1e-9
    means = (labels.T @ features) / sizes[:, None]
    shared = common @ means.T
    weights = shared @ np.linalg.inv(np.diag(1 / sizes) - means @ shared) / sizes
    weights *= sizes.sum() + features.shape[1]
    return np.vstack([weights, -0.5 * (means.T * weights).sum(axis=0)])


def logits(features: Array, weights: Array) -> Array:
    """Those of every label, (rows, d)."""
    return np.asarray(features @ weights[:-1] + weights[-1])


def softmax(values: Array) -> Array:
    """exp(values), normalised along the last axis."""
    scaled = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))


def tempered(values: Array, worth: float) -> Array:
    """Logits scaled so that the median row's lead is `worth` nats at most."""
    if values.shape[1] == 1:
        return values
    top = np.partition(values, -2, axis=1)
    lead = float(np.median(top[:, -1] - top[:, -2]))
    return values * min(1.0, worth / (lead + 1e-9))


def balanced(labels: Array) -> Array:
    """A weight a row, so that rare labels count: a label's rows together weigh as much as another's, within limits."""
    rows, count = labels.shape
    weights = np.clip(rows / count / np.maximum(labels.sum(axis=0), 1.0), 0.2, 5.0)
    return np.asarray(labels @ weights)


def expectation_maximisation(
    features: Array,
    contexts: Contexts,
    labels: Array,
    common: Array | None = None,
    margin: float = 0.0,
) -> tuple[Array, list[Array], float]:
    """The best sweep's decoder, its tables and its gain, left-one-out, from soft labels (rows, d).

    A sweep fits the decoder to the labels, the tables to the decoder's labels, and takes as the next labels what the
    tempered decoder and the contexts, past and future, say together. A later sweep must gain `margin` nats more than
    the best before it. With `common`, the rows' `precision`, all rows weigh the same; without it labels are balanced.
    """
    best: tuple[Array, list[Array], float] | None = None
    for worth in WORTH_OF_X:
        if common is None:
            share = balanced(labels)
            weights = discriminant(features, labels * share[:, None], precision(features, share))
        else:
            weights = discriminant(features, labels, common)
        values = logits(features, weights)
        tables = contexts.log_ratios(softmax(values))
        gain = contexts.left_one_out(values.argmax(axis=1), values.shape[1])
        if best is None or gain > best[2] + margin:
            best = weights, tables, gain
        elif gain < best[2] - DRIFT:
            break
        labels = softmax(tempered(values, worth) + contexts.evidence(tables))
    assert best is not None
    return best
