"""The model class Θ that an algorithm is given: a name of the registry, a list of candidates, or an object."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from optac import registry
from optac.algorithms.protocol import Traits
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, Problem, SmoothWalk
from optac.models import FiniteClass, FourierChoice, walk_among_decoys
from optac.oracles import ModelClass
from optac.settings import changed, parameters_of

CANDIDATES = 64

Choice = tuple[ModelClass, dict[str, Any]]
"""The class, and what of the choice is not the default and determines the result."""


def chosen_class(
    problem: Problem,
    algorithm: str,
    traits: Traits,
    model_class: Any,
    *,
    rank: int | None,
    candidates: int,
    fourier: FourierChoice,
) -> Choice:
    """The class; by default simplex, or finite for those that need a list of features."""
    if isinstance(problem, SmoothWalk):
        return _kernels(problem, model_class, rank, candidates, fourier)
    usual = "finite" if traits.finite_class else "simplex"
    model_class = usual if model_class is None else model_class
    offered = {"problem": problem, "rank": problem.rank if rank is None else rank, "candidates": candidates}
    defaults = {"problem": problem, "rank": problem.rank, "candidates": CANDIDATES}
    if isinstance(model_class, str):
        entry = registry.find("model class", model_class)
        chosen, used = _made(entry.name, entry.load(), offered)
        choices = {name: offered[name] for name in used if offered[name] != defaults[name]}
        if entry.name != usual:
            choices["model_class"] = entry.name
    elif isinstance(model_class, Sequence):
        chosen = FiniteClass([_candidate(problem, i, given) for i, given in enumerate(model_class)])
        choices = {"model_class": "a list"}
    else:
        chosen, choices = checked_class(model_class), {"model_class": type(model_class).__name__}
    if traits.finite_class and not isinstance(chosen, FiniteClass):
        raise InvalidInput(
            f"{algorithm} works on a list of candidate features; model_class must be finite or a list, "
            f"not {model_class}"
        )
    chosen.check(problem.states, problem.actions)
    return chosen, choices


def checked_class(part: Any, name: str | None = None) -> ModelClass:
    """The part as a model class; what it lacks is named."""
    called = type(part).__name__ if name is None else name
    missing = [] if hasattr(part, "rank") else ["rank"]
    functions = ("check", "empty_data", "log_size", "fit")
    missing += [f"{one}()" for one in functions if not callable(getattr(part, one, None))]
    if missing:
        raise InvalidInput(
            f"{called} is not a model class: it has no {', '.join(missing)}; see optac.extend.ModelClass"
        )
    return cast(ModelClass, part)


def _made(name: str, part: Any, offered: Mapping[str, Any]) -> tuple[ModelClass, list[str]]:
    """The class that a registered part makes or is, and which of the offered arguments it takes."""
    if not inspect.isclass(part) and not inspect.isroutine(part):
        return checked_class(part, name), []
    parameters = parameters_of(part)
    needed = [one for one, default in parameters.items() if default is inspect.Parameter.empty]
    if not set(needed) <= offered.keys():
        raise InvalidInput(
            f"the model class {name} needs {', '.join(needed)}; a class that is named takes no arguments but "
            f"{', '.join(offered)}: give the others defaults"
        )
    used = [one for one in offered if one in parameters]
    return checked_class(part(**{one: offered[one] for one in used}), name), used


def _kernels(
    walk: SmoothWalk, model_class: Any, rank: int | None, candidates: int, fourier: FourierChoice
) -> Choice:
    """The class of a continuous problem: its own kernel among others of its family."""
    if rank is not None or model_class not in (None, "finite"):
        raise InvalidInput(
            f"the model class of {walk.name} is a list of candidate kernels, model_class=finite, whose rank "
            "follows from the Fourier features; set candidates, frequencies, radius or next_samples instead"
        )
    given = {"candidates": candidates, **asdict(fourier)}
    defaults = {"candidates": CANDIDATES, **asdict(FourierChoice())}
    return walk_among_decoys(walk, candidates, fourier), changed(given, defaults)


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
