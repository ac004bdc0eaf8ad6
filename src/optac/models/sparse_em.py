"""EM of the simplex class over the transitions seen alone, for problems whose table over (h, s, a, s') would be large.

The sums are those of `simplex.em_sweep`, in another order: a sweep takes O(transitions seen · d).
"""

from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from optac.array_types import Array
from optac.models.transition_counts import TransitionCounts

FLOOR = 1e-300
ROUNDING = 1e-12
"""a distance below it is 0: what sums of frequencies that are 1 differ by"""


class SparseEvidence:
    """Counts as a sparse matrix: a row for every (h, s, a) that was seen, a column for every (h, s')."""

    def __init__(self, counts: TransitionCounts) -> None:
        self.shape = counts.shape
        _, states, _ = counts.shape
        self.step, _, _, following = counts.index
        self.pair, self.column = counts.keys // states, self.step * states + following
        self.numbers = counts.numbers.astype(float)
        self.visits = counts.visits
        self._seen = np.flatnonzero(self.visits)
        self._row = np.searchsorted(self._seen, self.pair)
        self._ends = np.searchsorted(self._row, np.arange(len(self._seen) + 1))

    @property
    def free(self) -> Array:
        """Where nothing was seen."""
        return self.visits == 0

    @cached_property
    def samples(self) -> int:
        """How many transitions were seen, repetitions included."""
        return int(self.visits.sum())

    def sweep(self, phi: Array, mu: Array) -> tuple[Array, Array, Array]:
        """One E and M step, with the log-likelihood of every step before it."""
        horizon, states, _ = self.shape
        rank = phi.shape[-1]
        rows, columns = self._rows(phi), _columns(mu)
        transitions = self._transitions(rows, columns)
        ratio = csr_array(
            (self.numbers / transitions, self.column, self._ends), shape=(len(rows), horizon * states)
        )
        new_rows, new_columns = rows * (ratio @ columns), columns * (ratio.T @ rows)
        mass = new_rows @ np.ones((rank, 1))
        new_phi = np.full((self.visits.size, rank), 1.0 / rank)
        new_phi[self._seen] = np.where(mass > 0, new_rows / np.maximum(mass, FLOOR), 1.0 / rank)
        new_mu = np.ascontiguousarray(new_columns.reshape(horizon, states, rank).transpose(0, 2, 1))
        factor_mass = new_mu.sum(-1, keepdims=True)
        new_mu = np.where(factor_mass > 0, new_mu / np.maximum(factor_mass, FLOOR), mu)
        return new_phi.reshape(phi.shape), new_mu, self._sums(np.log(transitions))

    def log_likelihood(self, phi: Array, mu: Array) -> Float[np.ndarray, " horizon"]:
        """Σ N_h(s,a,s') log T̂_h(s'|s,a) of every step."""
        return self._sums(np.log(self._transitions(self._rows(phi), _columns(mu))))

    def spread(self, rank: int, rng: np.random.Generator) -> Float[np.ndarray, "horizon rank next"]:
        """Observed next-state frequencies far from one another, as k-means++ picks centres.

        The L1 distance of two distributions f and m is 1 + Σ (|f − m| − m) over the places where f is not 0.
        """
        horizon, states, actions = self.shape
        pairs = states * actions
        visits = self.visits.reshape(horizon, pairs).astype(float)
        frequency = self.numbers / visits.ravel()[self.pair]
        mu = np.empty((horizon, rank, states))
        for h in range(horizon):
            first, last = np.searchsorted(self.step, [h, h + 1])
            row, place = self.pair[first:last] - h * pairs, self.column[first:last] - h * states
            seen = frequency[first:last]
            distance, nearest = visits[h].copy(), np.full(pairs, np.inf)
            for z in range(rank):
                total = distance.sum()
                if total <= 0:
                    mu[h, z] = rng.dirichlet(np.ones(states))
                    continue
                chosen = row == rng.choice(pairs, p=distance / total)
                mu[h, z] = np.bincount(place[chosen], weights=seen[chosen], minlength=states)
                there = mu[h, z, place]
                apart = 1.0 + np.bincount(row, weights=np.abs(seen - there) - there, minlength=pairs)
                nearest = np.minimum(nearest, np.where(apart > ROUNDING, apart, 0.0))
                distance = visits[h] * nearest**2
        return mu

    def _rows(self, phi: Array) -> Array:
        """φ of the pairs seen."""
        return phi.reshape(-1, phi.shape[-1]).take(self._seen, axis=0)

    def _transitions(self, rows: Array, columns: Array) -> Array:
        """T̂ at every transition seen."""
        likely = np.einsum("nz,nz->n", rows.take(self._row, axis=0), columns.take(self.column, axis=0))
        return np.maximum(likely, FLOOR)

    def _sums(self, logs: Array) -> Array:
        return np.bincount(self.step, weights=self.numbers * logs, minlength=self.shape[0])


def _columns(mu: Array) -> Array:
    """μ with a row for every (h, s')."""
    return mu.transpose(0, 2, 1).reshape(-1, mu.shape[1])
