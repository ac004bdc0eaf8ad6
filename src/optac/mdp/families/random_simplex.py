"""A random latent-variable MDP: features and factors drawn from Dirichlet distributions, a sparse reward.

A small concentration makes the factors peaky, so that what the policy does decides where it ends; a large
one lets uniform play cover everything and all algorithms tie.
"""

import numpy as np

from optac.mdp.low_rank import LowRankMDP
from optac.settings import require_at_least, require_memory

REWARDED_MASS = 0.8


def random_simplex(
    *,
    states: int = 30,
    actions: int = 4,
    horizon: int = 5,
    rank: int = 3,
    concentration: float = 0.1,
    seed: int = 0,
) -> LowRankMDP:
    """φ_h(s,a) ~ Dir(c·1_d), μ_h,z ~ Dir(c·1_S), and a reward in the last step only.

    One factor z* of the last but one step is drawn; in the states that make up 80 % of its mass one drawn
    action pays 1, nothing else pays. So a learner must find how to reach z*, then what to do there.
    """
    require_at_least(1, states=states, actions=actions, horizon=horizon, rank=rank)
    require_at_least(1e-3, concentration=concentration)
    entries = horizon * states * (actions + 1) * rank
    require_memory(8 * entries, "the problem's features", "states, actions, horizon or rank")
    rng = np.random.default_rng(seed)
    phi = _dirichlet(rng, (horizon, states, actions), rank, concentration)
    mu = _dirichlet(rng, (horizon, rank), states, concentration)
    rewards = np.zeros((horizon, states, actions))
    goal = _goal_states(mu[-2, rng.integers(rank)]) if horizon > 1 else np.array([0])
    rewards[-1, goal, rng.integers(actions, size=len(goal))] = 1.0
    return LowRankMDP(phi, mu, rewards)


def _goal_states(factor: np.ndarray) -> np.ndarray:
    """The fewest states that hold 80 % of a factor's mass."""
    order = np.argsort(-factor)
    count = int(np.searchsorted(np.cumsum(factor[order]), REWARDED_MASS)) + 1
    return order[:count]


def _dirichlet(
    rng: np.random.Generator, shape: tuple[int, ...], size: int, concentration: float
) -> np.ndarray:
    """Dirichlet draws by log-gamma variates: at c ≪ 1 a plain gamma underflows to an all-zero row."""
    log_gamma = np.log(rng.standard_gamma(concentration + 1, (*shape, size)))
    log_gamma += np.log(rng.random((*shape, size))) / concentration
    weights = np.exp(log_gamma - log_gamma.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
