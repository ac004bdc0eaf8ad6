"""The record of a finished run, small enough to commit: its configuration, rows, status and result, no checkpoint.

`python -m optac.runs.publishing RUN… --to results/table2` publishes finished runs under their ids. The record
says which commit the run began with (config.json) and ended with (result.json), and the command that makes it again; a
sweep takes it for finished.
"""

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput
from optac.runs.command_lines import train_command
from optac.runs.folder import RunFolder
from optac.runs.json_files import read_json_object, write_json
from optac.runs.kinds import TRAIN
from optac.runs.training_config import training_id
from optac.settings import canonical


def publish(run: Path, results: Path) -> Path:
    """Copy the record of a finished training run to `results`; where it now lies."""
    folder = RunFolder.open(run)
    run = folder.path
    config, status = TRAIN.config_of(folder), folder.status
    if status is None or status.state != "finished":
        state = "not started" if status is None else status.state
        raise InvalidInput(f"{run} is {state}; only a finished run is published: `optac resume {run}` first")
    to = results.resolve() / training_id(config)
    if (to / "config.json").exists():
        kept = RunFolder.open(to).config["steps"]
        if kept != config["steps"]:
            raise InvalidInput(f"{to} holds the same run with steps={kept}; publish {run} to another folder")
    to.mkdir(parents=True, exist_ok=True)
    for name in ("metrics.jsonl", "result.json"):
        if (run / name).exists():
            shutil.copyfile(run / name, to / name)
    made_by = {"commit": config.get("commit"), "command": train_command(config)}
    write_json(to / "config.json", {**config, **made_by})
    # Last, for a record is whole once it says that it is finished.
    write_json(to / "status.json", read_json_object(run / "status.json"))
    return to


def is_published(run: str, results: Path, settings: Mapping[str, Any] | None = None) -> bool:
    """Whether the record of the run with this id is there; refused where it was made with other `settings`.

    An id names what differs from a preset, and presets of earlier versions were others. Settings that a record lacks
    came later, with defaults that change nothing.
    """
    path = results / run
    if not (path / "config.json").exists():
        return False
    folder = RunFolder.open(path)
    then = folder.config.get("settings", {})
    for name, value in (settings or {}).items():
        if name in then and canonical(then[name]) != canonical(value):
            raise InvalidInput(
                f"{folder.path} was made with {name}={then[name]}, where {name}={value} is asked for: move it away"
            )
    return folder.is_finished


def main(words: Sequence[str] | None = None) -> None:
    """Publish the runs named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m optac.runs.publishing")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args(words)
    for run in arguments.runs:
        print(publish(run, arguments.to))


if __name__ == "__main__":
    main()
