"""Small random problems, policies and models that the tests share."""

import numpy as np

from optac.mdp import LowRankMDP
from optac.models import LowRankModel


def random_problem(
    seed: int, *, horizon: int = 4, states: int = 5, actions: int = 3, rank: int = 2
) -> LowRankMDP:
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.ones(rank), size=(horizon, states, actions))
    mu = rng.dirichlet(np.ones(states), size=(horizon, rank))
    initial = rng.dirichlet(np.ones(states))
    return LowRankMDP(phi, mu, rng.random((horizon, states, actions)), initial)


def random_policy(seed: int, shape: tuple[int, int, int]) -> np.ndarray:
    rng = np.random.default_rng([seed, 7])
    return rng.dirichlet(np.ones(shape[2]), size=shape[:2])


def model_of(problem: LowRankMDP) -> LowRankModel:
    """The truth as a model."""
    shape = problem.phi.shape
    return LowRankModel(problem.phi, problem.mu, np.zeros(shape[0]), np.zeros(shape[:3], dtype=bool))
