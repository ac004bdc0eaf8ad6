"""The density-free class: decoders q_h(z|x), tables P_h(z'|z,a) and emissions relative to the data's own marginal.

T̂_h(x'|x,a) = Σ_z' φ_z'(x,a) μ_z'(x') with φ_z'(x,a) = Σ_z q_h(z|x) P_h(z'|z,a) and
μ_z'(x') = q_{h+1}(z'|x') ρ(x') / E_ρ q_{h+1}(z').
That is a conditional density relative to ρ, the data's marginal, so its likelihood needs no model of ρ and no negative
samples. Profiled over P with hard labels it is N · I(z_h, a_h; z_{h+1}).

The maximum is sought step by step, with the neighbours' labels held: EM for the latents there are, a split where
held-out rows want one more, a merger where two are one. A label is judged by its past and its future: latents that
share all predecessors differ only in what their actions do. `rank` is how many latents a step may have, not how many it
gets. Rewards are unknown here and are learnt; they are evidence of a latent as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.array_types import Array, Probabilities, QValues
from optac.errors import InvalidInput
from optac.models.low_rank import LowRankModel
from optac.models.rich.data import RichData
from optac.models.rich.decoders import DecodedPolicy, Decoders
from optac.models.rich.discriminant import balanced
from optac.models.rich.step_fit import due, refitted

RANK = 16
CAPACITY = 10_000
"""episodes that the buffer holds"""


@dataclass(frozen=True)
class RichModel(LowRankModel):
    """A fitted model in its latents: phi is P̂_h(z'|z,a) and mu the identity; observations come in by the decoders."""

    decoders: Decoders | None = None
    gram: Float[np.ndarray, "horizon action rank rank"] | None = None
    """Σ q_h(·|x) q_h(·|x)ᵀ over the rows with action a: the blocks of the Gram matrix on q ⊗ e_a"""
    carry: Float[np.ndarray, "horizon rank rank"] | None = None
    """what takes a function on the latents before the last fit to the present ones, by regression over the rows"""
    carry_error: float = 0.0
    """the largest residual of those regressions over a function's own size"""

    def carried(self, table: QValues) -> QValues:
        """A function of the latents before the fit as one of the latents after."""
        return table if self.carry is None else np.asarray(self.carry @ table)

    def policy(self, table: Probabilities) -> DecodedPolicy:
        """The policy that this table over latents is."""
        assert self.decoders is not None
        return DecodedPolicy(self.decoders, table)


class RichClass:
    """Linear decoders of observations in R^dim with up to `rank` latents a step."""

    def __init__(self, dim: int, rank: int = RANK, capacity: int = CAPACITY) -> None:
        if rank < 1:
            raise InvalidInput(f"rank={rank} is too small; a step has at least one latent")
        self.dim, self.rank, self.capacity = dim, rank, capacity

    def check(self, states: int, actions: int) -> None:
        """Any sizes will do: the latents of the problem are not this class's."""

    def log_size(self, horizon: int, states: int, actions: int, samples: int) -> float:
        """log of a cover's size: a parameter counts for log(samples)."""
        parameters = horizon * self.rank * (self.dim + 1 + actions * self.rank)
        return parameters * float(np.log(max(samples, 2)))

    def empty_data(self, horizon: int, states: int, actions: int) -> RichData:
        """Where a learner's memory starts."""
        return RichData(horizon, self.dim, actions, self.rank, self.capacity)

    def fit(self, evidence: RichData, previous: Any, *, slack: float, rng: np.random.Generator) -> RichModel:
        """The model with every step refitted whose rows grew enough or whose neighbour's labels changed.

        An SL call is a fit of one step, and another the regression that carries functions over to its new latents.
        """
        data = evidence
        decoders = previous.decoders if previous else Decoders.first(data.horizon, self.dim, self.rank)
        data.decode_new(decoders)
        carry, error, fits = np.tile(np.eye(self.rank), (data.horizon, 1, 1)), 0.0, 0
        for h in self._order(data):
            if not due(data, h, decoders):
                continue
            before = data.shares[h, : data.rows].copy()
            decoders = self._refitted(data, h, decoders, rng)
            carry[h], residual = _regressed(before, data.shares[h, : data.rows])
            error, fits = max(error, residual), fits + 1
        data.fits += 1
        return replace(_tabulated(data, decoders), carry=carry, carry_error=error, starts=2 * fits)

    def _order(self, data: RichData) -> Iterable[int]:
        """The steps from the last to the first and the other way round in turn: labels are judged from both sides."""
        steps = range(data.horizon)
        return steps if data.fits % 2 else reversed(steps)

    def _refitted(self, data: RichData, h: int, decoders: Decoders, rng: np.random.Generator) -> Decoders:
        """The decoders with step h fitted to its rows, which are labelled anew."""
        return refitted(data, h, decoders, rng)


def _regressed(before: Array, after: Array) -> tuple[Array, float]:
    """M with after·M ≈ before by least squares over the rows, rare latents weighed up, and its relative residual."""
    rank = after.shape[1]
    weights = np.sqrt(balanced(np.eye(rank)[after.argmax(axis=1)]))[:, None]
    old, new = before * weights, after * weights
    carry = np.linalg.solve(new.T @ new + 1e-3 * np.eye(rank), new.T @ old)
    return carry, float(np.linalg.norm(new @ carry - old)) / max(float(np.linalg.norm(old)), 1e-12)


def _tabulated(data: RichData, decoders: Decoders) -> RichModel:
    """P̂, r̂ and the visits from all rows, those that have left the buffer too, under the present labels."""
    horizon, rank, actions, rows = data.horizon, data.rank, data.actions_count, data.rows
    phi = np.full((horizon, rank, actions, rank), 1.0 / rank)
    past = data.past
    rewards, gram = np.zeros((horizon, rank, actions)), past.gram.copy()
    log_likelihood = np.zeros(horizon)
    for h in range(horizon):
        action = data.actions[h, :rows]
        pair = data.labels[h, :rows] * actions + action
        tried = np.bincount(pair, minlength=rank * actions).reshape(rank, actions) + past.paid[h].sum(axis=-1)
        paid = np.bincount(pair, data.reward_values[data.reward_ids[h, :rows]], rank * actions)
        earlier = past.paid[h, :, :, : len(data.reward_values)] @ data.reward_values
        rewards[h] = (paid.reshape(rank, actions) + earlier) / np.maximum(tried, 1e-9)
        count = int(decoders.used[h])
        shares = data.shares[h, :rows, :count].astype(float)
        for a in range(actions):
            tried_here = shares[action == a]
            gram[h, a, :count, :count] += tried_here.T @ tried_here
        if h < horizon - 1:
            following = np.bincount(pair * rank + data.labels[h + 1, :rows], minlength=phi[h].size)
            counts = following.reshape(phi[h].shape) + past.following[h]
            share = counts.sum(axis=(0, 1)) / counts.sum()
            phi[h] = np.where(tried[..., None] > 0, counts / np.maximum(tried, 1e-9)[..., None], share)
            seen = counts > 0
            log_likelihood[h] = (
                counts * np.log(np.where(seen, phi[h] / np.maximum(share, 1e-12), 1.0))
            ).sum()
    return RichModel(
        phi,
        np.broadcast_to(np.eye(rank), (horizon, rank, rank)),
        log_likelihood,
        np.zeros(rewards.shape, dtype=bool),
        decoders=decoders,
        rewards=rewards,
        gram=gram,
        initial=data.shares[0, :rows].mean(axis=0).astype(float),
    )
