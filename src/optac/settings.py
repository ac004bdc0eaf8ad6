"""One reader of settings: Python keywords, command-line text and TOML give the same values, or the same error.

Read one value with `read`, the fields of a dataclass with `read_fields`, the parameters of a function with
`read_parameters`, `name=value` words with `assignments`. The kind of a value is its annotation: bool, int, float,
str, a Literal, or any of them `| None`. `setting` declares a field with its meaning and range.

An id covers what determines a result and differs from its preset: `changed` finds that, `canonical` gives it one
form, `digest` one hash, and `run_id` puts readable words around it. So neither the spelling (0.5, "0.50", 5e-1) nor
the order of settings matters, and a new setting whose default changes nothing changes no id.
"""

import dataclasses
import hashlib
import inspect
import json
import math
import os
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import ge, gt, le, lt
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAlias

from optac.errors import InvalidInput, clipped, unknown_name

Bound: TypeAlias = int | float | None

LARGEST = 2**63 - 1
"""of all whole numbers: what NumPy and JAX take"""
LARGEST_COUNT = 10**12
"""of steps, episodes and the like: nobody sees the end of more"""

ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("alpha", "ent_coef"), "initial_temperature"),
    **dict.fromkeys(("hidden_size", "net_arch"), "width"),
    **{"buffer_size": "replay_capacity", "gamma": "discount", "lr": "learning_rate", "n_critics": "critics"},
    **{"policy_delay": "actor_every", "tau": "target_rate", "n_eval_episodes": "eval_episodes"},
    **{"eval_freq": "eval_every", "log_interval": "log_every", "save_freq": "checkpoint_every"},
}
"""What a setting is called in Stable-Baselines3, rl_zoo3 or CleanRL, where that is another name than ours."""

TRUTH: Mapping[str, bool] = {"true": True, "false": False, "1": True, "0": False}
WANTED = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}


@dataclasses.dataclass(frozen=True)
class Range:
    """The bounds of a number; `least` and `most` are allowed themselves, `above` and `below` are not."""

    least: Bound = None
    most: Bound = None
    above: Bound = None
    below: Bound = None

    def __contains__(self, number: int | float) -> bool:
        ends = ((ge, self.least), (le, self.most), (gt, self.above), (lt, self.below))
        return all(bound is None or holds(number, bound) for holds, bound in ends)

    def __str__(self) -> str:
        bounds = {"at least": self.least, "at most": self.most, "above": self.above, "below": self.below}
        return " and ".join(f"{word} {bound}" for word, bound in bounds.items() if bound is not None)


def setting(default: Any, text: str, *, determines: bool = True, **bounds: Bound) -> Any:
    """A dataclass field with its meaning and Range; `determines=False` where no result depends on it."""
    metadata = {"help": text, "range": Range(**bounds), "determines": determines}
    return dataclasses.field(default=default, metadata=metadata)


def within(**bounds: Bound) -> Any:
    """A dataclass field without a default, with its Range; what it means stands under it."""
    return dataclasses.field(metadata={"range": Range(**bounds)})


def wanted(kind: Any, within: Range | None = None) -> str:
    """What may be given for a kind: `a whole number, at least 1`, `one of latents, phi`."""
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, UnionType) else (kind,)
    first = next(one for one in kinds if one is not NoneType)
    if typing.get_origin(first) is typing.Literal:
        words = f"one of {', '.join(map(str, typing.get_args(first)))}"
    else:
        bounds = "" if first is bool else str(within or "")
        words = ", ".join(filter(None, [WANTED[first], bounds]))
    return f"{words}, or none" if NoneType in kinds else words


def read(name: str, value: Any, kind: Any, **bounds: Bound) -> Any:
    """The value as its kind, in its Range; text is read as on the command line."""
    return _read(name, value, kind, Range(**bounds))


def read_fields(
    kind: type, given: Mapping[str, Any], *, least: Bound = None, also: Iterable[str] = ()
) -> dict[str, Any]:
    """The given settings as the fields of a dataclass; `least` bounds fields that say no range themselves.

    An unknown name is refused, the nearest first; `also` are names to show beside the fields.
    """
    kinds = typing.get_type_hints(kind)
    ranges = {field.name: field.metadata.get("range", Range(least)) for field in dataclasses.fields(kind)}
    for name in given:
        if name not in ranges:
            raise unknown_name("setting", name, [*ranges, *also], meant=ELSEWHERE.get(name))
    return {name: _read(name, value, kinds[name], ranges[name]) for name, value in given.items()}


