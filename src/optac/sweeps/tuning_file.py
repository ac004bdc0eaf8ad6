"""A search as data: what a tuning's TOML file says, checked before anything runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from optac.errors import InvalidInput, require_known
from optac.registry import add_paths
from optac.runs.training_config import training_config
from optac.settings import read, whole
from optac.sweeps.plan import MOST_RUNS, names_of, read_toml, seeds_of, table_of

PARTS: Final = ("tune", "search", "settings")
KEYS: Final = ("agent", "environment", "steps", "trials", "together", "seeds", "seed", "prune", "path")
BOUNDS: Final = ("low", "high", "log", "step")


@dataclass(frozen=True)
class Searched:
    """The values that a setting may have: some choices, or all numbers between two."""

    choices: tuple[Any, ...] | None = None
    low: int | float = 0.0
    high: int | float = 0.0
    log: bool = False
    step: int | float | None = None
    whole: bool = False

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values that must be allowed for all to be."""
        return (self.low, self.high) if self.choices is None else self.choices


@dataclass(frozen=True)
class Tuning:
    """What is searched, how, and the words it was given as."""

    name: str
    given: Mapping[str, Any]
    agent: str
    environment: str
    steps: int
    trials: int
    search: Mapping[str, Searched]
    settings: Mapping[str, Any]
    seeds: tuple[int, ...] = (0,)
    seed: int = 0
    together: int = 4
    prune: bool = True


def read_tuning(file: Path) -> Tuning:
    """The search that a TOML file describes."""
    return tuning_of(file.stem, read_toml(file), beside=file.parent)


def tuning_of(name: str, given: Mapping[str, Any], beside: Path = Path()) -> Tuning:
    """The search that a TOML file's content describes; every value it may try is tried as a setting first."""
    require_known("part of a tuning", given, PARTS)
    keys, search, settings = (table_of(given, part) for part in PARTS)
    require_known("key of [tune]", keys, KEYS)
    for key in ("agent", "environment", "steps", "trials"):
        if key not in keys:
            raise InvalidInput(f"{key} is missing from [tune]; see docs/tuning.md for an example")
    if not search:
        raise InvalidInput(
            "[search] names no setting; give one, as in learning_rate = {low = 1e-5, high = 1e-2}"
        )
    if "path" in keys:
        add_paths(beside / folder for folder in names_of(keys, "path"))
    for one in search.keys() & settings.keys():
        raise InvalidInput(f"{one} is both in [search] and in [settings]; say it once")
    tuning = Tuning(
        name,
        dict(given),
        read("agent", keys["agent"], str),
        read("environment", keys["environment"], str),
        whole("steps", keys["steps"]),
        read("trials", keys["trials"], int, least=1, most=MOST_RUNS),
        {one: _searched(one, value) for one, value in search.items()},
        settings,
        tuple(seeds_of(keys)),
        read("seed", keys.get("seed", 0), int, least=0),
        read("together", keys.get("together", 4), int, least=1, most=MOST_RUNS),
        read("prune", keys.get("prune", True), bool),
    )
    return _checked(tuning)


def _searched(name: str, value: Any) -> Searched:
    if isinstance(value, list) and value:
        return Searched(choices=tuple(value))
    if not isinstance(value, dict) or not {"low", "high"} <= value.keys():
        raise InvalidInput(
            f"{name} = {value!r} is no search; write [64, 128] for choices or {{low = 1, high = 9}} for a range, with "
            "log = true or step = 2 where wanted"
        )
    require_known(f"part of {name}", value, BOUNDS)
    low, high = (read(f"{name}.{end}", value[end], float) for end in ("low", "high"))
    log, step = read(f"{name}.log", value.get("log", False), bool), value.get("step")
    if not low < high or (log and (low <= 0 or step is not None)):
        raise InvalidInput(
            f"{name} = {value!r} is no range; low must be below high, and with log = true above 0 and without a step"
        )
    return Searched(
        None, low, high, log, None if step is None else read(f"{name}.step", step, float, above=0.0)
    )


def _checked(tuning: Tuning) -> Tuning:
    """The tuning, its environment and every end of its search tried; a setting of whole numbers is searched in them."""
    from optac.agents.training.environment_calls import made
    from optac.environments import check_environment

    with made(tuning.environment) as env:
        check_environment(env)
    search = {}
    for name, one in tuning.search.items():
        read_back = [_read_back(tuning, name, end) for end in one.ends]
        whole = one.choices is None and all(isinstance(value, int) for value in read_back)
        search[name] = replace(one, whole=whole)
        if whole:
            low, high = read_back
            step = None if one.step is None else read(f"{name}.step", one.step, int, least=1)
            search[name] = replace(search[name], low=low, high=high, step=step)
    return replace(tuning, search=search)


def _read_back(tuning: Tuning, name: str, value: Any) -> Any:
    settings = {**tuning.settings, name: value}
    config = training_config(tuning.environment, tuning.agent, steps=tuning.steps, seed=0, settings=settings)
    return config["settings"][name]
