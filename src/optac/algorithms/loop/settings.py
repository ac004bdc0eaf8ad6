"""A preset's constants with the caller's on top, each name and type checked."""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from optac.algorithms.catalogue import Algorithm
from optac.algorithms.loop.handle import Sizes
from optac.errors import InvalidInput, unknown_name

COMMON_SETTINGS = ("model_class", "rank", "candidates", "rho", "keep_members")
"""Settings every algorithm has; `solve` takes them by name."""


def resolved_settings(algorithm: Algorithm, preset: str, sizes: Sizes, overrides: Mapping[str, Any]) -> Any:
    """The algorithm's Settings for these sizes."""
    if preset not in algorithm.PRESETS:
        raise unknown_name("preset", preset, algorithm.PRESETS)
    settings = algorithm.PRESETS[preset](sizes)
    kinds = typing.get_type_hints(algorithm.Settings)
    checked = {}
    for name, value in overrides.items():
        if name not in kinds:
            raise unknown_name("setting", name, [*kinds, *COMMON_SETTINGS])
        checked[name] = converted(name, value, kinds[name])
    return dataclasses.replace(settings, **checked)


def converted(name: str, value: Any, kind: Any) -> Any:
    """The value as the field's type; text is read as on the command line. Numbers must not be negative."""
    if typing.get_origin(kind) is typing.Literal:
        allowed = typing.get_args(kind)
        if value not in allowed:
            raise InvalidInput(f"{name}={value} is not valid; {name} must be one of {', '.join(allowed)}")
        return value
    try:
        if kind is bool:
            return {"true": True, "false": False}[str(value).lower()]
        number = float(value)
        if isinstance(value, bool) or not 0 <= number < float("inf"):
            raise ValueError
        if kind is int and number != int(number):
            raise ValueError
        return kind(number)
    except (KeyError, TypeError, ValueError):
        wanted = {
            bool: "true or false",
            int: "a whole number, at least 0",
            float: "a finite number, at least 0",
        }
        raise InvalidInput(f"{name}={value} is not valid; {name} must be {wanted[kind]}") from None
