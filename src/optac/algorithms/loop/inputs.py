"""The arguments of `solve`, checked and turned into what a run needs."""

import typing
from typing import Any

import numpy as np

from optac.algorithms.protocol import Algorithm, Traits
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, Problem, SmoothWalk
from optac.models import FourierChoice
from optac.settings import read

LARGEST = 10**12


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """A count or seed, however it was written."""
    return int(read(name, value, int, least=least, most=LARGEST))


def rounds_of(iterations: Any, cap: int | None, part: Algorithm, traits: Traits, horizon: int) -> int:
    """The outer rounds a run may take; an algorithm that plays H episodes a round is held to its cap on episodes."""
    asked = None if iterations is None else whole("iterations", iterations)
    if cap is None or traits.commits:
        return part.default_iterations(horizon) if asked is None else asked
    if cap < horizon:
        raise InvalidInput(f"episodes={cap} is less than one round, which plays {horizon}; raise it")
    return cap // horizon if asked is None else min(asked, cap // horizon)


def check_fit(problem: Problem, algorithm: str, traits: Traits) -> None:
    """An algorithm refuses a problem that its theorem or its tables do not cover."""
    if isinstance(problem, SmoothWalk) and not traits.continuous:
        raise InvalidInput(
            f"{algorithm} works on tables and {problem.name} has continuous states; solve it with opt-ac"
        )
    if traits.needs_reachability and isinstance(problem, LowRankMDP):
        from optac.mdp.facts import smallest_reachability

        eta = smallest_reachability(problem)
        if eta is not None and eta <= 0:
            raise InvalidInput(
                f"{algorithm} needs every factor of every step to be reachable (η_min > 0), and {problem.name} has "
                f"η_min = {eta:g}; use an algorithm without that assumption, such as raffle or flambe"
            )


def fourier_choice(problem: Problem, settings: dict[str, Any]) -> FourierChoice:
    """The size of the Fourier features, taken out of the settings of a run on a continuous problem."""
    if not isinstance(problem, SmoothWalk):
        return FourierChoice()
    kinds = typing.get_type_hints(FourierChoice)
    given = {name: read(name, settings.pop(name), kinds[name], least=0) for name in kinds if name in settings}
    return FourierChoice(**given)


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
