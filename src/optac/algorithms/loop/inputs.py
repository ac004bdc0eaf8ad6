"""The arguments of `solve`, checked and turned into what a run needs."""

import typing
from collections.abc import Sequence
from typing import Any

import numpy as np

from optac.algorithms.catalogue import Algorithm, traits
from optac.algorithms.loop.settings import converted
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, Problem, SmoothWalk
from optac.mdp.parameters import whole_number
from optac.models import FiniteClass, FourierChoice, SimplexClass, truth_among_decoys, walk_among_decoys
from optac.oracles import ModelClass


def rounds_of(
    iterations: int | float | None,
    episodes: int | float | None,
    module: Algorithm,
    algorithm: str,
    horizon: int,
) -> int:
    """The outer rounds a run may take; an algorithm that plays H episodes a round is held to its cap on episodes."""
    asked = None if iterations is None else whole_number("iterations", iterations, least=1)
    cap = None if episodes is None else whole_number("episodes", episodes, least=1)
    if cap is None or traits(algorithm).commits:
        return module.default_iterations(horizon) if asked is None else asked
    if cap < horizon:
        raise InvalidInput(f"episodes={cap} is less than one round, which plays {horizon}; raise it")
    return cap // horizon if asked is None else min(asked, cap // horizon)


def check_reachability(problem: Problem, algorithm: str) -> None:
    """An algorithm whose theorem needs every factor to be reachable refuses a problem where one is not."""
    if traits(algorithm).needs_reachability and isinstance(problem, LowRankMDP):
        from optac.mdp.facts import smallest_reachability

        eta = smallest_reachability(problem)
        if eta is not None and eta <= 0:
            raise InvalidInput(
                f"{algorithm} needs every factor of every step to be reachable (η_min > 0), and {problem.name} has "
                f"η_min = {eta:g}; use an algorithm without that assumption, such as raffle or flambe"
            )


def fourier_choice(problem: Problem, algorithm: str, settings: dict[str, Any]) -> FourierChoice:
    """The size of the Fourier features, taken out of the settings of a run on a continuous problem."""
    if not isinstance(problem, SmoothWalk):
        return FourierChoice()
    if algorithm != "opt-ac":
        raise InvalidInput(
            f"{algorithm} works on tables and {problem.name} has continuous states; solve it with opt-ac"
        )
    kinds = typing.get_type_hints(FourierChoice)
    given = {name: converted(name, settings.pop(name), kinds[name]) for name in kinds if name in settings}
    return FourierChoice(**given)


def chosen_class(
    problem: Problem,
    algorithm: str,
    model_class: str | Sequence[Any] | None,
    rank: int | None,
    candidates: int,
    fourier: FourierChoice,
) -> ModelClass:
    """The class Θ an algorithm is given; by default simplex, or finite for those that need a list of features."""
    if isinstance(problem, SmoothWalk):
        if rank is not None or model_class not in (None, "finite"):
            raise InvalidInput(
                f"the model class of {problem.name} is a list of candidate kernels, model_class=finite, whose rank "
                "follows from the Fourier features; set candidates, frequencies, radius or next_samples instead"
            )
        return walk_among_decoys(problem, whole_number("candidates", candidates, least=1), fourier)
    needs_list = traits(algorithm).finite_class
    chosen: ModelClass
    if model_class is None:
        model_class = "finite" if needs_list else "simplex"
    if model_class == "simplex":
        chosen = SimplexClass(rank=problem.rank if rank is None else whole_number("rank", rank, least=1))
    elif model_class == "finite":
        instance = int(problem.parameters.get("seed", 0))
        size = whole_number("candidates", candidates, least=1)
        chosen = truth_among_decoys(problem.phi, problem.mu, size, instance)
    elif isinstance(model_class, str):
        raise InvalidInput(
            f"unknown model_class {model_class!r}; known: simplex, finite, or a list of candidates"
        )
    else:
        chosen = FiniteClass([_candidate(problem, i, given) for i, given in enumerate(model_class)])
    if needs_list and not isinstance(chosen, FiniteClass):
        raise InvalidInput(
            f"{algorithm} works on a list of candidate features; model_class must be finite or a list, "
            f"not {model_class}"
        )
    chosen.check(problem.states, problem.actions)
    return chosen


def _candidate(problem: LowRankMDP, i: int, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """A problem or a pair (phi, mu) as a candidate, checked as a problem's own arrays are."""
    try:
        phi, mu = (given.phi, given.mu) if isinstance(given, LowRankMDP) else given
        candidate = LowRankMDP(phi, mu, np.zeros(np.shape(phi)[:3]))
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"candidate {i} of model_class is not a problem or a pair (phi, mu): {error}"
        ) from None
    if candidate.shape != problem.shape:
        raise InvalidInput(
            f"candidate {i} of model_class has (H, S, A) = {candidate.shape}; the problem has {problem.shape}"
        )
    return candidate.phi, candidate.mu


def checked_distribution(rho: Any, problem: Problem) -> np.ndarray:
    """ρ over (s, a), uniform by default."""
    shape = problem.states, problem.actions
    if rho is None:
        return problem.uniform_pairs()
    array = np.asarray(rho, dtype=float)
    if array.shape != shape or not (array >= 0).all() or abs(array.sum() - 1) > 1e-6:
        raise InvalidInput(
            f"rho must be a distribution of shape {shape} (states, actions); got {array.shape}"
        )
    return array / array.sum()
