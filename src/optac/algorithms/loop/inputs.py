"""The arguments of `solve`, checked and turned into what a run needs: rounds, constants, a model class."""

import dataclasses
import inspect
import typing
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from optac import registry
from optac.algorithms.loop.handle import Sizes
from optac.algorithms.loop.rich_handle import episodes_a_round
from optac.algorithms.protocol import Algorithm, Traits
from optac.errors import InvalidInput, unknown_name
from optac.mdp import LowRankMDP, Problem, RichProblem, SmoothWalk
from optac.models import FiniteClass, FourierChoice, RichClass, walk_among_decoys
from optac.models.rich.decoder_class import RANK
from optac.models.rich.gaussian_class import GaussianClass
from optac.oracles import ModelClass
from optac.settings import changed, parameters_of, read, read_fields, whole

CANDIDATES = 64
RICH_CLASSES: Mapping[str, type[RichClass]] = {"decoders": RichClass, "gaussian": GaussianClass}
COMMON_SETTINGS: Mapping[str, str] = {
    "model_class": "what SL fits: simplex, decoder, linear, finite, or package.module:name; "
    "decoders or gaussian where only observations are seen",
    "rank": "d, the number of latents to fit; the problem's own by default",
    "candidates": "size of the finite class: the truth and decoys [64]",
    "rho": "the distribution over (s, a) of PE's regression, an array; in Python only [uniform]",
    "keep_members": "keep every policy of the mixture in memory [true]",
}
"""Settings every algorithm has, and what they mean; `solve` takes them by name."""

Choice = tuple[ModelClass, dict[str, Any]]
"""The class, and what of the choice is not the default and determines the result."""


def rounds_of(iterations: Any, cap: int | None, part: Algorithm, traits: Traits, problem: Problem) -> int:
    """The outer rounds a run may take; an algorithm that plays one roll-in a step is held to its cap on episodes."""
    horizon = problem.horizon
    played = episodes_a_round(horizon) if isinstance(problem, RichProblem) else horizon
    asked = None if iterations is None else whole("iterations", iterations)
    if cap is None or traits.commits:
        return part.default_iterations(horizon) if asked is None else asked
    if cap < played:
        raise InvalidInput(f"episodes={cap} is less than one round, which plays {played}; raise it")
    return cap // played if asked is None else min(asked, cap // played)


def check_fit(problem: Problem, algorithm: str, traits: Traits, settings: Mapping[str, Any]) -> None:
    """An algorithm refuses a problem that its theorem or its tables do not cover, and what it does not read there."""
    if isinstance(problem, SmoothWalk) and not traits.continuous:
        raise InvalidInput(
            f"{algorithm} works on tables and {problem.name} has continuous states; solve it with opt-ac"
        )
    if isinstance(problem, RichProblem) and not traits.rich:
        raise InvalidInput(
            f"{algorithm} works on tables and {problem.name} shows observations only; solve it with opt-ac"
        )
    meaningless = [name for name in settings if name in traits.rich_without]
    if isinstance(problem, RichProblem) and meaningless:
        raise InvalidInput(
            f"{problem.name} shows observations only, where {algorithm} does not read {', '.join(meaningless)}; leave "
            "out what would change nothing"
        )
    if traits.needs_reachability and isinstance(problem, LowRankMDP):
        from optac.mdp.facts import smallest_reachability

        eta = smallest_reachability(problem)
        if eta is not None and eta <= 0:
            raise InvalidInput(
                f"{algorithm} needs every factor of every step to be reachable (η_min > 0), and {problem.name} has "
                f"η_min = {eta:g}; use an algorithm without that assumption, such as raffle or flambe"
            )


def checked_distribution(rho: Any, problem: Problem) -> np.ndarray:
    """ρ over (s, a), uniform by default."""
    shape = problem.states, problem.actions
    if rho is None:
        return problem.uniform_pairs()
    try:
        array = np.asarray(rho, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"rho must be numbers of shape {shape} (states, actions); {error}") from None
    if array.shape != shape or not (array >= 0).all() or abs(array.sum() - 1) > 1e-6:
        raise InvalidInput(
            f"rho must be a distribution of shape {shape} (states, actions); got {array.shape}"
        )
    return array / array.sum()


def resolved_settings(
    algorithm: Algorithm, preset: str, sizes: Sizes, overrides: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The algorithm's Settings for these sizes, and those of them that are not the preset's. None is negative."""
    if preset not in algorithm.PRESETS:
        raise unknown_name("preset", preset, algorithm.PRESETS)
    usual = algorithm.PRESETS[preset](sizes)
    chosen = dataclasses.replace(
        usual, **read_fields(algorithm.Settings, overrides, least=0, also=COMMON_SETTINGS)
    )
    return chosen, changed(dataclasses.asdict(chosen), dataclasses.asdict(usual), algorithm.Settings)


def chosen_class(
    problem: Problem,
    algorithm: str,
    traits: Traits,
    model_class: Any,
    *,
    rank: int | None,
    candidates: int,
    settings: dict[str, Any],
) -> Choice:
    """The class; by default simplex, or finite for those that need a list of features.

    On a continuous problem the size of its Fourier features is taken out of the settings.
    """
    if isinstance(problem, RichProblem):
        return _decoders(problem, model_class, rank)
    if isinstance(problem, SmoothWalk):
        return _kernels(problem, model_class, rank, candidates, settings)
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
    if isinstance(chosen, FiniteClass):
        chosen.check_horizon(problem.horizon)
    return chosen, {} if traits.without_class else choices


def _decoders(problem: RichProblem, model_class: Any, rank: int | None) -> Choice:
    """The class of a problem that shows observations only."""
    name = "decoders" if model_class is None else model_class
    if name not in RICH_CLASSES:
        raise InvalidInput(
            f"the model class of {problem.name} is one of {', '.join(RICH_CLASSES)}, not {model_class}"
        )
    chosen = RICH_CLASSES[name](problem.dim, RANK if rank is None else rank)
    return chosen, changed(
        {"rank": chosen.rank, "model_class": name}, {"rank": RANK, "model_class": "decoders"}
    )


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
    walk: SmoothWalk, model_class: Any, rank: int | None, candidates: int, settings: dict[str, Any]
) -> Choice:
    """The class of a continuous problem: its own kernel among others of its family."""
    if rank is not None or model_class not in (None, "finite"):
        raise InvalidInput(
            f"the model class of {walk.name} is a list of candidate kernels, model_class=finite, whose rank "
            "follows from the Fourier features; set candidates, frequencies, radius or next_samples instead"
        )
    kinds = typing.get_type_hints(FourierChoice)
    sizes = {name: read(name, settings.pop(name), kinds[name], least=0) for name in kinds if name in settings}
    fourier = FourierChoice(**sizes)
    given = {"candidates": candidates, **dataclasses.asdict(fourier)}
    defaults = {"candidates": CANDIDATES, **dataclasses.asdict(FourierChoice())}
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
