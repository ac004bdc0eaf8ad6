"""Random problems with latents, unlike any family's: what neither presets nor searches were made for."""

import numpy as np

from optac.mdp import LowRankMDP

PEAKINESS = 0.2
TEMPTATION = 0.05
CODE_NOISE = 0.2


def own_problem(
    *, states: int = 50, actions: int = 5, horizon: int = 10, rank: int = 2, seed: int = 0
) -> LowRankMDP:
    """Each state shows one of d latents, drawn; P_h(·|z,a) ~ Dir(0.2), emissions ~ Dir(1) over a latent's states.

    In the last step one latent and action pay 1; on the way three in ten pairs of latent and action pay up to 0.05. The
    states' feature vectors are noisy codes of their latents.
    """
    rng = np.random.default_rng([seed, states, actions, horizon, rank])
    latent = np.concatenate([np.arange(rank), rng.integers(rank, size=states - rank)])
    emission = np.zeros((rank, states))
    for z in range(rank):
        emission[z, latent == z] = rng.dirichlet(np.ones((latent == z).sum()))
    tables = rng.dirichlet(np.full(rank, PEAKINESS), size=(horizon, rank, actions))
    shape = horizon, rank, actions
    rewards = TEMPTATION * rng.random(shape) * (rng.random(shape) < 0.3)
    rewards[-1] = 0.0
    rewards[-1, rng.integers(rank), rng.integers(actions)] = 1.0
    return LowRankMDP(
        phi=tables[:, latent],
        mu=np.broadcast_to(emission, (horizon, rank, states)),
        rewards=rewards[:, latent],
        initial_state=emission[0],
        features=np.eye(rank)[latent] + rng.normal(0.0, CODE_NOISE, (states, rank)),
    )
