"""Variational EM for the decoder class, from the transitions seen: O(transitions · d²) a sweep.

The bound that never falls (with one decoder a step; damped steps with one for all) is

    Σ_h Σ_{a,z} log B(C_h(a,z,·) + ½)/B(½) − Σ n E_q[log ν_h(z')] + Σ_s E_q[log π(z|s) − log q(z|s)],

C_h(a,z,z') the expected counts between latents under q, B the multivariate Beta function.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from scipy.special import digamma, gammaln

from optac.array_types import Array
from optac.models.transition_counts import TransitionCounts

PRIOR = 0.5
"""of a row of P: the Dirichlet's parameter"""
SPREAD = 1.0
"""added to the number of states of every latent in π"""
RIDGE = 1.0
"""on the weights of the softmax"""
TINY = 1e-300


@dataclass(frozen=True)
class Latents:
    """q(z|s), one for all steps (1, S, d) or one a step (H + 1, S, d); what it implies under the data; its bound."""

    q: Float[np.ndarray, "sharing state rank"]
    table_counts: Float[np.ndarray, "horizon action rank rank"]
    weights: Float[np.ndarray, "sharing feature rank"] | None
    """of the softmax π(z|s), where states have features"""
    bound: float = -np.inf

    @property
    def shared(self) -> bool:
        return len(self.q) == 1

    def at_every_step(self, horizon: int) -> Float[np.ndarray, "steps state rank"]:
        """q_h for h = 0 … H."""
        return np.broadcast_to(self.q, (horizon + 1, *self.q.shape[1:]))

    def for_every_step(self, horizon: int) -> "Latents":
        """The same with a decoder a step."""
        weights = self.weights
        if weights is not None:
            weights = np.array(np.broadcast_to(weights, (horizon + 1, *weights.shape[1:])))
        return replace(self, q=np.array(self.at_every_step(horizon)), weights=weights, bound=-np.inf)


class Observed:
    """The transitions seen, laid out for the sweeps, and the states' features with a constant one added."""

    def __init__(
        self, counts: TransitionCounts, rank: int, features: Float[np.ndarray, "state feature"] | None
    ) -> None:
        self.horizon, self.states, self.actions = counts.shape
        self.rank = rank
        self.step, self.state, self.action, self.following = counts.index
        self.numbers = counts.numbers.astype(float)
        shape = self.horizon + 1, self.states
        arrivals = np.bincount(
            (self.step + 1) * self.states + self.following,
            weights=self.numbers,
            minlength=shape[0] * shape[1],
        ).reshape(shape)
        departures = np.bincount(
            self.step * self.states + self.state, weights=self.numbers, minlength=shape[0] * shape[1]
        ).reshape(shape)
        self.arrivals = arrivals
        self.visited = (arrivals + departures) > 0
        self.frequencies = arrivals / np.maximum(arrivals.sum(axis=-1, keepdims=True), 1.0)
        self.features = None
        if features is not None:
            self.features = np.column_stack([features, np.ones(len(features))])

    def part(self, first: int, last: int) -> "Observed":
        """A view on the transitions of steps `first` to `last` alone."""
        view = object.__new__(Observed)
        view.__dict__.update(self.__dict__)
        inside = slice(*np.searchsorted(self.step, [first, last + 1]))
        for name in ("step", "state", "action", "following", "numbers"):
            setattr(view, name, getattr(self, name)[inside])
        return view


def search(seen: Observed, start: Latents, *, sweeps: int, slack: float, only: int | None = None) -> Latents:
    """Sweeps from a start until one gains at most `slack`; with `only`, the decoder of one step alone."""
    latents = start
    if only is None:
        latents = replace(latents, table_counts=expected_counts(seen, latents.q))
    bound = -np.inf
    for i in range(sweeps):
        latents = _sweep(seen, latents, only)
        if i % 2 == 0 and i + 1 < sweeps:
            continue
        before, bound = bound, lower_bound(seen, latents)
        if bound - before <= 2 * slack:
            break
    return replace(latents, bound=bound)


def expected_counts(
    seen: Observed, q: Float[np.ndarray, "sharing state rank"]
) -> Float[np.ndarray, "horizon action rank rank"]:
    """C_h(a,z,z') = Σ n q_h(z|s) q_{h+1}(z'|s')."""
    rows, (tail, head) = q.reshape(-1, seen.rank), _ends(seen, q)
    pairs = (rows[tail] * seen.numbers[:, None])[:, :, None] * rows[head][:, None, :]
    index, size = seen.step * seen.actions + seen.action, seen.horizon * seen.actions
    sums = sums_by_index(index, pairs.reshape(len(pairs), -1), size)
    return sums.reshape(seen.horizon, seen.actions, seen.rank, seen.rank)


def lower_bound(seen: Observed, latents: Latents) -> float:
    """The bound on the log-likelihood that the search raises."""
    alpha = latents.table_counts + PRIOR
    rank = seen.rank
    tables = gammaln(alpha).sum(-1) - gammaln(alpha.sum(-1)) - rank * gammaln(PRIOR) + gammaln(rank * PRIOR)
    reached = np.einsum("hs,hsz->hz", seen.arrivals, latents.at_every_step(seen.horizon))[1:]
    visited = _visited(seen, latents)
    q, prior = latents.q[visited], _log_prior(seen, latents)[visited]
    hidden = (q * (prior - np.log(np.maximum(q, TINY)))).sum()
    penalty = 0.0 if latents.weights is None else 0.5 * RIDGE * float((latents.weights**2).sum())
    return float(tables.sum() - (reached * _log_reached(seen, latents)[1:]).sum() + hidden) - penalty


