"""A bound on a mixture's gap computed without the truth: from the learnt model and its bonus alone.

V* is at most the optimistic optimum, planned with reward r + B_h b̃, and each member's value at least its
pessimistic one, evaluated with r − B_h b̃, both in θ̂; B_h is the largest reward still to come after step h,
which the known rewards give. The bound holds wherever B_h b̃ covers the error of θ̂ on what the policies do,
which the theorem's α secures with high probability and the practical α only often: the documentation says how often.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from optac.array_types import Probabilities, QValues, Rewards, StateDistribution
from optac.models import LowRankModel
from optac.oracles import Bill

BATCH = 256


@dataclass(frozen=True)
class Certificate:
    """The bound, None when it says nothing, and what its own oracle calls cost (PP once, PE once a member)."""

    bound: float | None
    bill: Bill


def certify(
    model: LowRankModel,
    bonus: QValues,
    rewards: Rewards,
    initial: StateDistribution,
    members: Iterable[Probabilities],
) -> Certificate:
    """V̄*(θ̂, r + Bb̃) − mean_k V̲^{π_k}(θ̂, r − Bb̃)."""
    horizon = len(rewards)
    still_to_come = np.cumsum(rewards.max(axis=(1, 2))[::-1])[::-1]
    after = np.append(still_to_come[1:], 0.0)
    margin = after[:, None, None] * bonus
    ceiling = still_to_come[:, None, None]
    optimistic = np.zeros(rewards.shape[1])
    for h in reversed(range(horizon)):
        q_values = rewards[h] + margin[h] + model.phi[h] @ (model.mu[h] @ optimistic)
        optimistic = np.minimum(q_values, ceiling[h]).max(axis=-1)
    pessimistic = [
        value
        for batch in _batches(members)
        for value in _pessimistic_values(model, rewards - margin, initial, batch)
    ]
    bound = float(initial @ optimistic - np.mean(pessimistic))
    count = len(pessimistic)
    bill = Bill(SL=horizon + count, PE=count, PP=1, accuracy=0.0)
    return Certificate(bound if bound < horizon else None, bill)


def _pessimistic_values(
    model: LowRankModel, rewards: QValues, initial: StateDistribution, policies: np.ndarray
) -> np.ndarray:
    """V^π with every action value kept at least 0, for a batch of policies."""
    members, horizon, states, actions = policies.shape
    values = np.zeros((states, members))
    for h in reversed(range(horizon)):
        continuation = model.phi[h].reshape(states * actions, -1) @ (model.mu[h] @ values)
        q_values = rewards[h][:, :, None] + continuation.reshape(states, actions, members)
        values = np.einsum("msa,sam->sm", policies[:, h], np.maximum(q_values, 0.0))
    return np.asarray(initial @ values)


def _batches(members: Iterable[Probabilities]) -> Iterable[np.ndarray]:
    batch: list[Probabilities] = []
    for member in members:
        batch.append(member)
        if len(batch) == BATCH:
            yield np.stack(batch)
            batch = []
    if batch:
        yield np.stack(batch)
