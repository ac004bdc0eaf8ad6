"""The hard instance behind the Ω(H d |A| / ε²) lower bound, after Domingues et al. (2021).

The learner waits, then enters one of L leaves, uniformly; a leaf's action leads to the good state with
probability ½, or ½ + ε when it is that leaf's secret action and the leaf was entered at the secret step.
The good state pays 1 in all. So V* = ½ + ε, and every other way of playing earns ½: finding the L secret
actions at the secret step takes of the order of H·L·|A|/ε² episodes, however one explores.
"""

import numpy as np

from optac.errors import InvalidInput
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.parameters import require_at_least


def lower_bound(
    *, horizon: int = 2, rank: int = 6, actions: int = 3, epsilon: float = 0.2, seed: int = 0
) -> LowRankMDP:
    """S = d states: the leaves, good and bad, and for H > 2 a waiting state; H = 2 is a contextual bandit.

    For H > 2, action 0 waits (at most ⌊H/3⌋ steps, the last of which every action ends) and every other
    action enters. Good pays in the steps after the latest arrival, in equal parts that sum to 1.
    """
    waiting = horizon > 2
    require_at_least(2, horizon=horizon)
    require_at_least(4 if waiting else 3, rank=rank)
    require_at_least(1, actions=actions)
    if not 0 < epsilon <= 0.5:
        raise InvalidInput(f"epsilon={epsilon} is out of range; epsilon must be in (0, 0.5]")
    rng = np.random.default_rng(seed)
    leaves = rank - 2 - waiting
    good, bad, wait = leaves, leaves + 1, leaves + 2
    secret_actions = rng.integers(actions, size=leaves)
    last_entry = max(1, horizon // 3) if waiting else 0
    secret_step = int(rng.integers(1, last_entry + 1)) if waiting else 0

    transitions = np.zeros((horizon, rank, actions, rank))
    transitions[:, :leaves, :, [good, bad]] = 0.5
    transitions[secret_step, np.arange(leaves), secret_actions, good] += epsilon
    transitions[secret_step, np.arange(leaves), secret_actions, bad] -= epsilon
    transitions[:, good, :, good] = transitions[:, bad, :, bad] = 1.0
    if waiting:
        transitions[:, wait, :, :leaves] = 1.0 / leaves
        transitions[: last_entry - 1, wait, 0] = np.eye(rank)[wait]
    rewards = np.zeros((horizon, rank, actions))
    paying_steps = slice(last_entry + 1, horizon)
    rewards[paying_steps, good] = 1.0 / (horizon - last_entry - 1)
    leaf_start = np.repeat([1.0 / leaves, 0.0], [leaves, rank - leaves])
    return LowRankMDP(
        transitions,
        np.broadcast_to(np.eye(rank), (horizon, rank, rank)),
        rewards,
        np.eye(rank)[wait] if waiting else leaf_start,
        name="lower-bound",
        parameters={
            "horizon": horizon,
            "rank": rank,
            "actions": actions,
            "epsilon": epsilon,
            "seed": seed,
        },
    )
