"""A bound on a mixture's gap computed without the truth: from the learnt model, its bonus and its visits.

V* is at most the optimistic optimum, planned with reward r + m, and each member's value at least its
pessimistic one, evaluated with r − m, both in θ̂, wherever the margin m_h(s,a) covers what the error of θ̂ at
(s,a) can do: B_h · TV, with B_h the largest reward still to come after step h, which the known rewards give.
The margin is B_h · max(b̃_h(s,a), ½√((d − 1)/n_h(s,a))): the bonus of the run, but never less than the
expected error of a distribution over d factors seen n times, since the elliptical bonus pays for the error
one step later and for the first step nothing does. The theorem's α makes b̃ the larger one and the bound hold
with high probability; the practical α does not, and then it holds often: the documentation says how often.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from optac.array_types import Probabilities, QValues, Rewards, StateDistribution, Visits
from optac.mdp.values import still_to_come
from optac.models import LowRankModel
from optac.oracles import Bill

BATCH = 256


@dataclass(frozen=True)
class Certificate:
    """The bound, None when it says no more than the rewards do; its own calls are PP once and PE once a member."""

    bound: float | None
    bill: Bill


def certify(
    model: LowRankModel,
    bonus: QValues,
    visits: Visits,
    rewards: Rewards,
    initial: StateDistribution,
    members: Iterable[Probabilities],
) -> Certificate:
    """V̄*(θ̂, r + Bb̃) − mean_k V̲^{π_k}(θ̂, r − Bb̃)."""
    horizon = len(rewards)
    largest = still_to_come(rewards)[:, None, None]
    margin = largest[1:] * np.maximum(bonus, sampling_error(model.phi.shape[-1], visits))
    optimistic = np.zeros(rewards.shape[1])
    for h in reversed(range(horizon)):
        q_values = rewards[h] + margin[h] + model.phi[h] @ (model.mu[h] @ optimistic)
        optimistic = np.minimum(q_values, largest[h]).max(axis=-1)
    pessimistic: list[float] = []
    rest = iter(members)
    while batch := list(islice(rest, BATCH)):
        pessimistic.extend(_pessimistic_values(model, rewards - margin, initial, np.stack(batch)))
    bound = float(initial @ optimistic - np.mean(pessimistic))
    count = len(pessimistic)
    bill = Bill(SL=horizon + count, PE=count, PP=1, accuracy=0.0)
    return Certificate(bound if bound < largest[0, 0, 0] else None, bill)


def sampling_error(rank: int, visits: Visits) -> QValues:
    """½√((d − 1)/n), at most 1: the mean total variation between a distribution on d outcomes and n draws of it."""
    return np.minimum(0.5 * np.sqrt((rank - 1) / np.maximum(visits, 1)), 1.0) * (visits > 0) + (visits == 0)


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
