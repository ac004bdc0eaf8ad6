"""The arguments of `solve`, checked and turned into what a run needs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from optac.algorithms.catalogue import Algorithm, traits
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP
from optac.models import FiniteClass, SimplexClass, truth_among_decoys
from optac.oracles import ModelClass


def rounds_of(
    iterations: int | None, episodes: int | None, module: Algorithm, algorithm: str, horizon: int
) -> int:
    for name, value in (("iterations", iterations), ("episodes", episodes)):
        if value is not None and (value != int(value) or value < 1):
            raise InvalidInput(f"{name}={value} is not valid; {name} must be a whole number, at least 1")
    if iterations is not None:
        return int(iterations)
    if episodes is None or traits(algorithm).commits:
        return module.default_iterations(horizon)
    if episodes < horizon:
        raise InvalidInput(f"episodes={episodes} is less than one round, which plays {horizon}; raise it")
    return episodes // horizon


def check_reachability(problem: LowRankMDP, algorithm: str) -> None:
    """An algorithm whose theorem needs every factor to be reachable refuses a problem where one is not."""
    if traits(algorithm).needs_reachability:
        from optac.mdp.facts import smallest_reachability

        eta = smallest_reachability(problem)
        if eta is not None and eta <= 0:
            raise InvalidInput(
                f"{algorithm} needs every factor of every step to be reachable (η_min > 0), and {problem.name} has "
                f"η_min = {eta:g}; use an algorithm without that assumption, such as raffle or flambe"
            )


def checked_seed(seed: int) -> int:
    if seed != int(seed) or seed < 0:
        raise InvalidInput(f"seed={seed} is not valid; seed must be a whole number, at least 0")
    return int(seed)


def chosen_class(
    problem: LowRankMDP,
    algorithm: str,
    model_class: str | Sequence[Any] | None,
    rank: int | None,
    candidates: int,
) -> ModelClass:
    """The class Θ an algorithm is given; by default simplex, or finite for those that need a list of features."""
    needs_list = traits(algorithm).finite_class
    chosen: ModelClass
    if model_class is None:
        model_class = "finite" if needs_list else "simplex"
    if model_class == "simplex":
        chosen = SimplexClass(rank=problem.rank if rank is None else rank)
    elif model_class == "finite":
        instance = int(problem.parameters.get("seed", 0))
        chosen = truth_among_decoys(problem.phi, problem.mu, candidates, instance)
    elif isinstance(model_class, str):
        raise InvalidInput(
            f"unknown model_class {model_class!r}; known: simplex, finite, or a list of candidates"
        )
    else:
        pairs = [(c.phi, c.mu) if isinstance(c, LowRankMDP) else tuple(c) for c in model_class]
        chosen = FiniteClass([(np.asarray(phi, float), np.asarray(mu, float)) for phi, mu in pairs])
    if needs_list and not isinstance(chosen, FiniteClass):
        raise InvalidInput(
            f"{algorithm} works on a list of candidate features; model_class must be finite or a list, "
            f"not {model_class}"
        )
    chosen.check(problem.states, problem.actions)
    return chosen


def checked_distribution(rho: Any, problem: LowRankMDP) -> np.ndarray:
    """ρ over (s, a), uniform by default."""
    shape = problem.states, problem.actions
    if rho is None:
        return np.full(shape, 1.0 / (shape[0] * shape[1]))
    array = np.asarray(rho, dtype=float)
    if array.shape != shape or not (array >= 0).all() or abs(array.sum() - 1) > 1e-6:
        raise InvalidInput(
            f"rho must be a distribution of shape {shape} (states, actions); got {array.shape}"
        )
    return array / array.sum()
