"""`optac solve`: one algorithm on one problem, in a run's folder."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from optac.algorithms import Result
from optac.algorithms.loop.run import PreparedRun, prepare
from optac.errors import InvalidInput
from optac.mdp import Problem, make_problem
from optac.runs.folder import RunFolder
from optac.runs.identity import run_id
from optac.runs.json_files import Row, read_json_object, write_json
from optac.runs.lease import Claim
from optac.runs.running import at_work


@dataclass(frozen=True)
class SolveConfig:
    """Everything that determines a run of `optac solve`."""

    problem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "opt-ac"
    iterations: int | None = None
    episodes: int | None = None
    seed: int = 0
    preset: str = "practical"
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The run's readable name."""
        target = "-".join(
            [Path(self.problem).stem, *(f"{key}{value}" for key, value in self.parameters.items())]
        )
        determining = {
            "iterations": self.iterations,
            "episodes": self.episodes,
            "preset": self.preset,
            **self.settings,
        }
        if Path(self.problem).suffix == ".npz":  # another of the same name may lie elsewhere
            determining["problem"] = self.problem
        return run_id(self.algorithm, target, determining, self.seed)


def parse_assignments(words: Sequence[str], what: str) -> dict[str, str]:
    """`name=value` words as a mapping."""
    parsed: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InvalidInput(f"{word!r} is not a {what}; write it as name=value")
        if name in parsed:
            raise InvalidInput(f"{name} is given twice: {parsed[name]} and {value}")
        parsed[name] = value
    return parsed


def problem_of(config: SolveConfig) -> Any:
    """The problem a configuration names: a family, an .npz file, or a toy-text environment's id."""
    if re.search(r"-v\d+$", config.problem):
        from optac.mdp import from_gymnasium

        parameters = dict(config.parameters)
        horizon = parameters.pop("horizon", None)
        if horizon is None:
            raise InvalidInput(f"{config.problem} needs a horizon, as in `{config.problem} horizon=20`")
        options = {name: _plain(value) for name, value in parameters.items()}
        return from_gymnasium(config.problem, horizon=_whole("horizon", horizon), **options)
    return make_problem(config.problem, **config.parameters)


def run_solve(
    config: SolveConfig,
    problem: Problem,
    out: Path | None = None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> tuple[Result, RunFolder]:
    """Solve, with the history, the result and the last policy written to a run's folder."""
    run = _prepared(config, problem)
    path = out or fresh_path(Path("runs") / config.id)
    folder = RunFolder.create(path, _determining(config, run))
    with folder:
        return _run(run, folder, on_row), folder


def solve_configuration(config: SolveConfig, problem: Problem) -> dict[str, Any]:
    """Everything that determines a solve, as config.json holds it; bad input is refused."""
    return _determining(config, _prepared(config, problem))


def _determining(config: SolveConfig, run: PreparedRun) -> dict[str, Any]:
    source = Path(config.problem)
    digest = hashlib.sha256(source.read_bytes()).hexdigest() if source.suffix == ".npz" else None
    return {
        "kind": "solve",
        **asdict(config),
        "constants": asdict(run.settings),
        "problem_sha256": digest,
    }


def resume(
    path: Path | str,
    *,
    on_row: Callable[[Row], None] = lambda row: None,
    on_notice: Callable[[str], None] = lambda text: None,
    claim: Claim | None = None,
) -> Row:
    """Run an unfinished solve again, from its first iteration: it keeps no checkpoint. What its result.json holds.

    A finished one is left alone. In a sweep, `claim` is the attempt that the launcher asks for.
    """
    folder = RunFolder.open(path, claim)
    if not folder.is_finished:  # one that is may lie where nothing can be written
        with folder:
            if not folder.is_finished:  # meanwhile
                _run_again(folder, on_row)
    return read_json_object(folder.path / "result.json")


def _run_again(folder: RunFolder, on_row: Callable[[Row], None]) -> None:
    config = SolveConfig(**{name: folder.config[name] for name in SolveConfig.__dataclass_fields__})
    run = _prepared(config, problem_of(config))
    folder.cut(lambda row: False)
    _run(run, folder, on_row)


def fresh_path(path: Path) -> Path:
    """The path, or the first of path-2, path-3, … that does not exist."""
    number, fresh = 1, path
    while fresh.exists():
        number += 1
        fresh = path.with_name(f"{path.name}-{number}")
    return fresh


def _prepared(config: SolveConfig, problem: Problem) -> PreparedRun:
    """The run with all its input checked, before anything is written."""
    return prepare(
        problem,
        config.algorithm,
        iterations=config.iterations,
        episodes=config.episodes,
        seed=config.seed,
        preset=config.preset,
        **common_settings(config.settings),
    )


def _run(run: PreparedRun, folder: RunFolder, on_row: Callable[[Row], None]) -> Result:
    def keep(row: Row) -> None:
        folder.append(_recorded(row))
        on_row(row)

    with at_work(folder):
        folder.note_beginning()
        result = replace(run, progress=keep)()
        folder.check()
        summary = {**result.summary(), "settings": asdict(result.settings)}
        write_json(folder.path / "result.json", _recorded(summary))
        np.savez_compressed(folder.path / "policy.npz", allow_pickle=False, **result.last_policy.arrays())
    return result


def _recorded(row: Mapping[str, Any]) -> Row:
    """As a file holds it: the seconds, which a clock said, under `time/`."""
    return {name if name != "seconds" else "time/seconds": value for name, value in row.items()}


def common_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those that every algorithm shares read from text; the rest are the algorithm's to read."""
    readers: dict[str, Callable[[str, Any], Any]] = {
        "rank": _whole,
        "candidates": _whole,
        "keep_members": _yes_or_no,
    }
    reserved = {
        "iterations": "--iterations",
        "episodes": "--episodes",
        "seed": "--seed",
        "preset": "--preset",
        "algorithm": "--algorithm",
        "problem": "the first argument",
        "progress": "--quiet",
        "rho": "the Python keyword: it is an array",
    }
    for name in settings:
        if name in reserved:
            raise InvalidInput(f"set {name} with {reserved[name]}, not with --set")
    return {
        name: readers[name](name, value) if name in readers else value for name, value in settings.items()
    }


def _whole(name: str, value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise InvalidInput(f"{name}={value} is not valid; {name} must be a whole number") from None


def _yes_or_no(name: str, value: Any) -> bool:
    words = {"true": True, "false": False}
    if str(value).lower() not in words:
        raise InvalidInput(f"{name}={value} is not valid; {name} must be true or false")
    return words[str(value).lower()]


def _plain(value: str) -> Any:
    """An environment's option from text: true, false, a whole number, a number, or the text."""
    words: dict[str, Any] = {"true": True, "false": False}
    if str(value).lower() in words:
        return words[str(value).lower()]
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
