"""River-swim and deep-sea: exploration problems where the reward lies at the far end of a chain."""

import numpy as np

from optac.mdp.low_rank import LowRankMDP
from optac.settings import require_at_least, require_memory

LEFT, RIGHT = 0, 1


def river_swim(*, horizon: int = 20, seed: int = 0) -> LowRankMDP:
    """Six states in a river, start at the left bank; TabulaRL's transition table (Osband).

    Left always moves one left. Right: at the left bank stay 0.4, up 0.6; inside up 0.35, stay 0.6, back
    0.05; at the right end stay 0.6, back 0.4. Left at the left bank pays 0.005, right at the right end 1.
    The rank is full. The instance is fixed: `seed` is accepted and changes nothing.
    """
    require_at_least(1, horizon=horizon)
    states, last = 6, 5
    transitions = np.zeros((states, 2, states))
    inside = np.arange(1, last)
    transitions[np.arange(states), LEFT, np.maximum(np.arange(states) - 1, 0)] = 1.0
    transitions[0, RIGHT, [0, 1]] = 0.4, 0.6
    transitions[inside, RIGHT, inside + 1] = 0.35
    transitions[inside, RIGHT, inside] = 0.6
    transitions[inside, RIGHT, inside - 1] = 0.05
    transitions[last, RIGHT, [last, last - 1]] = 0.6, 0.4
    rewards = np.zeros((states, 2))
    rewards[0, LEFT] = 0.005
    rewards[last, RIGHT] = 1.0
    return _tabular(
        np.broadcast_to(transitions, (horizon, *transitions.shape)),
        np.broadcast_to(rewards, (horizon, *rewards.shape)),
    )


def deep_sea(*, size: int = 10, stochastic: bool = False, seed: int = 0) -> LowRankMDP:
    """The diver of bsuite: N×N cells, one row per step, the state is the column, V* = 1 when deterministic.

    In every cell one of the two actions, drawn by the seed, means right; going right costs 0.01/N, going
    right from the last column pays 1. Every reward is shifted by 0.01/N into [0, 1]. `stochastic`: right
    fails with probability 1/N (bsuite's zero-mean noise on two rewards enters by its mean).
    """
    require_at_least(2, size=size)
    require_memory(16 * size**3, "the problem's features", "size")
    cost = 0.01 / size
    right = np.random.default_rng(seed).integers(2, size=(size, size))
    row, column = np.indices(right.shape)
    success = 1.0 - 1.0 / size if stochastic else 1.0
    transitions = np.zeros((size, size, 2, size))
    transitions[row, column, right, np.minimum(column + 1, size - 1)] += success
    transitions[row, column, right, column] += 1.0 - success
    transitions[row, column, 1 - right, np.maximum(column - 1, 0)] = 1.0
    rewards = np.zeros((size, size, 2))
    rewards[row, column, 1 - right] = cost
    rewards[np.arange(size), size - 1, right[:, size - 1]] = 1.0
    return _tabular(transitions, rewards, reward_offset=-cost)


def _tabular(transitions: np.ndarray, rewards: np.ndarray, reward_offset: float = 0.0) -> LowRankMDP:
    """φ = T(·|s,a) and μ = identity: every tabular MDP is low-rank with d = S."""
    horizon, states = transitions.shape[:2]
    identity = np.broadcast_to(np.eye(states), (horizon, states, states))
    return LowRankMDP(transitions, identity, rewards, reward_offset=reward_offset)
