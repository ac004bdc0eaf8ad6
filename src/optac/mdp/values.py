"""Exact values by dynamic programming: V^π, Q^π, V*, Q*, occupancies.

Everything takes plain arrays, so the same functions serve the truth and a learnt model; where a table of transitions
would be large it takes their factors. Steps are counted from 0: row h of an array belongs to the paper's step h + 1.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float

from optac.array_types import (
    Array,
    Mu,
    Occupancy,
    Phi,
    Probabilities,
    QValues,
    Rewards,
    StateDistribution,
    Transitions,
)
from optac.errors import InvalidInput


class Factors(NamedTuple):
    """T_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩, never multiplied out."""

    phi: Phi
    mu: Mu


Kernel: TypeAlias = Transitions | Factors
"""transitions as a table, or as their factors"""
LARGE_TABLE = 2**24
"""entries, 128 MB; a kernel of more is kept in its factors"""
LARGEST_TABLE = 2**27
"""entries, one gigabyte; what needs a larger table is refused"""


def is_large(horizon: int, states: int, actions: int) -> bool:
    """A table over (h, s, a, s') would be too large to be made without need."""
    return horizon * states * actions * states > LARGE_TABLE


def check_table(horizon: int, states: int, actions: int) -> None:
    """Refuse a table over (h, s, a, s') that needs more than a gigabyte, before it is made."""
    entries = horizon * states * actions * states
    if entries > LARGEST_TABLE:
        raise InvalidInput(
            f"a table over (h, s, a, s') with H = {horizon}, S = {states}, A = {actions} has {entries:.2g} entries, "
            f"{entries * 8 / 2**30:.3g} GB; use an algorithm and a model class that need none, such as opt-ac or "
            "rep-ucb with model_class=decoder or linear"
        )


def expected_next(kernel: Kernel, h: int, values: Array) -> Array:
    """Σ_s' T_h(s'|s,a) V(s'), of one function V (S,) or of many (S, m)."""
    if isinstance(kernel, Factors):
        return np.asarray(kernel.phi[h] @ (kernel.mu[h] @ values))
    states, actions, _ = kernel[h].shape
    if values.ndim == 1:
        return np.asarray(kernel[h] @ values)
    return np.asarray((kernel[h].reshape(states * actions, states) @ values).reshape(states, actions, -1))


class OptimalControl(NamedTuple):
    """Q*, V* and a deterministic optimal policy (the first maximiser in every state)."""

    q_values: QValues
    values: Float[np.ndarray, "horizon state"]
    policy: Probabilities


def policy_q_values(transitions: Kernel, rewards: Rewards, policy: Probabilities) -> QValues:
    """Q^π_h(s,a) = r_h(s,a) + Σ_s' T_h(s'|s,a) Σ_a' π_{h+1}(a'|s') Q^π_{h+1}(s',a')."""
    q_values = np.empty_like(rewards)
    value = np.zeros(rewards.shape[1])
    for h in reversed(range(len(rewards))):
        q_values[h] = rewards[h] + expected_next(transitions, h, value)
        value = np.einsum("sa,sa->s", policy[h], q_values[h])
    return q_values


def policy_values(
    transitions: Kernel,
    rewards: Rewards,
    policies: Float[np.ndarray, "member horizon state action"],
    initial: StateDistribution,
) -> Float[np.ndarray, " member"]:
    """V^π(initial) of many policies at once: one backward pass serves them all."""
    members, horizon, states, _ = policies.shape
    values = np.zeros((states, members))
    for h in reversed(range(horizon)):
        q_values = rewards[h][:, :, None] + expected_next(transitions, h, values)
        values = np.einsum("msa,sam->sm", policies[:, h], q_values)
    return initial @ values


def optimal_control(transitions: Kernel, rewards: Rewards) -> OptimalControl:
    """Q*_h(s,a) = r_h(s,a) + Σ_s' T_h(s'|s,a) max_a' Q*_{h+1}(s',a')."""
    horizon, states, actions = rewards.shape
    q_values = np.empty_like(rewards)
    values = np.empty((horizon, states))
    value = np.zeros(states)
    for h in reversed(range(horizon)):
        q_values[h] = rewards[h] + expected_next(transitions, h, value)
        value = values[h] = q_values[h].max(axis=-1)
    policy = np.eye(actions)[q_values.argmax(axis=-1)]
    return OptimalControl(q_values, values, policy)


def occupancies(transitions: Kernel, policy: Probabilities, initial: StateDistribution) -> Occupancy:
    """d^π_h(s), the probability of being in s at step h; the action's follows as d^π_h(s)·π_h(a|s)."""
    horizon, states, _ = policy.shape
    occupancy = np.empty((horizon, states))
    occupancy[0] = initial
    for h in range(horizon - 1):
        flow = occupancy[h][:, None] * policy[h]
        if isinstance(transitions, Factors):
            occupancy[h + 1] = np.tensordot(flow, transitions.phi[h], axes=2) @ transitions.mu[h]
        else:
            occupancy[h + 1] = np.einsum("sa,san->n", flow, transitions[h])
    return occupancy


def still_to_come(rewards: Rewards) -> Float[np.ndarray, " steps"]:
    """B_h, the largest reward that steps h … H can pay; B_{H+1} = 0 at the end."""
    return np.append(np.cumsum(rewards.max(axis=(1, 2))[::-1])[::-1], 0.0)
