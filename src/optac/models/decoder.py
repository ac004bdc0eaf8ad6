"""A class that generalises over states: each state shows one of d latents, and which one is unknown.

T_h(s'|s,a) = Σ_z q_h(z|s) Σ_z' P_h(z'|z,a) o_{h+1}(s'|z'), so φ_h(s,a) = Σ_z q_h(z|s) P_h(·|z,a) and μ_h is the
emission, which the decoder gives by Bayes: o_h(s|z) = ν_h(s) q_h(z|s) / ν_h(z), ν_h the states' frequencies in the
data. A pair never tried is known as well as its latent's, and a state seen once is known as soon as it is decoded.

Every state's latent is a hidden variable, drawn from a prior π(z), or where states come with feature vectors x(s)
(`linear`) from a softmax of a linear function of them, π(z|s) ∝ exp(⟨w_z, x(s)⟩): then states never seen are decoded
too. The tables P have a Dirichlet(½) prior. What is maximised is the likelihood with both integrated out, by
variational EM (`latent_search`): maximising over the decoder itself would explain noise by splitting latents. One
decoder for all steps competes with one for every step, and the likelier is taken.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.array_types import Array, Counts
from optac.errors import InvalidInput
from optac.models.data import TransitionData
from optac.models.latent_search import Latents, Observed, search
from optac.models.latent_starts import fresh_start, reseeded, split
from optac.models.low_rank import LowRankModel
from optac.models.simplex import SimplexClass
from optac.models.transition_counts import TransitionCounts, dense_counts

GROWTH = 1.2
TOUCHED = 1e-3


@dataclass(frozen=True)
class DecodedModel(LowRankModel):
    """The fitted factors, and the latents where the next fit starts."""

    latents: Latents | None = None


@dataclass(frozen=True)
class DecoderClass:
    """All decoders onto d latents with all tables between latents; `features` (S, p) are the states' vectors, if any.

    A fit starts at the last one. Whenever the data have grown by a fifth, others compete with it: the last one with one
    latent split and two others merged, for up to `restarts` latents; two fresh starts of one decoder for all steps
    (`restarts` in the first fit); and a decoder for every step, each of whose steps is started anew once. Each start is
    an SL call.
    """

    rank: int
    features: Float[np.ndarray, "state feature"] | None = field(default=None, repr=False)
    sweeps: int = 30
    restarts: int = 4

    def check(self, states: int, actions: int) -> None:
        """There are no more latents than states, and every state has its feature vector."""
        if not 1 <= self.rank <= states:
            raise InvalidInput(
                f"rank={self.rank} is out of range; with {states} states a decoder has 1 to {states} latents"
            )
        if self.features is not None and len(self.features) != states:
            raise InvalidInput(
                f"{len(self.features)} feature vectors were given for {states} states; give each one"
            )

    def empty_data(self, horizon: int, states: int, actions: int) -> TransitionData:
        """Where a learner's memory starts."""
        return TransitionData.empty(horizon, states, actions)

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log |Θ|: log d a state and step, or log(samples) a weight of the softmax, and as much an entry of P."""
        entry = float(np.log(max(samples, 2)))
        tables = horizon * actions * self.rank * (self.rank - 1) * entry
        if self.features is None:
            return horizon * states * float(np.log(self.rank)) + tables
        return horizon * self.features.shape[1] * (self.rank - 1) * entry + tables

    def fit(
        self,
        counts: TransitionCounts | Counts,
        previous: LowRankModel | None,
        *,
        slack: float,
        rng: np.random.Generator,
    ) -> LowRankModel:
        """The likeliest latents found; a search ends when a sweep gains at most `slack`.

        With as many latents as states nothing is taken together, and the fit is the table of frequencies.
        """
        counts = TransitionCounts.of(counts)
        if self.rank >= counts.shape[1]:
            return SimplexClass(self.rank).fit(dense_counts(counts), None, slack=slack, rng=rng)
        seen = Observed(counts, self.rank, self.features)
        last = previous.latents if isinstance(previous, DecodedModel) else None
        restarted_at = 0 if previous is None else previous.restarted_at
        again = last is None or counts.total >= GROWTH * restarted_at
        found: list[Latents] = []

        def look(start: Latents, only: int | None = None) -> None:
            found.append(search(seen, start, sweeps=self.sweeps, slack=slack, only=only))

        if last is not None:
            look(last)
        if again:
            if last is not None and self.rank > 2:
                for k in rng.permutation(self.rank)[: self.restarts]:
                    look(split(seen, last, int(k), rng))
            for i in range(self.restarts if last is None else 2):
                look(fresh_start(seen, rng, last if i == 0 else None))
            look(max(found, key=_likelihood).for_every_step(counts.shape[0]))
            best_apart = found[-1]
            for h in rng.permutation(counts.shape[0]):
                look(reseeded(seen, best_apart, int(h), rng), only=int(h))
                best_apart = max(best_apart, found[-1], key=_likelihood)
            look(best_apart)
        best = max(found, key=_likelihood)
        model = _model(seen, best)
        return replace(model, restarted_at=counts.total if again else restarted_at, starts=len(found))


def linear_class(problem: Any, rank: int) -> DecoderClass:
    """The decoder that is linear in the feature vectors that the problem's states come with."""
    if problem.features is None:
        raise InvalidInput(
            f"model_class=linear needs states with feature vectors, and {problem.name} has none; use "
            "model_class=decoder, or give LowRankMDP its `features` (S, p)"
        )
    return DecoderClass(rank, problem.features)


def _likelihood(latents: Latents) -> float:
    return latents.bound


def _model(seen: Observed, latents: Latents) -> DecodedModel:
    """φ, μ and q of the latents; where a latent's action was never tried φ is uniform and counts as free."""
    counts = latents.table_counts
    tried = counts.sum(axis=-1)
    touched = tried / (tried + TOUCHED)
    tables = counts / np.maximum(tried, 1e-300)[..., None] * touched[..., None]
    decoder = latents.at_every_step(seen.horizon)
    free = np.clip(1.0 - np.einsum("hsz,haz->hsa", decoder[:-1], touched), 0.0, 1.0)
    phi = np.einsum("hsz,hazy->hsay", decoder[:-1], tables, optimize=True)
    phi += (free / seen.rank)[..., None]
    mu = np.ascontiguousarray((seen.frequencies[1:, :, None] * decoder[1:]).transpose(0, 2, 1))
    mass = mu.sum(axis=-1, keepdims=True)
    mu = np.where(mass > 0, mu / np.maximum(mass, 1e-300), 1.0 / seen.states)
    return DecodedModel(
        phi, mu, _log_likelihood(seen, phi, mu), free, decoder=np.array(decoder[:-1]), latents=latents
    )


def _log_likelihood(seen: Observed, phi: Array, mu: Array) -> Array:
    """Σ N_h(s,a,s') log T̂_h(s'|s,a) of every step, over the transitions seen."""
    rows, columns = phi[seen.step, seen.state, seen.action], mu[seen.step, :, seen.following]
    logs = np.log(np.maximum(np.einsum("nz,nz->n", rows, columns), 1e-300))
    return np.bincount(seen.step, weights=seen.numbers * logs, minlength=seen.horizon)
