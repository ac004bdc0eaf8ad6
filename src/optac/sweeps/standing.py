"""Where a sweep stands, read from its folder alone: so a launcher, another terminal and a later day see the same.

A sweep's folder holds `sweep.json`, with the list of its runs, and one run's folder each. A run's own folder, and one
with runs in it, stand too.
"""

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from optac.errors import InvalidInput, RunFailed
from optac.plain_files import is_there, not_plain, opened
from optac.runs.folder import RunFolder, State
from optac.runs.json_files import Row, parsed_row, read_json_object
from optac.runs.kinds import SWEEP_FILE, TRAIN, Kind, kind_of
from optac.runs.lease import holder, newest_attempt
from optac.settings import shown

_TAIL_BYTES: Final = 32_768


@dataclass(frozen=True)
class RunStanding:
    """Where one run stands: how far it is, its last return or gap, its speed, its attempts."""

    id: str
    state: State
    kind: Kind | None = None
    reached: int = 0
    total: int | None = None
    score: float | None = None
    speed: float | None = None
    attempts: int = 0
    why: str | None = None
    parameters_sha256: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    """what was chosen for it: who learns, on what, the settings that are not the preset's, the seed"""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """all its settings, those of its preset too"""

    def choice(self, name: str) -> str:
        """What was chosen for it, or what its preset says."""
        return self.choices.get(name) or shown(self.settings.get(name, ""))

    @property
    def left(self) -> int:
        """Steps or iterations still to do."""
        return 0 if self.state == "finished" or self.total is None else max(self.total - self.reached, 0)


@dataclass(frozen=True)
class SweepStanding:
    """Where a whole sweep stands."""

    path: Path
    runs: tuple[RunStanding, ...]
    planned: bool = True
    """whether one sweep planned them; runs that only lie side by side are told by their folders too"""

    def count(self, state: State) -> int:
        """How many runs are in a state."""
        return sum(run.state == state for run in self.runs)

    @property
    def varied(self) -> list[str]:
        """The choices in which the runs differ, in one order, the seed last; who learns on what where in nothing."""
        known = [run for run in self.runs if run.choices]
        names = list(dict.fromkeys(name for run in known for name in run.choices))
        differing = [name for name in names if len({run.choice(name) for run in known}) > 1]
        order = list(dict.fromkeys(name for run in known for name in run.settings))
        places = {name: place for place, name in enumerate([*order, "seed"], 1)}
        return sorted(differing, key=lambda name: places.get(name, 0)) or names[:2]

    def told(self, run: RunStanding) -> str:
        """The run by what was varied, as in `alpha=0.2, eta=1, seed=0`; by its folder where nobody knows."""
        return ", ".join(f"{name}={run.choice(name)}" for name in self.varied) if run.choices else run.id

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the speeds measured so far, with as many at once as now; None where unknown."""
        speeds = [run.speed for run in self.runs if run.speed]
        left = [run for run in self.runs if run.state in ("running", "waiting")]
        if not left or not speeds:
            return 0.0 if not left else None
        usual = statistics.median(speeds)
        work = sum(run.left / (run.speed or usual) for run in left)
        longest = max(run.left / (run.speed or usual) for run in left)
        return max(work / max(self.count("running"), 1), longest)


def sweep_standing(path: Path) -> SweepStanding:
    """Where the sweep in a folder stands, the run in it, or the runs below it."""
    here = path.resolve()
    if is_there(here / SWEEP_FILE) or not here.is_dir():
        return SweepStanding(path, tuple(run_standing(here / name) for name in sweep_run_ids(here)))
    runs = (
        [here]
        if is_there(here / "config.json")
        else sorted(file.parent for file in here.glob("*/config.json"))
    )
    if not runs:
        raise InvalidInput(f"{path} holds neither a sweep ({SWEEP_FILE}) nor a run (config.json)")
    return SweepStanding(path, tuple(run_standing(run) for run in runs), planned=False)


def sweep_run_ids(path: Path) -> list[str]:
    """The ids of a sweep's runs."""
    file = path / SWEEP_FILE
    try:
        names = read_json_object(file).get("runs")
    except FileNotFoundError as error:
        raise InvalidInput(f"{path} is not a sweep's folder: it has no {SWEEP_FILE}") from error
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror or error}") from error
    if not isinstance(names, list) or not all(_is_plain_name(name) for name in names):
        raise RunFailed(
            f"{file} is damaged: its runs are no list of names; start the sweep again to rewrite it"
        )
    return names


