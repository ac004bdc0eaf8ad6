"""The hard instance behind the Ω(H d |A| / ε²) lower bound, after Domingues et al. (2021).

The learner waits as long as it likes, up to a third of the horizon, then walks down a tree to a leaf of its
choice; an action there leads to the good state with probability ½, or ½ + ε for one secret triple of step,
leaf and action. The good state pays 1 in all. So V* = ½ + ε, every other way of playing earns ½, and nothing
tells where the secret is but trying every triple about 1/ε² times.
"""

import numpy as np

from optac.errors import InvalidInput
from optac.mdp.low_rank import LowRankMDP
from optac.settings import read, require_at_least, require_memory


def lower_bound(
    *, horizon: int = 2, rank: int = 6, actions: int = 3, epsilon: float = 0.2, seed: int = 0
) -> LowRankMDP:
    """One secret among all triples of step, leaf and action earns ε more than a half; S = d states.

    H = 2 is a contextual bandit: d − 2 leaves, one drawn uniformly at the start, each with its own secret
    action. For H > 2: a waiting state, where action 0 waits and every other enters, and an |A|-ary tree of
    d − 3 nodes. Good pays in the steps after the latest arrival, in equal parts that sum to 1.
    """
    require_at_least(2, horizon=horizon)
    require_at_least(3 if horizon == 2 else 4, rank=rank)
    require_at_least(1, actions=actions)
    read("epsilon", epsilon, float, above=0, most=0.5)
    require_memory(8 * horizon * rank * actions * rank, "the problem's features", "horizon, rank or actions")
    rng = np.random.default_rng(seed)
    build = _bandit if horizon == 2 else _needle_in_a_tree
    transitions, rewards, initial = build(horizon, rank, actions, epsilon, rng)
    return LowRankMDP(transitions, np.broadcast_to(np.eye(rank), (horizon, rank, rank)), rewards, initial)


def _bandit(
    horizon: int, rank: int, actions: int, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, r and the start of the contextual bandit; the last two states are good and bad."""
    leaves, good, bad = np.arange(rank - 2), rank - 2, rank - 1
    transitions = _coin_flips(horizon, rank, actions, leaves)
    secret = rng.integers(actions, size=len(leaves))
    transitions[0, leaves, secret, good] += epsilon
    transitions[0, leaves, secret, bad] -= epsilon
    rewards = np.zeros((horizon, rank, actions))
    rewards[1, good] = 1.0
    initial = np.zeros(rank)
    initial[leaves] = 1.0 / len(leaves)
    return transitions, rewards, initial


def _needle_in_a_tree(
    horizon: int, rank: int, actions: int, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, r and the start of the instance with a waiting state; nodes are numbered as in a heap, root first."""
    nodes, wait, good, bad = rank - 3, rank - 3, rank - 2, rank - 1
    children = {
        node: list(range(actions * node + 1, min(actions * node + actions + 1, nodes)))
        for node in range(nodes)
    }
    depth = np.zeros(nodes, dtype=int)
    for node, below in children.items():
        depth[below] = depth[node] + 1
    if horizon < depth.max() + 3:
        raise InvalidInput(
            f"horizon={horizon} is too short for rank={rank} and actions={actions}; the tree takes "
            f"{depth.max() + 1} steps, so horizon must be 2 or at least {depth.max() + 3}"
        )
    entries = min(max(1, horizon // 3), horizon - 2 - int(depth.max()))
    leaves = np.array([node for node in range(nodes) if not children[node]])
    transitions = _coin_flips(horizon, rank, actions, leaves)
    for node, below in children.items():
        for action in range(actions if below else 0):
            transitions[:, node, action, below[action % len(below)]] = 1.0
    transitions[:, wait, :, 0] = 1.0
    transitions[: entries - 1, wait, 0] = np.eye(rank)[wait]
    # With a single action one can only wait to the end.
    entry = int(rng.integers(entries)) if actions > 1 else entries - 1
    leaf, action = int(rng.choice(leaves)), int(rng.integers(actions))
    transitions[entry + 1 + depth[leaf], leaf, action, good] += epsilon
    transitions[entry + 1 + depth[leaf], leaf, action, bad] -= epsilon
    first_paying = entries + 1 + int(depth.max())
    rewards = np.zeros((horizon, rank, actions))
    rewards[first_paying:, good] = 1.0 / (horizon - first_paying)
    return transitions, rewards, np.eye(rank)[wait]


def _coin_flips(horizon: int, rank: int, actions: int, leaves: np.ndarray) -> np.ndarray:
    """T with leaves that lead to good or bad at even odds, both of which absorb."""
    good, bad = rank - 2, rank - 1
    transitions = np.zeros((horizon, rank, actions, rank))
    transitions[:, leaves, :, good] = transitions[:, leaves, :, bad] = 0.5
    transitions[:, good, :, good] = transitions[:, bad, :, bad] = 1.0
    return transitions
