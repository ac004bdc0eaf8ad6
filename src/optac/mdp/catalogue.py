"""The named families of problems, and `make_problem`."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from optac.errors import InvalidInput, unknown_name
from optac.mdp.families.chains import deep_sea, river_swim
from optac.mdp.families.locks import combination_lock, observed_lock
from optac.mdp.families.lower_bound import lower_bound
from optac.mdp.families.random_simplex import random_simplex
from optac.mdp.families.smooth_walk import SmoothWalk, smooth_walk
from optac.mdp.low_rank import LowRankMDP, load_problem
from optac.mdp.parameters import require_at_least

Problem: TypeAlias = LowRankMDP | SmoothWalk

FAMILIES: Mapping[str, Callable[..., Problem]] = {
    "combination-lock": combination_lock,
    "observed-lock": observed_lock,
    "random-simplex": random_simplex,
    "river-swim": river_swim,
    "deep-sea": deep_sea,
    "lower-bound": lower_bound,
    "smooth-walk": smooth_walk,
}


def make_problem(name: str | Path, **parameters: Any) -> Any:
    """The problem of a named family, or the one in an .npz file; `seed` draws the instance.

    A LowRankMDP, or for `smooth-walk`, whose states are continuous, a SmoothWalk.
    """
    name = str(name)
    if name.endswith(".npz"):
        if parameters:
            raise InvalidInput(f"a problem from a file takes no parameters; got {', '.join(parameters)}")
        return load_problem(Path(name))
    if name not in FAMILIES:
        raise unknown_name("problem", name, FAMILIES)
    defaults = family_parameters(name)
    checked = {}
    for key, value in parameters.items():
        if key not in defaults:
            raise unknown_name(f"parameter of {name}", key, defaults)
        checked[key] = _converted(key, value, type(defaults[key]))
    require_at_least(0, seed=checked.get("seed", 0))
    return FAMILIES[name](**checked)


def family_parameters(name: str) -> dict[str, Any]:
    """The parameters of a family with their defaults."""
    signature = inspect.signature(FAMILIES[name])
    return {key: parameter.default for key, parameter in signature.parameters.items()}


def family_summary(name: str) -> str:
    """The first line of the family's documentation."""
    return (FAMILIES[name].__doc__ or "").splitlines()[0]


def _converted(name: str, value: Any, kind: type) -> Any:
    """The value as an int, float or bool; text is read as on the command line."""
    words = {"true": True, "false": False, "1": True, "0": False}
    try:
        if kind is bool:
            return words[str(value).lower()]
        if kind is int and (isinstance(value, bool) or float(value) != int(float(value))):
            raise ValueError
        return kind(float(value)) if kind is int else kind(value)
    except (KeyError, TypeError, ValueError, OverflowError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InvalidInput(f"{name}={value} is not valid; {name} must be {wanted}") from None
