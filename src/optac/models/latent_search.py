"""Variational EM for the decoder class, from the transitions seen: O(transitions · d²) a sweep.

The bound that never falls (with one decoder a step; damped steps with one for all) is

    Σ_h Σ_{a,z} log B(C_h(a,z,·) + ½)/B(½) − Σ n E_q[log ν_h(z')] + Σ_s E_q[log π(z|s) − log q(z|s)],

C_h(a,z,z') the expected counts between latents under q, B the multivariate Beta function.
"""

from dataclasses import dataclass, replace
from functools import reduce

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
        self.table = self.step * self.actions + self.action
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
        for name in ("step", "state", "action", "following", "table", "numbers"):
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
    leaving_from, leading_to = _at_transitions(seen, q)
    leaving_from *= seen.numbers
    size = seen.horizon * seen.actions
    sums = [np.bincount(seen.table, weights=z * y, minlength=size) for z in leaving_from for y in leading_to]
    return np.stack(sums, axis=-1).reshape(seen.horizon, seen.actions, seen.rank, seen.rank)


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
    says = _said(seen, latents)
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


def _said(seen: Observed, latents: Latents) -> Float[np.ndarray, "sharing state rank"]:
    """Σ n E_q[log P(z'|z,a)] over the transitions from a state, and over those to it, there less log ν(z')."""
    leaving_from, leading_to = _at_transitions(seen, latents.q)
    alpha = latents.table_counts + PRIOR
    log_tables = digamma(alpha) - digamma(alpha.sum(-1, keepdims=True))
    log_tables = np.moveaxis(log_tables.reshape(-1, seen.rank, seen.rank), 0, -1).copy()
    leaving, arriving = np.empty_like(leaving_from), np.zeros_like(leading_to)
    for z, row in enumerate(log_tables):
        logs = row.take(seen.table, axis=1)
        leaving[z] = _tree_sum(logs * leading_to)
        arriving += logs * leaving_from[z]
    leaving *= seen.numbers
    arriving *= seen.numbers
    arriving -= seen.numbers * _log_reached(seen, latents).T.take(seen.step + 1, axis=1)
    (tail, head), size = _ends(seen, latents.q), latents.q.size // seen.rank
    return (_sums(tail, leaving, size) + _sums(head, arriving, size)).reshape(latents.q.shape)


def _tree_sum(rows: Float[np.ndarray, "row column"]) -> Float[np.ndarray, " column"]:
    """The sum of the rows, halves first."""
    while len(rows) > 1:
        half = 1 << (len(rows) - 1).bit_length() - 1
        rows[: len(rows) - half] += rows[half:]
        rows = rows[:half]
    return rows[0]


def _at_transitions(seen: Observed, q: Array) -> tuple[Array, Array]:
    """q at every transition's state and at its next state, each (d, transitions): contiguous for one latent."""
    columns = q.reshape(-1, seen.rank).T.copy()
    tail, head = _ends(seen, q)
    return columns.take(tail, axis=1), columns.take(head, axis=1)


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
    """Over the last axis; latents are few, so that a loop over them is many times faster than sums along it."""
    weights = np.exp(logits - reduce(np.maximum, np.moveaxis(logits, -1, 0))[..., None])
    weights /= reduce(np.add, np.moveaxis(weights, -1, 0))[..., None]
    return np.asarray(weights)


def sums_by_index(index: Array, values: Array, size: int) -> Float[np.ndarray, "size columns"]:
    """The rows of `values` summed by index."""
    return _sums(index, values.T, size)


def _sums(index: Array, columns: Array, size: int) -> Float[np.ndarray, "size columns"]:
    return np.stack([np.bincount(index, weights=one, minlength=size) for one in columns], axis=-1)
