"""The record of a finished run, small enough to commit: its configuration, rows, status and result, no checkpoint.

`python -m optac.experiments.publishing RUN… --to results/table2` publishes finished runs under their ids. The record
says which commit made the run and the command that makes it again; a sweep takes it for finished.
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from optac.errors import InvalidInput
from optac.experiments.command_lines import train_command
from optac.experiments.provenance import source_commit
from optac.experiments.run_folder import RunFolder, write_json
from optac.experiments.training_config import training_id


def publish(run: Path, results: Path) -> Path:
    """Copy the record of a finished training run to `results`; where it now lies."""
    folder = RunFolder.open(run)
    config, status = folder.config, folder.status
    if config.get("kind") != "train":
        raise InvalidInput(f"{run} is not a training run")
    if status is None or status.state != "finished":
        state = "not started" if status is None else status.state
        raise InvalidInput(f"{run} is {state}; only a finished run is published: `optac resume {run}` first")
    to = results / training_id(config)
    to.mkdir(parents=True, exist_ok=True)
    commit = config.get("commit") or source_commit()
    for name in ("metrics.jsonl", "result.json"):
        if (run / name).exists():
            shutil.copyfile(run / name, to / name)
    write_json(to / "config.json", {**config, "commit": commit, "command": train_command(config)})
    # Last, for a record is whole once it says that it is finished.
    shutil.copyfile(run / "status.json", to / "status.json")
    return to


def is_published(run: str, results: Path) -> bool:
    """Whether the record of the run with this id is there."""
    path = results / run
    if not (path / "config.json").exists():
        return False
    status = RunFolder.open(path).status
    return status is not None and status.state == "finished"


def main(words: Sequence[str] | None = None) -> None:
    """Publish the runs named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m optac.experiments.publishing")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args(words)
    for run in arguments.runs:
        print(publish(run, arguments.to))


if __name__ == "__main__":
    main()
