"""The contents of a report's folders: training runs, runs of provable algorithms, and what could not be read.

A folder may be a run's, a sweep's, a comparison's, or one with such folders below it. A run that is damaged is left
out with a note that names it, and every other one is kept; only a folder with nothing to report is refused.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput, RunFailed
from optac.report.recorded_runs import ProvableRun, TrainingRun, compared, solved, trained
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, read_json_object
from optac.runs.kinds import SWEEP_FILE

DEPTH = 4
DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError)


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
                _keep(training if isinstance(run, TrainingRun) else provable, run, notes)
        except (RunFailed, InvalidInput) as error:
            notes.append(f"left out: {error}")
        except OSError as error:
            notes.append(f"left out: {path} cannot be read: {error.strerror or error}")
        except DAMAGE as error:
            notes.append(f"left out: {path} is damaged: {type(error).__name__} {error}")
    if not training and not provable:
        raise RunFailed(f"there is nothing to report: {'; '.join(notes)}")
    ordered = sorted(training.values(), key=lambda run: (run.environment, run.agent, run.steps, run.seed))
    return Evidence(tuple(folders), tuple(ordered), tuple(provable.values()), tuple(dict.fromkeys(notes)))


def _found(folder: Path, notes: list[str]) -> list[Path]:
    """The run folders at or below a folder the user named; there must be one."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InvalidInput(f"{folder} {what}; give the folder of a run, of a sweep or of several runs")
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


def _keep(kept: dict[Any, Any], run: TrainingRun | ProvableRun, notes: list[str]) -> None:
    """Count a run once where several folders hold it: the one that came furthest."""
    key = (run.setup, run.seed)
    other = kept.setdefault(key, run)
    if other is run:
        return
    first, second = (run, other) if run.progress > other.progress else (other, run)
    kept[key] = first
    notes.append(f"counted once: {second.path} holds the same run as {first.path}")


def _runs(folder: RunFolder, notes: list[str]) -> list[TrainingRun] | list[ProvableRun]:
    config = in_unicode(folder.config)
    kind = config.get("kind", "train" if "agent" in config else None)
    if not isinstance(config.get("versions", {}), dict):
        raise RunFailed(f"{folder.config_path} is damaged: its versions are {config['versions']!r}")
    written = folder.rows()
    rows = in_unicode(written)
    if rows != written:
        notes.append(f"{folder.metrics_path}: text that is no Unicode was replaced by ?")
    if folder.has_torn_line:
        notes.append(
            f"{folder.metrics_path}: its last line is torn and was left out; the rows before it count"
        )
    if kind == "train":
        return [trained(folder, config, rows, notes, _varied(folder, config, notes))]
    if kind == "solve":
        return [solved(folder, config, rows, _varied(folder, config, notes))]
    if kind == "compare":
        return list(_comparison(folder, config, rows, notes))
    if kind == "reproduce":
        raise InvalidInput(
            f"{folder.path} is the study {config.get('study')}, which has a report.md of its own"
        )
    raise RunFailed(f"{folder.config_path} is damaged: its kind is {kind!r}")


def _varied(folder: RunFolder, config: Row, notes: list[str]) -> Row:
    """The settings of which the sweep that the run belongs to tries several values, as the run has them."""
    file = folder.path.parent / SWEEP_FILE
    if not file.is_file():
        return {}
    try:
        settings = in_unicode(read_json_object(file)).get("settings", {})
        both = {**settings, **settings.get(config.get("agent", config.get("algorithm")), {})}
        known = {**config, **config.get("constants", {}), **config["settings"]}
        return {
            name: known.get(name, "default")
            for name, value in both.items()
            if isinstance(value, list) and value[1:]
        }
    except (RunFailed, *DAMAGE) as error:
        notes.append(f"what was varied is not known: {file} is damaged: {type(error).__name__} {error}")
        return {}


def in_unicode(value: Any) -> Any:
    """JSON's values with a ? for each half of a character that stands alone, which no file can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [in_unicode(item) for item in value]
    if isinstance(value, dict):
        return {in_unicode(name): in_unicode(item) for name, item in value.items()}
    return value


def _comparison(folder: RunFolder, config: Row, rows: list[Row], notes: list[str]) -> Iterator[ProvableRun]:
    """One run per row, each of which may be damaged by itself."""
    for place, row in enumerate(rows, start=1):
        try:
            yield compared(folder, config, row)
        except DAMAGE as error:
            notes.append(
                f"left out: {folder.metrics_path} is damaged at row {place}: {type(error).__name__} {error}"
            )
