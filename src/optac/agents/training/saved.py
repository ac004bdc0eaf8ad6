"""What can be loaded as an agent: a saved one, a training's folder, one of its checkpoints."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from optac.agents.training import checkpoint, checkpoints
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.sealed_files import corrupt, read_json
from optac.agents.training.store import ResumeWarning
from optac.errors import InvalidInput, OptacWarning, RunFailed
from optac.plain_files import is_there, read_plain

_STEP: Final = "time/total_timesteps"


@dataclass(frozen=True)
class Saved:
    """A checkpoint, and what an agent needs beside it."""

    found: Checkpoint
    agent: str
    """its name, or where its module is"""
    environment: str | None
    """the id of the environment it was made for, where that has one"""
    rows: list[dict[str, Any]]
    predictions: Mapping[str, Any] | None
    """the state of the generator that `predict` draws from; None where nothing was predicted yet"""
    eval_env: str | bool = False
    """the id of an environment of its own for evaluations, or whether there was one, without an id"""

    def evaluated_in(self) -> str | None:
        """The id of the environment for evaluations, where it had one of its own; says where that can't be known."""
        if self.eval_env is True:
            warnings.warn(
                f"the agent in {self.found.path} was evaluated in an environment without an id, given as eval_env=; "
                "pass it again, or evaluations are in one like that of the training",
                OptacWarning,
                stacklevel=3,
            )
        return self.eval_env if isinstance(self.eval_env, str) else None


def saved(path: Path) -> Saved:
    """What is saved at `path`; InvalidInput where nothing is."""
    run = run_of(path)
    if run is None:
        if not checkpoint.is_begun(path):
            raise _nothing_in(path)
        found = checkpoint.load(path)
        with checkpoint.read_as_ours(found):
            meta = found.meta
            eval_env = meta.get("eval_env", False)
            if not isinstance(eval_env, str | bool):
                raise ValueError(f"eval_env {eval_env!r}")
            rows, predictions = list(meta["rows"]), meta["predictions"]
            return Saved(found, meta["agent"], _text(meta["env"]), rows, predictions, eval_env)
    found = _newest(run) if run == path else checkpoint.load(path, checkpoints.pieces_folder(path.parent))
    with checkpoint.read_as_ours(found):
        config, rows = found.meta["config"], _rows(run / "metrics.jsonl", int(found.meta["step"]))
        return Saved(found, config["agent"], _text(config["environment"]), rows, None)


def run_of(path: Path) -> Path | None:
    """The run's folder that `path` is, or whose checkpoint it is."""
    if (path / "config.json").is_file():
        return path
    above = path.parent
    return above.parent if above.name == "checkpoints" and (above.parent / "config.json").is_file() else None


def _newest(run: Path) -> Checkpoint:
    found, damage = checkpoints.newest_sound(run / "checkpoints")
    if found is None and damage:
        raise RunFailed(f"no sound checkpoint is left in {run}. {damage[0]}")
    if found is None:
        raise _nothing_in(run)
    for error in damage:
        then = "its rows are dropped" if found.damaged else "using the one before it"
        warnings.warn(f"{error}; {then}", ResumeWarning, stacklevel=4)
    return found


def _nothing_in(path: Path) -> InvalidInput:
    """The error that says what is at `path`, where that is no agent, and what to give instead."""
    runs = sorted(file.parent.name for file in path.glob("*/config.json"))
    maker = read_json(path / "config.json").get("kind") if (path / "config.json").is_file() else None
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        what += "; optac.numpy_policy.load reads an exported policy" if path.suffix == ".npz" else ""
    elif maker == "train":
        what = "has no checkpoint yet; let the training go to its first"
    elif maker is not None:
        what = f"was made by `optac {maker}` and holds no agent"
    elif runs:
        what = f"holds {len(runs)} runs, none itself; name one, such as {path / runs[0]}"
    else:
        what = "holds no agent"
    allowed = "a training's folder, one of its checkpoints, and what agent.save wrote"
    return InvalidInput(
        f"{path} {what}. What can be loaded is {allowed}; optac.load opens a solve's folder too"
    )


def _rows(file: Path, step: int) -> list[dict[str, Any]]:
    """The rows of a run that its checkpoint of this step knows."""
    lines = read_plain(file).split(b"\n")[:-1] if is_there(file) else []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            if row[_STEP] > step:
                break
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise corrupt(
                file, f"line {number} is no row ({error}); remove it and the ones after it"
            ) from error
        rows.append(row)
    return rows


def _text(given: Any) -> str | None:
    if not isinstance(given, str | None):
        raise ValueError(f"environment {given!r}")
    return given
