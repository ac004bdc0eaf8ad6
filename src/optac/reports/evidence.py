"""What the folders given to a report hold: training runs, runs of provable algorithms, and what could not be read.

A folder may be a run's, a sweep's, a comparison's, or one with such folders below it. A run that is damaged is left
out with a note that names it, and every other one is kept; only a folder with nothing to report is refused.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput, RunFailed
from optac.experiments.command_lines import compare_command, solve_command, train_command
from optac.experiments.run_folder import Row, RunFolder, read_json_object

DEPTH = 4
# They say when a run looks up from its work, not what it learns.
BOOKKEEPING = {"eval_every", "checkpoint_every", "log_every", "step_timeout"}


@dataclass(frozen=True)
class TrainingRun:
    """One seed of one agent in one environment."""

    path: Path
    config: Row
    rows: list[Row]
    state: str

    @cached_property
    def curve(self) -> dict[int, float]:
        """Step → mean return of the evaluation there; one that is not a number is none."""
        found = {}
        for row in self.rows:
            step, value = _number(row.get("time/total_timesteps")), _number(row.get("eval/mean_reward"))
            if step is not None and value is not None:
                found[int(step)] = value
        return found

    @property
    def agent(self) -> str:
        return str(self.config["agent"])

    @property
    def environment(self) -> str:
        return str(self.config["environment"])

    @property
    def seed(self) -> int:
        return int(self.config["seed"])

    @property
    def steps(self) -> int:
        """How far the run is meant to go."""
        return int(self.config["steps"])

    @property
    def is_complete(self) -> bool:
        """Whether it was evaluated at its last step."""
        return self.steps in self.curve

    @property
    def score(self) -> float:
        """The last evaluation."""
        return self.curve[self.steps]

    @property
    def learning_settings(self) -> dict[str, Any]:
        """The settings that what is learnt depends on: those of a part that is switched off are not among them."""
        settings = self.config["settings"]
        idle = {name for name in settings if name.startswith("bonus_") and not settings.get("bonus")}
        if settings.get("head") == "mlp":
            idle.add("fourier_bandwidth")
        return {name: value for name, value in settings.items() if name not in BOOKKEEPING | idle}

    @property
    def command(self) -> str:
        return train_command(self.config)


@dataclass(frozen=True)
class ProvableRun:
    """One seed of one algorithm on one problem, with its bill; a curve's points are (episodes, gap, last gap)."""

    path: Path
    config: Row
    problem: str
    algorithm: str
    seed: int
    episodes: int
    gap: float
    last_gap: float
    bill: Mapping[str, int]
    seconds: float
    curve: tuple[tuple[float, float, float], ...]
    command: str


@dataclass(frozen=True)
class Evidence:
    """Everything a report is made from."""

    folders: tuple[Path, ...]
    training: tuple[TrainingRun, ...]
    provable: tuple[ProvableRun, ...]
    notes: tuple[str, ...]


def gather(folders: Sequence[Path]) -> Evidence:
    """All runs in the folders, each counted once."""
    if not folders:
        raise InvalidInput("no folder was given; name the folders of runs to report on")
    notes: list[str] = []
    training: dict[Any, TrainingRun] = {}
    provable: dict[Any, ProvableRun] = {}
    for path in dict.fromkeys(found.resolve() for folder in folders for found in _found(folder, notes)):
        try:
            for run in _runs(RunFolder.open(path), notes):
                if isinstance(run, TrainingRun):
                    _keep(training, _training_identity(run), run, len(run.rows), notes)
                else:
                    key = (run.problem, run.algorithm, run.seed, run.command)
                    _keep(provable, key, run, run.episodes, notes)
        except (RunFailed, InvalidInput) as error:
            notes.append(f"left out: {error}")
        except OSError as error:
            notes.append(f"left out: {path} cannot be read: {error.strerror or error}")
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            notes.append(f"left out: {path} is damaged: {type(error).__name__} {error}")
    if not training and not provable:
        raise RunFailed(f"there is nothing to report: {'; '.join(notes)}")
    ordered = sorted(training.values(), key=lambda run: (run.environment, run.agent, run.steps, run.seed))
    return Evidence(tuple(folders), tuple(ordered), tuple(provable.values()), tuple(notes))


def _found(folder: Path, notes: list[str]) -> list[Path]:
    """The run folders at or below a folder the user named; there must be one."""
    if not folder.exists():
        raise InvalidInput(
            f"{folder} does not exist; give the folder of a run, of a sweep or of several runs"
        )
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; give the folder of a run, of a sweep or of several runs")
    try:
        empty = not os.listdir(folder)
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be read: {error.strerror}; give a folder that you may read"
        ) from error
    if empty:
        raise InvalidInput(f"{folder} is empty; give a folder that a run has written to")
    found = list(_below(folder, DEPTH, notes))
    if not found:
        raise InvalidInput(
            f"{folder} holds no run: there is no config.json in it or below; give a folder that "
            "`optac train`, `solve`, `compare` or `sweep` has written to"
        )
    return found


