"""A sweep as data: which runs it has, each with a readable id and everything that determines it.

A TOML file names agents, environments and seeds, or algorithms, problems and seeds; a setting with a list of values is
one more axis. Everything is checked here, before anything runs.
"""

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput, clipped, require_known, unknown_name
from optac.registry import add_paths, entries, find, ours
from optac.runs.kinds import KINDS
from optac.runs.training_config import training_config, training_id
from optac.settings import assignments, read

Settings = dict[str, Any]

MOST_BYTES = 1 << 20
MOST_RUNS = 10_000
_ALWAYS = ("seeds", "path")
_TRAINING = ("agents", "environments", "steps")
_SOLVING = ("algorithms", "problems", "iterations", "episodes")


@dataclass(frozen=True)
class SweptRun:
    """One run: its folder's name, what its config.json will hold, and how far it goes where that is known."""

    id: str
    config: Mapping[str, Any]

    @property
    def total(self) -> int | None:
        """Steps, or iterations where they are set."""
        total: int | None = self.config[KINDS[self.config["kind"]].total]
        return total


@dataclass(frozen=True)
class Sweep:
    """The sweep's name, the words it was given as, and its runs in the order in which they are started."""

    name: str
    given: Mapping[str, Any]
    runs: tuple[SweptRun, ...]


def read_sweep(file: Path) -> Sweep:
    """The sweep that a TOML file describes."""
    return sweep_of(file.stem, read_toml(file), beside=file.parent)


def read_toml(file: Path) -> dict[str, Any]:
    """The content of a TOML file, with optac's errors."""
    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_BYTES + 1)  # a device has no end
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror or error}") from error
    if len(text) > MOST_BYTES:
        raise InvalidInput(f"{file} has more than {MOST_BYTES:,} bytes; a sweep's file is shorter")
    try:
        return tomllib.loads(text.decode())
    except RecursionError as error:
        raise InvalidInput(f"{file} is nested too deeply; see docs/sweeps.md for an example") from error
    except ValueError as error:  # also where a number has thousands of digits
        raise InvalidInput(f"{file} is not TOML: {error}; see docs/sweeps.md for an example") from error


def sweep_of(name: str, given: Mapping[str, Any], beside: Path = Path()) -> Sweep:
    """The sweep that a TOML file's content describes; the folders that its `path` names are relative to `beside`."""
    require_known("part of a sweep", given, ("sweep", "settings"))
    axes, settings = table_of(given, "sweep"), table_of(given, "settings")
    require_known("key of [sweep]", axes, (*_ALWAYS, *_TRAINING, *_SOLVING))
    if not axes.keys() - {*_ALWAYS}:
        raise InvalidInput(
            "[sweep] names nothing to run; give agents with environments, or algorithms with problems"
        )
    kinds = _TRAINING if "agents" in axes or "environments" in axes else _SOLVING
    for key in axes:
        if key not in (*_ALWAYS, *kinds):
            raise InvalidInput(
                f"{key} does not go with {kinds[0]}: a sweep is {', '.join(_TRAINING)} or {', '.join(_SOLVING)}"
            )
    if "path" in axes:
        add_paths(beside / folder for folder in names_of(axes, "path"))
    planned = _training_runs(axes, settings) if kinds is _TRAINING else _solving_runs(axes, settings)
    runs, seen = list[SweptRun](), set[str]()
    for run in planned:
        runs.append(run)
        if len(seen) >= MOST_RUNS:
            raise InvalidInput(f"the sweep has more than {MOST_RUNS:,} runs; split it into several")
        if run.id in seen:
            raise InvalidInput(f"the run {run.id} comes twice; name every agent, environment and value once")
        seen.add(run.id)
    return Sweep(name, dict(given), tuple(runs))