def _sweep(seen: Observed, latents: Latents, only: int | None) -> Latents:
    """One update of every decoder: the even steps', the odd steps', or all states' at once by half a step."""
    if only is not None:
        return _half_sweep(
            seen.part(max(only - 1, 0), only), latents, slice(only, only + 1), around=(seen, only)
        )
    if latents.shared:
        return _half_sweep(seen, latents, slice(0, 1), damping=0.5)
    for parity in (0, 1):
        latents = _half_sweep(seen, latents, slice(parity, None, 2))
    return latents


def _half_sweep(
    seen: Observed,
    latents: Latents,
    chosen: slice,
    damping: float = 0.0,
    around: tuple[Observed, int] | None = None,
) -> Latents:
    """q(z|s) ∝ π(z|s) exp(what the transitions to and from s say) for the steps chosen, then C and π anew."""
    rows, (tail, head) = latents.q.reshape(-1, seen.rank), _ends(seen, latents.q)
    alpha = latents.table_counts + PRIOR
    log_tables = (digamma(alpha) - digamma(alpha.sum(-1, keepdims=True)))[seen.step, seen.action]
    number = seen.numbers[:, None]
    leaving = np.einsum("nzy,ny->nz", log_tables, rows[head]) * number
    arriving = np.einsum("nzy,nz->ny", log_tables, rows[tail]) * number
    arriving -= number * _log_reached(seen, latents)[seen.step + 1]
    says = (sums_by_index(tail, leaving, len(rows)) + sums_by_index(head, arriving, len(rows))).reshape(
        latents.q.shape
    )
    prior = _log_prior(seen, latents)
    logits = prior[chosen] + np.where(_visited(seen, latents)[chosen][..., None], says[chosen], 0.0)
    q = latents.q.copy()
    q[chosen] = damping * q[chosen] + (1 - damping) * _softmax(logits)
    latents = replace(latents, q=q)
    latents = replace(latents, weights=_softmax_weights(seen, latents, chosen))
    if around is not None:
        return replace(latents, table_counts=counts_around(around[0], latents, around[1]))
    return replace(latents, table_counts=expected_counts(seen, latents.q))


def counts_around(seen: Observed, latents: Latents, h: int) -> Array:
    """C with the tables into and out of step h recomputed."""
    counts = latents.table_counts.copy()
    first = max(h - 1, 0)
    counts[first : h + 1] = expected_counts(seen.part(first, h), latents.q)[first : h + 1]
    return counts


def _ends(seen: Observed, q: Array) -> tuple[Array, Array]:
    """The rows of q that a transition's state and next state belong to."""
    if len(q) == 1:
        return seen.state, seen.following
    return seen.step * seen.states + seen.state, (seen.step + 1) * seen.states + seen.following


def _visited(seen: Observed, latents: Latents) -> Array:
    return np.asarray(seen.visited.any(axis=0, keepdims=True)) if latents.shared else seen.visited


def _log_reached(seen: Observed, latents: Latents) -> Array:
    """log ν_h(z), how often step h shows latent z."""
    reached = np.einsum("hs,hsz->hz", seen.arrivals, latents.at_every_step(seen.horizon)) + PRIOR
    return np.log(reached / reached.sum(axis=-1, keepdims=True))


def _log_prior(seen: Observed, latents: Latents) -> Array:
    """log π(z|s): the latents' shares of the states seen, or the softmax of the states' features."""
    if latents.weights is not None:
        return np.log(np.maximum(_softmax(seen.features @ latents.weights), TINY))
    visited = _visited(seen, latents)
    shares = np.einsum("gs,gsz->gz", visited, latents.q) + SPREAD
    return np.broadcast_to(np.log(shares / shares.sum(axis=-1, keepdims=True))[:, None], latents.q.shape)


def _softmax_weights(seen: Observed, latents: Latents, chosen: slice) -> Array | None:
    """Three steps towards the weights whose softmax agrees best with q, on Böhning's bound of the curvature."""
    if latents.weights is None or seen.features is None:
        return None
    weights = latents.weights.copy()
    visited = _visited(seen, latents).astype(float)
    for g in range(len(weights))[chosen]:
        rows = seen.features * visited[g][:, None]
        curvature = 0.5 * rows.T @ rows + RIDGE * np.eye(rows.shape[1])
        for _ in range(3):
            slope = rows.T @ (latents.q[g] - _softmax(seen.features @ weights[g])) - RIDGE * weights[g]
            weights[g] = weights[g] + np.linalg.solve(curvature, slope)
    return weights


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def sums_by_index(index: Array, values: Array, size: int) -> Float[np.ndarray, "size columns"]:
    """The rows of `values` summed by index."""
    columns = [np.bincount(index, weights=column, minlength=size) for column in values.T]
    return np.stack(columns, axis=-1)
