"""Names and the parts they stand for: problems, model classes, algorithms, agents and callbacks, ours and others'.

Wherever a name is taken, `load(kind, name)` finds the part: one of ours, one that an installed package registers under
the entry-point groups below, or one that the name locates itself, as `package.module` or `package.module:name`.
Nothing is imported before `load`, and the installed packages are looked through only for a name that is not ours.

Code comes from installed packages and from the folders given to `add_paths`, never from the working folder. While
what a run's folder or a saved agent names is looked up (`named_by`), nothing is imported that only the file names.
"""

import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from optac.errors import InvalidInput, OptacError, unknown_name

Kind = Literal["problem", "model class", "algorithm", "agent", "callback"]
GROUPS: Mapping[Kind, str] = {
    "problem": "optac.problems",
    "model class": "optac.model_classes",
    "algorithm": "optac.algorithms",
    "agent": "optac.agents",
    "callback": "optac.callbacks",
}


class Untrusted(InvalidInput):
    """A file names code that nobody else has named; the text says what would be imported."""


class ModuleMissing(InvalidInput):
    """A module that is neither installed nor in a folder that --path names."""


@dataclass(frozen=True)
class Entry:
    """A part by name: what it is in one line, where it lives, and the installed package that brings it."""

    kind: Kind
    name: str
    summary: str
    location: str
    package: str = "optac"
    registered: bool = True
    """whether the name is ours or an installed package's; else it is a location"""

    def load(self) -> Any:
        """The part itself: a module, or what `module:name` names in it."""
        if self.registered:
            with named_by(None):
                return located(self.kind, self.location)
        return located(self.kind, self.location)


OURS: Mapping[Kind, Mapping[str, tuple[str, str]]] = {
    "problem": {
        "combination-lock": (
            "optac.mdp.families.locks:combination_lock",
            "The lock with its latent row observed: S = 3, rank 3.",
        ),
        "observed-lock": (
            "optac.mdp.families.locks:observed_lock",
            "The lock seen through ids: a row shows one of m ids, so S = 3m and the rank stays 3.",
        ),
        "random-simplex": (
            "optac.mdp.families.random_simplex:random_simplex",
            "Both factors drawn from Dirichlet distributions, and a reward in the last step only.",
        ),
        "river-swim": (
            "optac.mdp.families.chains:river_swim",
            "Six states in a river, start at the left bank; TabulaRL's transition table (Osband).",
        ),
        "deep-sea": (
            "optac.mdp.families.chains:deep_sea",
            "The diver of bsuite: N×N cells, one row per step, the state is the column, V* = 1 when deterministic.",
        ),
        "lower-bound": (
            "optac.mdp.families.lower_bound:lower_bound",
            "One secret among all triples of step, leaf and action earns ε more than a half; S = d states.",
        ),
        "smooth-walk": (
            "optac.mdp.families.smooth_walk:smooth_walk",
            "A walk in [0, 1]^dim with smooth transition densities and a goal to reach; states are continuous.",
        ),
        "rich-lock": (
            "optac.mdp.families.rich_lock:rich_lock",
            "The lock behind rotated noisy observations in R^dim, with distractors louder than the signal.",
        ),
        "rich-sea": (
            "optac.mdp.families.rich_sea:rich_sea",
            "Deep-sea by rotated noisy images of N×N pixels.",
        ),
    },
    "model class": {
        "simplex": ("optac.models.simplex:SimplexClass", "both factors on the simplex, fitted by EM"),
        "decoder": ("optac.models.decoder:DecoderClass", "states show latents through an unknown decoder"),
        "linear": ("optac.models.decoder:linear_class", "a decoder linear in the states' feature vectors"),
        "finite": ("optac.models.finite_class:decoy_class", "the truth among decoys, fitted exactly"),
    },
    "algorithm": {
        "opt-ac": (
            "optac.algorithms.opt_ac",
            "optimistic actor-critic: SL and PE only (the paper's Algorithm 1)",
        ),
        "rep-ucb": (
            "optac.algorithms.rep_ucb",
            "plans in the fitted model with an elliptical bonus: SL and PP (Uehara, Zhang and Sun)",
        ),
        "raffle": (
            "optac.algorithms.raffle",
            "reward-free: plans for the bonus alone, cut off at 1, then for any reward: SL and PP (Cheng et al.)",
        ),
        "flambe": (
            "optac.algorithms.flambe",
            "reward-free: an elliptical planner covers the fitted features: SL and PP (Agarwal et al.)",
        ),
        "moffle": (
            "optac.algorithms.moffle",
            "reward-free, model-free: min-max features and a cover by FQI; pays CP rounds (Modi et al.)",
        ),
        "spanrl": (
            "optac.algorithms.spanrl",
            "reward-free, model-free: a barycentric spanner of policies by PSDP; pays CP rounds (Mhammedi et al.)",
        ),
        "lsvi-ucb": (
            "optac.algorithms.lsvi_ucb",
            "reference that knows the features: optimistic least squares (Jin et al.)",
        ),
        "ucbvi": (
            "optac.algorithms.ucbvi",
            "reference for tables: optimistic value iteration on counts (Azar et al.)",
        ),
        "epsilon-greedy": (
            "optac.algorithms.epsilon_greedy",
            "plans in the fitted table, explores by chance only",
        ),
    },
    "agent": {
        "sac": ("optac.agents.sac", "soft actor-critic, the baseline"),
        "crffsac": ("optac.agents.crffsac", "its critic on features that predict the next state"),
        "crffsac-bonus": (
            "optac.agents.crffsac:WITH_BONUS",
            "the same with the elliptical bonus in the critic's target",
        ),
        "td7sac": ("optac.agents.td7sac", "soft actor-critic on TD7's embeddings, replay by priority"),
    },
    "callback": {
        "tensorboard": (
            "optac.agents.training.callbacks:TensorBoard",
            "every number of every row as TensorBoard events",
        ),
    },
}