def run_standing(path: Path, planned: Row | None = None) -> RunStanding:
    """Where one run stands; a run that cannot be read has failed, and says why.

    `planned` is the configuration of a run that may not have a folder yet.
    """
    try:
        return _standing(path, planned or {})
    except (OSError, RunFailed, InvalidInput) as error:
        return RunStanding(path.name, "failed", why=str(error), **_chosen(planned or {}))


def _chosen(config: Row) -> dict[str, Any]:
    """The choices and settings of a standing."""
    settings = {**_table(config.get("constants")), **_table(config.get("settings"))}
    return {"choices": choices_of(config), "settings": {"preset": config.get("preset", ""), **settings}}


def choices_of(config: Row) -> dict[str, str]:
    """What was chosen for a run, as a table shows it."""
    kind = kind_of(config)
    if kind is None:
        return {}
    parameters, settings = _table(config.get("parameters")), _table(config.get("settings"))
    task = [str(config.get(kind.task)), *(f"{name}={value}" for name, value in parameters.items())]
    chosen = {kind.learner: config.get(kind.learner), kind.task: " ".join(task)}
    if kind is TRAIN:
        preset, usual, settings = settings.get("preset"), "default", _table(config.get("changed"))
    else:
        preset, usual = config.get("preset"), "practical"
        chosen |= {name: config[name] for name in ("iterations", "episodes") if config.get(name) is not None}
    if preset not in (None, usual):
        chosen["preset"] = preset
    return {name: shown(value) for name, value in {**chosen, **settings, "seed": config.get("seed")}.items()}


def _table(value: object) -> Row:
    """The value, where it is what it should be: a config.json may hold anything."""
    return value if isinstance(value, dict) else {}


def _standing(path: Path, planned: Row) -> RunStanding:
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise not_plain(path, "folder")
    if not (path / "config.json").exists():
        return RunStanding(path.name, "waiting", **_chosen(planned))
    folder = RunFolder.open(path)
    path = folder.path
    config, status, attempt = folder.config, folder.status, newest_attempt(path)
    result = read_json_object(path / "result.json") if (path / "result.json").exists() else {}
    rows = _last_rows(folder.metrics_path)
    finished = folder.is_finished
    state: State = "finished" if finished else "waiting"
    if not finished and holder(path) is not None:
        state = "running"
    elif status is not None and status.state == "failed":
        state = "failed"
    kind = kind_of(config)
    total = config.get(kind.total) if kind else None
    return RunStanding(
        id=path.name,
        state=state,
        kind=kind,
        reached=int(_last(rows, kind.reached) or 0) if kind else 0,
        total=total if isinstance(total, int) else None,
        score=_last(rows, kind.score) if kind else None,
        speed=_speed(rows, kind),
        attempts=attempt.number if attempt else 0,
        why=status.why if status is not None else None,
        parameters_sha256=result.get("parameters_sha256"),
        **_chosen(config),
    )


def _speed(rows: Sequence[Row], kind: Kind | None) -> float | None:
    """Steps or iterations a second, as it usually was lately; of a training, once it makes updates."""
    if kind is not TRAIN:
        seconds, iterations = _last(rows, "time/seconds"), _last(rows, "iteration")
        return iterations / seconds if seconds and iterations else None
    speeds = [
        row["time/fps"]
        for row in rows
        if "train/critic_loss" in row and isinstance(row.get("time/fps"), float)
    ]
    return statistics.median(speeds) if speeds else _last(rows, "time/fps")


def _last(rows: Sequence[Row], key: str) -> float | None:
    value = next((row[key] for row in reversed(rows) if row.get(key) is not None), None)
    return float(value) if isinstance(value, int | float) else None


def _last_rows(metrics: Path) -> list[Row]:
    """The rows at the end of a file that may be long, and whose last line may be torn."""
    if not is_there(metrics):
        return []
    with opened(metrics, os.O_RDONLY) as descriptor, open(descriptor, "rb", closefd=False) as file:
        file.seek(max(os.fstat(descriptor).st_size - _TAIL_BYTES, 0))
        lines = file.read().split(b"\n")[:-1]
    return [row for row in map(parsed_row, lines) if row is not None]


def _is_plain_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name