def read_parameters(function: Callable[..., Any], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The given parameters as the keywords of a function, whose annotations and defaults say what they are."""
    usual, kinds = parameters_of(function), typing.get_type_hints(function)
    read_ones = {}
    for name, value in given.items():
        if name not in usual:
            raise unknown_name(f"parameter of {what}", name, usual)
        kind = kinds.get(name, type(usual[name]))
        if not _is_readable(kind):
            raise InvalidInput(
                f"{what} does not say of what kind its parameter {name} is; annotate it as bool, int, float, str, a "
                "Literal, or one of them | None"
            )
        read_ones[name] = _read(name, value, kind, Range())
    return read_ones


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a function with their defaults; `inspect.Parameter.empty` where one has none."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{function!r} does not say what parameters it takes; give a function that does"
        ) from None
    return {name: parameter.default for name, parameter in parameters.items()}


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """A count, however it was written, that something may come to the end of."""
    return int(read(name, value, int, least=least, most=LARGEST_COUNT))


def require_at_least(least: int | float, **numbers: int | float) -> None:
    """Every number is at least `least`, or an error that names the first that is not."""
    for name, value in numbers.items():
        if not value >= least:
            why = "not a number" if value != value else "too small"
            raise InvalidInput(f"{name}={value} is {why}; {name} must be at least {least}")


def require_memory(size: int, what: str, lower: str) -> None:
    """InvalidInput where so many bytes are more than this machine has; asked before anything is allocated."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size > there:
        raise InvalidInput(
            f"{what} would take {size / 2**30:,.0f} GiB, this machine has {there / 2**30:,.0f}; lower {lower}"
        )


def assignments(words: Iterable[str], what: str) -> dict[str, str]:
    """`name=value` words as a mapping; `what` names them in errors: parameter, setting."""
    parsed: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InvalidInput(f"{word!r} is not a {what}; write it as name=value")
        if name in parsed:
            raise InvalidInput(f"{name} is given twice: {parsed[name]} and {value}")
        parsed[name] = value
    return parsed


def changed(
    settings: Mapping[str, Any], usual: Mapping[str, Any], kind: type | None = None
) -> dict[str, Any]:
    """The settings that differ from the usual ones; of a dataclass `kind`, only those that determine a result."""
    fields = () if kind is None else dataclasses.fields(kind)
    idle = {field.name for field in fields if not field.metadata.get("determines", True)}
    return {
        name: value
        for name, value in settings.items()
        if name not in idle and (name not in usual or canonical(value) != canonical(usual[name]))
    }


def canonical(value: Any) -> Any:
    """The one JSON form of a value: mappings sorted, whole numbers without a point, paths as text."""
    if isinstance(value, Mapping):
        return {str(name): canonical(value[name]) for name in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):  # numpy's scalars
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shown(value: Any) -> str:
    """A value as a table shows it: six digits of a number are enough to tell it by."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def digest(determining: Mapping[str, Any]) -> str:
    """Eight hexadecimal digits of what determines a result."""
    text = json.dumps(canonical(determining), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def run_id(who: str, target: str, determining: Mapping[str, Any], seed: int) -> str:
    """As in `sac-Hopper-v5-1a2b3c4d-s0`: an agent or algorithm, its environment or problem, the hash, the seed.

    The number of steps is not in it: a run that is continued is the same run. Where the words for the target leave out
    what may tell it from another, as a minus, the hash has all of it.
    """
    told = determining if _PLAIN_TARGET.fullmatch(target) else {**determining, "target": target}
    return f"{_words(who)}-{_words(target)}-{digest(told)}-s{seed}"


def _read(name: str, value: Any, kind: Any, within: Range) -> Any:
    kinds = [kind]
    if typing.get_origin(kind) in (typing.Union, UnionType):
        kinds = [one for one in typing.get_args(kind) if one is not NoneType]
        if value is None or str(value).lower() == "none":
            return None
    if typing.get_origin(kinds[0]) is typing.Literal:
        return _choice(name, value, typing.get_args(kinds[0]))
    try:
        answer = _READERS[kinds[0]](value)
        if isinstance(answer, int) and answer > LARGEST and within.most is None:
            within = dataclasses.replace(within, most=LARGEST)
        if isinstance(answer, int | float) and answer not in within:
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError):
        told = f"{name}={clipped(value)}"
        raise InvalidInput(f"{told} is not valid; {name} must be {wanted(kind, within)}") from None
    return answer


def _is_readable(kind: Any) -> bool:
    """Whether values of a kind can be read: it is one of the plain ones, or a Literal, perhaps | None."""
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, UnionType) else (kind,)
    first = next((one for one in kinds if one is not NoneType), None)
    return typing.get_origin(first) is typing.Literal or first in _READERS


def _choice(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    for one in allowed:
        if value == one or str(value) == str(one):
            return one
    raise unknown_name(name, str(value), [str(one) for one in allowed])


def _truth(value: Any) -> bool:
    return TRUTH[str(value).lower()]


def _whole(value: Any) -> int:
    if isinstance(value, str):
        with suppress(ValueError):
            return int(value)
        value = float(value)
    number = int(value)
    if isinstance(value, bool) or number != value:
        raise ValueError
    return number


def _real(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _words(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-")


_PLAIN_TARGET = re.compile(r"[A-Za-z0-9.]+([-/:][A-Za-z0-9.]+)*( [A-Za-z0-9]+=[A-Za-z0-9.]+)*")
_READERS: Mapping[Any, Callable[[Any], Any]] = {bool: _truth, int: _whole, float: _real, str: _text}