_paths: list[str] = []
_naming: ContextVar[str | None] = ContextVar("_naming", default=None)


def ours(kind: Kind) -> dict[str, Entry]:
    """The package's own entries of a kind, by name."""
    return {name: Entry(kind, name, line, place) for name, (place, line) in OURS[kind].items()}


def others(kind: Kind) -> dict[str, Entry]:
    """The entries that installed packages register, by name; a name of ours stays ours."""
    from importlib import metadata  # takes longer to import than the rest of the command together

    found = {}
    for point in metadata.entry_points(group=GROUPS[kind]):
        package, line = "unknown", ""
        if point.dist is not None:
            package, line = f"{point.dist.name} {point.dist.version}", point.dist.metadata["Summary"] or ""
        if point.name not in OURS[kind]:
            found[point.name] = Entry(kind, point.name, line, point.value, package)
    return found


def entries(kind: Kind) -> dict[str, Entry]:
    """All entries of a kind, ours first: what `optac list` shows."""
    return ours(kind) | others(kind)


def find(kind: Kind, name: str) -> Entry:
    """The entry of a name, or of a location `package.module` or `package.module:name`; nothing is imported."""
    mine = ours(kind)
    if name in mine:
        return mine[name]
    for entry in mine.values():
        if entry.location == name:
            return entry
    theirs = others(kind)
    if name in theirs:
        return theirs[name]
    if "." in name or ":" in name or name.isidentifier():
        package = name.partition(":")[0].partition(".")[0]
        return Entry(kind, name, "", name, package, registered=False)
    raise unknown_name(kind, name, [*mine, *theirs])


def load(kind: Kind, name: str) -> Any:
    """The part that a name stands for."""
    return find(kind, name).load()


def nearest(kind: Kind, given: str) -> str:
    """The end of an error about a module that is no such part: the known name that was perhaps meant."""
    names = [name for name in entries(kind) if name.replace("-", "") == given.replace("_", "").lower()]
    return f". Did you mean {names[0]}?" if names else ""


def located(kind: Kind, location: str) -> Any:
    """The module `package.module`, or what is called `name` in it for `package.module:name`."""
    module_name, _, name = location.partition(":")
    try:
        part = imported(module_name, f"{kind} {location!r}")
    except ModuleMissing:
        if "." in location or ":" in location:
            raise
        known = unknown_name(kind, location, entries(kind))
        raise InvalidInput(f"{known}; a module of one's own needs --path DIR") from None
    for attribute in filter(None, name.split(".")):
        if not hasattr(part, attribute):
            public = [one for one in vars(part) if not one.startswith("_")]
            raise unknown_name(f"{kind} in {module_name}", attribute, public)
        part = getattr(part, attribute)
    return part


def imported(module_name: str, what: str) -> ModuleType:
    """A module of one's own, from where code may come; whatever it raises is said in one line."""
    file = _naming.get()
    if file is not None and module_name not in sys.modules:
        raise Untrusted(
            f"{file} names {what}, which would import the module {module_name}: where you trust that code, import it "
            "first or say so with --trust (in Python trust=True)"
        )
    try:
        with without_working_folder():
            return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise ModuleMissing(
                f"{what}: there is no module {error.name}; install it or give its folder by --path DIR"
            ) from None
        raise InvalidInput(f"{what} needs the module {error.name}; install it") from error
    except OptacError:  # one that says what it lacks has said it
        raise
    except Exception as error:  # whatever a user's module may raise
        raise InvalidInput(f"{what} cannot be imported: {type(error).__name__}: {error}") from error


@contextmanager
def named_by(file: object, *, trust: bool = False) -> Iterator[None]:
    """Inside, names come from `file`: a module that is neither registered nor imported already is refused.

    With `trust`, or without a file, they may be imported.
    """
    token = _naming.set(None if trust or file is None else str(file))
    try:
        yield
    finally:
        _naming.reset(token)


def add_paths(folders: Iterable[str | Path]) -> None:
    """Let code come from these folders too; `paths` remembers them for config.json and for workers."""
    for folder in folders:
        absolute = str(Path(folder).resolve())
        if not os.path.isdir(absolute):
            raise InvalidInput(f"--path {folder} is not a folder; name one that holds the module or package")
        if absolute not in _paths:
            _paths.append(absolute)
            sys.path.insert(0, absolute)


def paths() -> list[str]:
    """The folders given to `add_paths`, absolute, in that order."""
    return list(_paths)


@contextmanager
def without_working_folder() -> Iterator[None]:
    """Imports inside do not look in the working folder, unless it was given to `add_paths`."""
    here = os.path.realpath(os.getcwd())
    before = list(sys.path)
    hidden = [place for place in before if os.path.realpath(place or here) == here and here not in _paths]
    sys.path[:] = [place for place in before if place not in hidden]
    kept = list(sys.path)
    try:
        yield
    finally:
        if sys.path == kept:
            sys.path[:] = before
