"""Gaussian emissions by EM: the second class of rich observations, with a normalised likelihood.

μ_z'(x') = N(x'; m_z', Σ) with one Σ a step, so T̂_h(x'|x,a) = Σ_z' P_h(z'|z,a) N(x'; m_z', Σ) is a density of x' itself
and its maximum likelihood is the paper's, literally; z is the label of x by the step before. The posterior is a linear
softmax, as in the density-free class, and all that follows a fit is the same.

It clusters the observations. Where clusters are not latents, as with codes that carry no information but more variance,
the likelihood wants those clusters first and the latents are not found: the class that counts is the other one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from optac.array_types import Array
from optac.models.rich.data import RichData
from optac.models.rich.decoder_class import RichClass
from optac.models.rich.decoders import Decoders
from optac.models.rich.discriminant import softmax

SWEEPS = 8


@dataclass(frozen=True)
class Mixture:
    """Means, precision and log-determinant of Σ, log P(z|context) and log P(z), with the log-likelihood they have."""

    means: Array
    precision: Array
    log_determinant: float
    chances: Array
    shares: Array
    log_likelihood: float = -np.inf

    def scores(self, observations: Array) -> Array:
        """log N(x; m_z, Σ) up to a constant, (rows, d)."""
        weights = self.precision @ self.means.T
        squares = ((observations @ self.precision) * observations).sum(axis=1, keepdims=True)
        linear = observations @ weights - 0.5 * (self.means.T * weights).sum(axis=0)
        return np.asarray(linear - 0.5 * squares - 0.5 * self.log_determinant)


class GaussianClass(RichClass):
    """Gaussian emissions in R^dim with up to `rank` latents a step."""

    def _order(self, data: RichData) -> Iterable[int]:
        """Forwards: a mixture's contexts are the labels of the step before."""
        return range(data.horizon)

    def _refitted(self, data: RichData, h: int, decoders: Decoders, rng: np.random.Generator) -> Decoders:
        return clustered(data, h, decoders)


def clustered(data: RichData, h: int, decoders: Decoders) -> Decoders:
    """The decoders with step h's mixture fitted from its present labels, and grown while BIC gains."""
    observations = data.observations[h, : data.rows].astype(float)
    cells = np.zeros(data.rows, dtype=np.int64) if h == 0 else data.before(h)
    count = int(decoders.used[h])
    mixture = fitted(observations, cells, data.shares[h, : data.rows, :count].astype(float))
    while len(mixture.means) < data.rank:
        grown = max(
            (fitted(observations, cells, start) for start in _starts(observations, cells, mixture)),
            key=lambda one: one.log_likelihood,
        )
        parameters = observations.shape[1] + len(np.unique(cells))
        if grown.log_likelihood - mixture.log_likelihood < 0.5 * parameters * np.log(data.rows):
            break
        mixture = grown
    slope = mixture.precision @ mixture.means.T
    decoders = decoders.changed(h, slope, mixture.shares - 0.5 * (mixture.means.T * slope).sum(axis=0))
    data.decode_step(h, decoders)
    record = data.records[h]
    record.version += len(mixture.means) != count
    record.fitted = data.seen(h, decoders.used)
    record.label_counts = np.bincount(data.labels[h, : data.rows], minlength=len(mixture.means))
    record.episodes = data.episodes
    return decoders


def fitted(observations: Array, cells: Array, shares: Array) -> Mixture:
    """EM from soft labels (rows, d); the contexts' cells say what the step before knows of a row.

    D rows of the mean variance of all count with Σ, or few rows would leave it without an inverse.
    """
    rows, dim = observations.shape
    floor = dim / (dim + rows) * float(observations.var(axis=0).mean()) + 1e-9
    for _ in range(SWEEPS):
        mixture = _maximised(observations, cells, shares, floor)
        joint = mixture.scores(observations) + mixture.chances[cells]
        shares = softmax(joint)
    top = joint.max(axis=1)
    log_likelihood = float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).sum())
    return replace(mixture, log_likelihood=log_likelihood)


def _maximised(observations: Array, cells: Array, shares: Array, floor: float) -> Mixture:
    """The M-step: weighted means, the covariance within, and every context's frequencies, slightly smoothed."""
    sizes = shares.sum(axis=0) + 1e-9
    means = (shares.T @ observations) / sizes[:, None]
    within = observations.T @ observations - (means * sizes[:, None]).T @ means
    covariance = within / len(observations) + floor * np.eye(observations.shape[1])
    common = sizes / sizes.sum()
    counts = np.stack([np.bincount(cells, one, int(cells.max()) + 1) for one in shares.T], axis=1)
    chances = (counts + common) / (counts.sum(axis=1, keepdims=True) + 1.0)
    precision = np.linalg.inv(covariance)
    determinant = float(np.linalg.slogdet(covariance)[1])
    return Mixture(means, precision, determinant, np.log(chances + 1e-300), np.log(common + 1e-300))


def _starts(observations: Array, cells: Array, mixture: Mixture) -> list[Array]:
    """Labels with one more latent: around the row explained worst, and every latent halved along its widest axis."""
    joint = mixture.scores(observations) + mixture.chances[cells]
    labels, count = joint.argmax(axis=1), len(mixture.means)
    worst = joint.max(axis=1)
    centre = observations[worst.argmin()]
    apart = ((observations - centre) ** 2).sum(axis=1) < ((observations - mixture.means[labels]) ** 2).sum(
        axis=1
    )
    starts = [np.where(apart, count, labels)]
    for label in range(count):
        mine = np.flatnonzero(labels == label)
        if len(mine) > 2:
            centred = observations[mine] - observations[mine].mean(axis=0)
            widest = np.linalg.eigh(centred.T @ centred)[1][:, -1]
            halved = labels.copy()
            halved[mine[centred @ widest > 0]] = count
            starts.append(halved)
    return [np.eye(count + 1)[start] for start in starts]
