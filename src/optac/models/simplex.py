"""The latent-variable class: T(s'|s,a) = Σ_z φ(z|s,a) μ(s'|z) with both factors on the simplex.

Fitted by expectation maximisation on counts, every step of the horizon at once. A sweep is three matrix
products, or where a table over (h, s, a, s') would be large as many over the transitions seen (`sparse_em`); the
likelihood never falls. The problem is not convex, hence several starts. With d ≥ S the class holds every kernel and
the maximum is the table of frequencies.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from optac.array_types import Array, Counts, Mu, Phi
from optac.errors import InvalidInput
from optac.mdp.values import check_table, is_large
from optac.models.data import TransitionData
from optac.models.low_rank import LowRankModel
from optac.models.sparse_em import FLOOR, SparseEvidence
from optac.models.transition_counts import TransitionCounts, dense_counts

STIRRING = 1e-3


class DenseEvidence:
    """Counts as a table over (h, s, a, s'), and the memory that the sweeps of a fit share."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        self.shape = counts.shape[:3]
        self.free = counts.sum(axis=-1) == 0
        self.samples = int(counts.sum())
        self._room = np.empty((2, *counts.shape))

    def sweep(self, phi: Array, mu: Array) -> tuple[Array, Array, Array]:
        """One E and M step, with the log-likelihood of every step before it."""
        return em_sweep(self.counts, phi, mu, self._room)

    def log_likelihood(self, phi: Array, mu: Array) -> Float[np.ndarray, " horizon"]:
        """Σ N_h(s,a,s') log T̂_h(s'|s,a) of every step."""
        return log_likelihood(self.counts, phi, mu)

    def spread(self, rank: int, rng: np.random.Generator) -> Float[np.ndarray, "horizon rank next"]:
        """Observed next-state frequencies far from one another, as k-means++ picks centres."""
        horizon, states, actions = self.shape
        rows = self.counts.reshape(horizon, states * actions, states).astype(float)
        visits = rows.sum(axis=-1)
        frequencies = rows / np.maximum(visits, 1)[..., None]
        mu = np.empty((horizon, rank, states))
        for h in range(horizon):
            distance = visits[h].copy()
            for z in range(rank):
                total = distance.sum()
                if total <= 0:
                    mu[h, z] = rng.dirichlet(np.ones(states))
                    continue
                mu[h, z] = frequencies[h, rng.choice(len(distance), p=distance / total)]
                nearest = np.abs(frequencies[h, :, None] - mu[h, None, : z + 1]).sum(-1).min(-1)
                distance = visits[h] * nearest**2
        return mu


Evidence: TypeAlias = DenseEvidence | SparseEvidence


@dataclass(frozen=True)
class SimplexClass:
    """All (φ, μ) of rank d on the simplex.

    `sweeps` bounds one fit; it ends earlier once a sweep gains less than the slack it was asked for.
    `restarts` fresh starts compete with the warm one whenever the data have doubled since the last time.
    """

    rank: int
    sweeps: int = 50
    restarts: int = 4

    def check(self, states: int, actions: int) -> None:
        """A rank larger than S·A cannot be told apart from S·A by any data, and frequencies are a table: refused."""
        if not 1 <= self.rank <= states * actions:
            raise InvalidInput(
                f"rank={self.rank} is out of range; with {states} states and {actions} actions "
                f"rank must be between 1 and S·A = {states * actions}"
            )
        if self.rank >= states:
            check_table(1, states, actions)

    def empty_data(self, horizon: int, states: int, actions: int) -> TransitionData:
        """Where a learner's memory starts."""
        return TransitionData.empty(horizon, states, actions)

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log |Θ| of a net fine enough for `samples` samples: one log(samples) a free parameter."""
        free = horizon * (states * actions * (self.rank - 1) + self.rank * (states - 1))
        return free * float(np.log(max(samples, 2)))

    def fit(
        self,
        counts: Counts | TransitionCounts,
        previous: LowRankModel | None,
        *,
        slack: float,
        rng: np.random.Generator,
    ) -> LowRankModel:
        """The likeliest model EM finds, at least as likely as `previous`; a start ends when a sweep gains ≤ slack."""
        if self.rank >= counts.shape[1]:
            return self._frequencies(dense_counts(counts))
        if isinstance(counts, TransitionCounts) and is_large(*counts.shape):
            evidence: Evidence = SparseEvidence(counts)
        else:
            evidence = DenseEvidence(dense_counts(counts))
        if previous is None or evidence.samples >= 2 * previous.restarted_at:
            starts = [self._fresh_start(evidence, rng) for _ in range(self.restarts)]
            restarted_at = evidence.samples
        else:
            starts, restarted_at = [], previous.restarted_at
        if previous is not None:
            starts.append(_stirred(previous.phi, previous.mu, rng))
        fits = [self._maximise(evidence, phi, mu, slack) for phi, mu in starts]
        if previous is not None:
            fits.append(_model(evidence, previous.phi, previous.mu))
        return replace(_best_of_each_step(fits), restarted_at=restarted_at, starts=len(starts))

    def _frequencies(self, counts: Counts) -> LowRankModel:
        """N(s,a,s')/N(s,a) with μ the identity, padded with unused factors up to the rank."""
        horizon, states, actions, _ = counts.shape
        phi = np.zeros((horizon, states, actions, self.rank))
        visits = counts.sum(axis=-1, keepdims=True)
        phi[..., :states] = counts / np.maximum(visits, 1)
        mu = np.zeros((horizon, self.rank, states))
        mu[:, :states] = np.eye(states)
        mu[:, states:] = 1.0 / states
        likelihood = np.einsum("hsan,hsan->h", counts, np.log(np.maximum(phi[..., :states], FLOOR)))
        free = visits[..., 0] == 0
        phi[free] = 1.0 / self.rank
        return LowRankModel(phi, mu, likelihood, free)

    def _fresh_start(self, evidence: Evidence, rng: np.random.Generator) -> tuple[Array, Array]:
        horizon, states, actions = evidence.shape
        mu = evidence.spread(self.rank, rng)
        return _stirred(np.full((horizon, states, actions, self.rank), 1.0 / self.rank), mu, rng)

    def _maximise(self, evidence: Evidence, phi: Array, mu: Array, slack: float) -> LowRankModel:
        likelihood = -np.inf
        for _ in range(self.sweeps):
            phi, mu, before = evidence.sweep(phi, mu)
            if before.sum() - likelihood <= slack:
                break
            likelihood = before.sum()
        return _model(evidence, phi, mu)


def em_sweep(
    counts: Counts, phi: Phi, mu: Mu, room: Float[np.ndarray, "2 horizon state action next"] | None = None
) -> tuple[Phi, Mu, Float[np.ndarray, " horizon"]]:
    """One E and M step: φ ∝ φ·(N/T̂)μᵀ and μ ∝ μ·φᵀ(N/T̂), with the log-likelihood before it.

    What no data touch stays: φ uniform, μ as it is. T̂ and N/T̂ are written into `room`: asking the system for fresh
    memory in every sweep would take several times the arithmetic.
    """
    horizon, states, actions, rank = phi.shape
    rows = phi.reshape(horizon, states * actions, rank)
    seen = counts.reshape(horizon, states * actions, states)
    room = np.empty((2, *counts.shape)) if room is None else room
    transitions, ratio = room.reshape(2, *seen.shape)
    np.maximum(np.matmul(rows, mu, out=transitions), FLOOR, out=transitions)
    np.divide(seen, transitions, out=ratio)
    new_rows = rows * (ratio @ mu.transpose(0, 2, 1))
    new_mu = mu * (rows.transpose(0, 2, 1) @ ratio)
    mass, factor_mass = new_rows.sum(-1, keepdims=True), new_mu.sum(-1, keepdims=True)
    new_rows = np.where(mass > 0, new_rows / np.maximum(mass, FLOOR), 1.0 / rank)
    new_mu = np.where(factor_mass > 0, new_mu / np.maximum(factor_mass, FLOOR), mu)
    likelihood = np.einsum("hxn,hxn->h", seen, np.log(transitions, out=transitions))
    return new_rows.reshape(phi.shape), new_mu, likelihood


def log_likelihood(counts: Counts, phi: Phi, mu: Mu) -> Float[np.ndarray, " horizon"]:
    """Σ N_h(s,a,s') log T̂_h(s'|s,a) of every step."""
    transitions = np.maximum(phi @ mu[:, None], FLOOR)
    return np.einsum("hsan,hsan->h", counts, np.log(transitions))


def _model(evidence: Evidence, phi: Array, mu: Array) -> LowRankModel:
    free = evidence.free
    phi = np.where(free[..., None], 1.0 / phi.shape[-1], phi)
    return LowRankModel(phi, mu, evidence.log_likelihood(phi, mu), free)


def _stirred(phi: Array, mu: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A little random mass everywhere: zeros and equal factors are fixed points of EM that no new data leave."""
    return (
        (1 - STIRRING) * phi + STIRRING / phi.shape[-1],
        (1 - STIRRING) * mu + STIRRING * rng.dirichlet(np.ones(mu.shape[-1]), size=mu.shape[:-1]),
    )


def _best_of_each_step(fits: list[LowRankModel]) -> LowRankModel:
    """The likeliest fit, chosen apart for every step since steps share no parameter."""
    best = np.argmax([fit.log_likelihood for fit in fits], axis=0)
    steps = range(len(best))
    return LowRankModel(
        np.stack([fits[best[h]].phi[h] for h in steps]),
        np.stack([fits[best[h]].mu[h] for h in steps]),
        np.array([fits[best[h]].log_likelihood[h] for h in steps]),
        fits[0].free,
    )