def _training_runs(axes: Settings, settings: Settings) -> Iterator[SweptRun]:
    """Seeds outermost, so that the comparison is balanced wherever the sweep is stopped."""
    from optac.agents.training.environment_calls import made
    from optac.environments import check_environment

    agents, environments = names_of(axes, "agents"), names_of(axes, "environments")
    seeds, steps = seeds_of(axes), _whole(axes, "steps")
    if steps is None:
        raise InvalidInput(
            "steps is missing from [sweep]; say how many every run takes, as in steps = 200000"
        )
    for agent in agents:
        find("agent", agent)
    known = entries("agent")
    variants = {agent: list(_variants(settings, agent, agents, known)) for agent in agents}
    for environment in environments:
        with made(environment) as env:
            check_environment(env)
    for seed, environment, agent in itertools.product(seeds, environments, agents):
        for variant in variants[agent]:
            config = training_config(environment, agent, steps=steps, seed=seed, settings=variant)
            yield SweptRun(training_id(config), config)


def _solving_runs(axes: Settings, settings: Settings) -> Iterator[SweptRun]:
    from optac.runs.solving import SolveConfig, prepared_solve, problem_of

    algorithms, problems, seeds = names_of(axes, "algorithms"), names_of(axes, "problems"), seeds_of(axes)
    budget = {name: _whole(axes, name) for name in ("iterations", "episodes")}
    for algorithm in algorithms:
        find("algorithm", algorithm)
    for words in problems:
        name, *parameters = [words] if words.endswith(".npz") else words.split() or [""]
        chosen: Settings = {"problem": name, "parameters": assignments(parameters, "parameter"), **budget}
        problem = problem_of(SolveConfig(**chosen))
        for seed, algorithm in itertools.product(seeds, algorithms):
            for variant in _variants(settings, algorithm, algorithms, ours("algorithm")):
                preset = str(variant.pop("preset", "practical"))
                config = SolveConfig(
                    **chosen, algorithm=algorithm, seed=seed, preset=preset, settings=variant
                )
                prepared = prepared_solve(config, problem)
                yield SweptRun(prepared.id, prepared.config)


def _variants(
    settings: Settings, who: str, among: Sequence[str], known: Mapping[str, Any]
) -> Iterator[Settings]:
    """The settings of one agent or algorithm, a dictionary for each combination of listed values."""
    own: Settings = {name: value for name, value in settings.items() if not isinstance(value, dict)}
    for name in (name for name, value in settings.items() if isinstance(value, dict)):
        if name not in among:
            if name in known:
                raise InvalidInput(f"[settings.{name}] is for {name}, which the sweep does not run")
            raise unknown_name("table of [settings]", name, among)
    own |= table_of(settings, who)
    for name, value in own.items():
        if value == []:
            raise InvalidInput(f"{name} = [] leaves no run; give it a value or leave it out")
    choices = [value if isinstance(value, list) else [value] for value in own.values()]
    for values in itertools.product(*choices):
        yield dict(zip(own, values, strict=True))


def table_of(given: Mapping[str, Any], name: str) -> Settings:
    """A table of a TOML file, empty where it is not there."""
    value = given.get(name, {})
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} = {value!r} must be a table, [{name}]")
    return value


def names_of(axes: Settings, key: str) -> list[str]:
    """The names that a key lists: at least one."""
    names = axes.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        given = "is missing from [sweep]" if names is None else f"= {names!r} is not valid"
        raise InvalidInput(f'{key} {given}; give a list of names, as in {key} = ["…"]')
    if not names:
        raise InvalidInput(f"{key} is empty, so the sweep has no run; name at least one")
    return names


def seeds_of(axes: Settings) -> list[int]:
    """The seeds that a file names: a list, or how many from 0."""
    seeds = axes.get("seeds", [0])
    if type(seeds) is int and seeds > 0:
        if seeds > MOST_RUNS:
            raise InvalidInput(
                f"seeds = {clipped(seeds)} is more than the {MOST_RUNS:,} runs that a sweep may have"
            )
        return list(range(seeds))
    if not isinstance(seeds, list) or not all(type(seed) is int and seed >= 0 for seed in seeds):
        raise InvalidInput(
            f"seeds = {seeds!r} is not valid; give a list such as [0, 1, 2, 3], or how many, from 0"
        )
    if not seeds:
        raise InvalidInput("seeds is empty, so the sweep has no run; name at least one")
    return seeds


def _whole(axes: Settings, key: str) -> int | None:
    value: int | None = read(key, axes.get(key), int | None, least=1)
    return value