def _below(folder: Path, depth: int, notes: list[str]) -> Iterator[Path]:
    try:
        if (folder / "config.json").exists():
            yield folder
        elif depth:
            for child in sorted(path for path in folder.iterdir() if path.is_dir()):
                yield from _below(child, depth - 1, notes)
    except OSError as error:
        notes.append(f"left out: {folder} cannot be read: {error.strerror}")


def _keep(kept: dict[Any, Any], key: Any, run: Any, length: int, notes: list[str]) -> None:
    """Count a run once where several folders hold it: the one that came furthest."""
    if key not in kept:
        kept[key] = run
        return
    other = kept[key]
    reached = len(other.rows) if isinstance(other, TrainingRun) else other.episodes
    first, second = (other, run) if reached >= length else (run, other)
    kept[key] = first
    notes.append(f"counted once: {second.path} is the same run as {first.path}")


def _training_identity(run: TrainingRun) -> tuple[Any, ...]:
    settings = tuple(sorted((name, repr(value)) for name, value in run.learning_settings.items()))
    return run.environment, run.agent, run.steps, run.seed, settings


def _runs(folder: RunFolder, notes: list[str]) -> Iterable[TrainingRun | ProvableRun]:
    config = folder.config
    kind = config.get("kind", "train" if "agent" in config else None)
    rows = folder.rows()
    if folder.has_torn_line:
        notes.append(
            f"{folder.metrics_path}: its last line is torn and was left out; the rows before it count"
        )
    if kind == "train":
        return [_training(folder, config, rows, notes)]
    if kind == "solve":
        return [_solved(folder, config, rows)]
    if kind == "compare":
        return [_compared(folder, config, row) for row in rows]
    if kind == "reproduce":
        raise InvalidInput(
            f"{folder.path} is the experiment {config.get('experiment')}, which has a report.md of its own"
        )
    raise RunFailed(f"{folder.config_path} is damaged: its kind is {kind!r}")


def _training(folder: RunFolder, config: Row, rows: list[Row], notes: list[str]) -> TrainingRun:
    kinds = {"agent": str, "environment": str, "steps": int, "seed": int, "settings": dict}
    for name, kind in kinds.items():
        if not isinstance(config.get(name), kind):
            raise RunFailed(f"{folder.config_path} is damaged: its {name} is {config.get(name)!r}")
    status = folder.status
    run = TrainingRun(folder.path, config, rows, status.state if status else "not recorded")
    said = sum("eval/mean_reward" in row for row in rows)
    if said > len(run.curve):
        notes.append(f"{folder.metrics_path}: {said - len(run.curve)} evaluations are no numbers, left out")
    return run


def _solved(folder: RunFolder, config: Row, rows: list[Row]) -> ProvableRun:
    """A solve that has ended; its result.json is written last."""
    if not (folder.path / "result.json").exists():
        raise RunFailed(f"{folder.path} has no result.json: it has not ended; `optac resume` it")
    result = read_json_object(folder.path / "result.json")
    curve = [(row["episodes"], row["gap"], row["last_gap"]) for row in rows if row.get("gap") is not None]
    return ProvableRun(
        folder.path,
        config,
        _problem(config),
        str(config["algorithm"]),
        int(config["seed"]),
        int(result["episodes"]),
        float(result["gap"]),
        float(result["last_gap"]),
        _bill(result["bill"]),
        float(result["time/seconds"]),
        _points(curve),
        solve_command(config),
    )


def _compared(folder: RunFolder, config: Row, row: Row) -> ProvableRun:
    return ProvableRun(
        folder.path,
        config,
        _problem(config),
        str(row["algorithm"]),
        int(row["seed"]),
        int(row["episodes"]),
        float(row["gap"]),
        float(row["last_gap"]),
        _bill(row["bill"]),
        float(row["time/run"]),
        _points([point[:3] for point in row["curve"]]),
        compare_command(config),
    )


def _problem(config: Row) -> str:
    return " ".join([str(config["problem"]), *(f"{k}={v}" for k, v in config.get("parameters", {}).items())])


def _bill(bill: Mapping[str, Any]) -> dict[str, int]:
    return {oracle: int(bill[oracle]) for oracle in ("SL", "PE", "PP", "CP")}


def _points(curve: Iterable[Sequence[Any]]) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(a), float(b), float(c)) for a, b, c in curve)


def _number(value: object) -> float | None:
    """A finite number; None for anything else that a row may hold."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)
