"""`make_problem`: a named family, a file, or a toy-text environment, with its parameters read and checked."""

import inspect
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from optac import registry
from optac.errors import InvalidInput, InvalidProblem
from optac.mdp.exact_problem import ExactProblem
from optac.mdp.families.smooth_walk import SmoothWalk
from optac.mdp.low_rank import LowRankMDP
from optac.mdp.rich_problem import RichProblem
from optac.mdp.tabular import TabularMDP
from optac.settings import changed, parameters_of, read, read_parameters
from optac.words import plain

# What reading a damaged archive or an array with an odd header raises; a size that no memory has is one of them.
_UNREADABLE = (
    *(OSError, ArithmeticError, LookupError, RuntimeError, MemoryError, ValueError, TypeError, EOFError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)

UNNAMED = ("arrays", "tables")
"""what a problem is called that nobody gave a name; the name of its file says more"""

Problem: TypeAlias = LowRankMDP | SmoothWalk | RichProblem


@runtime_checkable
class ProblemFamily(Protocol):
    """A function that makes a problem from keywords, each with an annotation (bool, int, float, str, a Literal) and a
    default; `seed` draws the instance, and the same seed draws the same one."""

    def __call__(self, *, seed: int = 0) -> ExactProblem:
        """The problem, usually a LowRankMDP; one without parameters is given its family's name and parameters."""
        ...


def make_problem(name: str | Path | ProblemFamily, **parameters: Any) -> Any:
    """The problem of a named family, of an .npz file, or of a toy-text environment's id; `seed` draws the instance.

    A family may be one's own: a function, or its location `package.module:function`. A LowRankMDP, or for
    `smooth-walk`, whose states are continuous, a SmoothWalk, for one seen through observations a RichProblem.
    """
    return described(str(name) if isinstance(name, Path) else name, parameters).make()


@dataclass(frozen=True)
class ProblemChoice:
    """A problem by name, with its parameters as values: all of them, and those that are not the defaults."""

    name: str
    make: Callable[[], Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)


def described(family: str | ProblemFamily, given: Mapping[str, Any]) -> ProblemChoice:
    """The problem that a name and parameters stand for; wrong ones are refused, and nothing is made yet."""
    if not isinstance(family, str):
        return _of_family(getattr(family, "__name__", type(family).__name__), family, given)
    name = family
    if name.endswith(".npz"):
        if given:
            raise InvalidInput(f"a problem from a file takes no parameters; got {', '.join(given)}")
        return ProblemChoice(name, lambda: load_problem(Path(name)))
    if re.search(r"-v\d+$", name):
        return _environment(name, given)
    entry = registry.find("problem", name)
    return _of_family(entry.name, entry.load(), given)


def load_problem(path: str | Path, *, trust: bool = False) -> Any:
    """The problem in an .npz: of P and r, of phi, mu and rewards, or of a family with its parameters.

    A family that only the file names is imported with `trust` alone.
    """
    arrays = _read(Path(path))

    def one(name: str, default: Any) -> Any:
        """A number or a text of the file."""
        array = arrays.get(name, np.array(default))
        if array.ndim:
            raise InvalidProblem(f"{path}: {name} must be a single value; it has shape {array.shape}")
        return array.item()

    parameters = _parameters(path, one("parameters", "{}"))
    if "family" in arrays:
        with registry.named_by(path, trust=trust):
            return make_problem(str(one("family", "")), **parameters)
    name = str(one("name", str(path)))
    known: dict[str, Any] = {"name": str(path) if name in UNNAMED else name, "parameters": parameters}
    own = ("P", "r") if "P" in arrays else ("phi", "mu", "rewards")
    missing = set(own) - set(arrays)
    if missing:
        raise InvalidProblem(f"{path} lacks {', '.join(sorted(missing))}; it has {', '.join(sorted(arrays))}")
    initial = arrays.get("initial_state", np.array(0))
    if initial.ndim == 0 and np.issubdtype(initial.dtype, np.integer):
        initial = int(initial)
    horizon = read("horizon", one("horizon", None), int | None, least=1)
    if "P" in arrays:
        rescale = read("rescale", one("rescale", False), bool)
        return TabularMDP(arrays["P"], arrays["r"], horizon, initial, rescale=rescale, **known)

    def steps(name: str) -> np.ndarray:
        """An array of the file; what every step shares is there once."""
        array = arrays[name]
        shared = horizon is not None and array.shape[:1] == (1,)
        return np.broadcast_to(array, (horizon, *array.shape[1:])) if shared else array

    return LowRankMDP(
        steps("phi"),
        steps("mu"),
        steps("rewards"),
        initial,
        **known,
        reward_scale=read("reward_scale", one("reward_scale", 1.0), float),
        reward_offset=read("reward_offset", one("reward_offset", 0.0), float),
        features=arrays.get("features"),
    )


def _parameters(path: str | Path, text: Any) -> dict[str, Any]:
    """The parameters of a family, as a problem's file holds them."""
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{path}: its parameters are not a JSON object: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    """The arrays of an .npz."""
    kinds = "with P and r, or with phi, mu and rewards"
    if not path.is_file():
        raise InvalidProblem(f"no such file: {path}; a problem's file is an .npz {kinds}")
    if not zipfile.is_zipfile(path):
        raise InvalidProblem(f"{path} is not an .npz file; numpy.savez writes one {kinds}")
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except _UNREADABLE as error:
        raise InvalidProblem(f"{path} cannot be read as an .npz of plain arrays: {error}") from None


def _of_family(name: str, family: Any, given: Mapping[str, Any]) -> ProblemChoice:
    if not callable(family) or inspect.ismodule(family):
        raise InvalidInput(
            f"{name} is not a family of problems; name a function that makes one, as package.module:function"
        )
    usual, read_ones = parameters_of(family), read_parameters(family, given, name)
    parameters = {**usual, **read_ones}
    if "seed" in read_ones:
        read("seed", read_ones["seed"], int, least=0)
    missing = [one for one, default in parameters.items() if default is inspect.Parameter.empty]
    if missing:
        raise InvalidInput(f"{name} needs {', '.join(missing)}; give {'it' if len(missing) == 1 else 'them'}")

    def make() -> Any:
        made = family(**read_ones)
        if not isinstance(made, ExactProblem):
            raise InvalidInput(f"{name} made {type(made).__name__}, which is no problem; return a LowRankMDP")
        if not getattr(made, "parameters", None):  # it leaves to us to say what it is
            made.name, made.parameters = name, parameters
        return made

    return ProblemChoice(name, make, parameters, changed(read_ones, usual))


def _environment(name: str, given: Mapping[str, Any]) -> ProblemChoice:
    """A toy-text environment; what it takes beside the horizon is its own."""
    from optac.mdp.gymnasium_conversion import from_gymnasium

    if "horizon" not in given:
        raise InvalidInput(f"{name} needs a horizon, as in `{name} horizon=20`")
    parameters = {option: plain(value) for option, value in given.items()}
    parameters["horizon"] = read("horizon", given["horizon"], int, least=1)
    return ProblemChoice(name, lambda: from_gymnasium(name, **parameters), parameters, parameters)
