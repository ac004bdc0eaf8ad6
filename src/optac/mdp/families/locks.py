"""Combination locks: three latent rows a step, two of them alive, one action a live row that keeps the lock open.

From a live row the good action leads to either live row with probability ½, any other action to the dead
row, which absorbs. The reward is anti-shaped: a wrong action pays 0.05 at once (0.1 with probability ½),
and only the good action of the last step, played alive, pays 1. So V* = 1, and uniform play opens a lock
of horizon H once in |A|^H episodes. After the rich-observation lock of Misra et al. (2020) and
Zhang et al. (2022).
"""

import numpy as np

from optac.mdp.low_rank import LowRankMDP
from optac.settings import require_at_least, require_memory

LIVE_ROWS, DEAD = 2, 2
ROWS = 3
ANTI_SHAPED_REWARD = 0.05
CODE_NOISE = 0.2


def combination_lock(*, horizon: int = 6, actions: int = 10, seed: int = 0) -> LowRankMDP:
    """The lock with its latent row observed: S = 3, rank 3."""
    return _lock("combination-lock", horizon=horizon, actions=actions, observations=1, seed=seed)


def observed_lock(*, horizon: int = 6, actions: int = 4, observations: int = 10, seed: int = 0) -> LowRankMDP:
    """The lock seen through ids: row z shows one of z·m … z·m + m − 1 uniformly, so S = 3m and the rank stays 3."""
    return _lock("observed-lock", horizon=horizon, actions=actions, observations=observations, seed=seed)


def _lock(name: str, *, horizon: int, actions: int, observations: int, seed: int) -> LowRankMDP:
    require_at_least(1, horizon=horizon, actions=actions, observations=observations)
    entries = horizon * ROWS * observations * actions * ROWS
    require_memory(8 * entries, "the problem's features", "horizon, actions or observations")
    good = np.random.default_rng(seed).integers(actions, size=(horizon, LIVE_ROWS))
    step, row = np.indices(good.shape)

    next_row = np.zeros((horizon, ROWS, actions, ROWS))
    next_row[..., DEAD] = 1.0
    next_row[step, row, good] = [0.5, 0.5, 0.0]
    rewards = np.zeros((horizon, ROWS, actions))
    rewards[:, :LIVE_ROWS] = ANTI_SHAPED_REWARD
    rewards[step, row, good] = 0.0
    rewards[-1, np.arange(LIVE_ROWS), good[-1]] = 1.0

    # Each id carries a noisy code of its row, as the rich-observation lock shows it: what `linear` classes see.
    row_of_id = np.repeat(np.eye(ROWS), observations, axis=0)
    codes = row_of_id + np.random.default_rng([seed, 1]).normal(0.0, CODE_NOISE, row_of_id.shape)
    emission = np.kron(np.eye(ROWS), np.full((1, observations), 1.0 / observations))
    parameters = {"horizon": horizon, "actions": actions, "observations": observations, "seed": seed}
    if name == "combination-lock":
        del parameters["observations"]
    return LowRankMDP(
        phi=np.repeat(next_row, observations, axis=1),
        mu=np.broadcast_to(emission, (horizon, *emission.shape)),
        rewards=np.repeat(rewards, observations, axis=1),
        initial_state=emission[0],
        name=name,
        parameters=parameters,
        features=codes,
    )
