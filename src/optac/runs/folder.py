"""One run's folder: config.json, metrics.jsonl, checkpoints/ and status.json, safe against kills and rivals.

`config.json` is written first and says everything that determines the run. `metrics.jsonl` only grows,
except when a resumed run cuts off the rows past its checkpoint. `status.json` is replaced whole. A lock file
names the process that owns the folder; in a sweep a lease takes its place. Nothing here knows what kind of run it
holds.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

from optac.errors import InvalidInput, RunFailed, cannot_write
from optac.plain_files import append_plain, is_folder, is_there, opened, read_plain
from optac.provenance import all_versions, made_by
from optac.runs.json_files import Row, parsed_row, plain, read_json_object, write_json
from optac.runs.lease import Claim, Lease, holder, newest_attempt
from optac.runs.lock import Lock, busy

State = Literal["waiting", "running", "finished", "failed", "interrupted"]
"""Where a run stands; status.json never says that one waits, for a run that does says nothing."""

FOLDERS: Final = ("checkpoints", "checkpoints/replay", "attempts", "tensorboard")
"""The folders that a run may have in its own."""

PROBLEM_FILE: Final = "problem.npz"
"""A problem that was given as an object, saved before config.json names it."""

CIRCUMSTANCES: Final = ("commit", "versions", "path")
"""Keys of config.json that say how a run came about, not which run it is."""


@dataclass(frozen=True)
class Status:
    """Where a run stands and, when it did not finish, why."""

    state: State
    why: str | None = None


@dataclass
class RunFolder:
    """A run on disk. `create` starts one, `open` takes up an existing one; `lock` before writing to it."""

    path: Path
    claim: Claim | None = None
    _held: Lock | Lease | None = field(default=None, repr=False)

    @classmethod
    def create(cls, path: Path | str, config: Mapping[str, Any]) -> "RunFolder":
        """A new folder whose config.json holds `config` and the versions; refuses a folder that has a run.

        The refusal, and the one for a path that can't be written, come before any work is done.
        """
        folder = cls(Path(path).resolve())  # an environment may change the working folder
        if folder.config_path.exists():
            raise InvalidInput(
                f"{folder.path} already holds a run; `optac resume` it or give another folder with --out"
            )
        folder.refuse_what_is_no_run()
        try:
            folder.checkpoints.mkdir(parents=True, exist_ok=True)
            write_json(folder.config_path, {**config, "versions": all_versions()}, new=True)
        except FileExistsError:
            raise InvalidInput(
                f"another process has just begun a run in {folder.path}; give another folder with --out"
            ) from None
        except OSError as error:
            raise cannot_write(folder.path, error) from error
        return folder

    def refuse_what_is_no_run(self) -> None:
        """Refuse a folder with anything else in it."""
        if self.path.is_dir() and not all(_is_left_by_a_kill(path) for path in self.path.iterdir()):
            raise InvalidInput(
                f"{self.path} is not empty and holds no run; give a new or an empty folder with --out"
            )

    @classmethod
    def open(cls, path: Path | str, claim: Claim | None = None) -> "RunFolder":
        """The folder of an existing run; with a claim, its lock is the claimed attempt."""
        folder = cls(Path(path).resolve(), claim)
        if not folder.config_path.is_file():
            raise InvalidInput(f"{folder.path} is not a run's folder: it has no config.json")
        return folder

    @classmethod
    def open_or_create(cls, path: Path | str, config: Mapping[str, Any]) -> "RunFolder":
        """The folder that holds this same run, made where there is none."""
        try:
            return cls.create(path, config)
        except InvalidInput:
            if not (Path(path) / "config.json").is_file():
                raise
        folder = cls.open(path)
        folder.refuse_another(config)
        return folder

    def refuse_another(self, config: Mapping[str, Any]) -> None:
        """InvalidInput where the folder holds another run than this."""
        kept, wanted = self.config, json.loads(json.dumps(config, default=plain))
        different = sorted(n for n in wanted if n not in CIRCUMSTANCES and kept.get(n) != wanted[n])
        if different:
            raise InvalidInput(
                f"{self.path} holds another run: it differs in {', '.join(different)}; give another folder with --out"
            )

    @property
    def config_path(self) -> Path:
        """Where everything that determines the run is written."""
        return self.path / "config.json"

    @property
    def metrics_path(self) -> Path:
        """Where the rows are, one JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Where the checkpoints are."""
        return self.path / "checkpoints"

    @property
    def config(self) -> Row:
        """Everything that determines the run."""
        return read_json_object(self.config_path)

    def lock(self) -> "RunFolder":
        """Own the folder until `release` or the end of this process; with a claim, by the claimed attempt.

        Refused where a link or anything else stands in the place of one of its folders.
        """
        there = [name for name in FOLDERS if is_folder(self.path / name)]
        claim = self.claim
        self._held = Lock(self.path) if claim is None else Lease.take(self.path, claim)
        try:
            if claim is not None:
                owner = holder(self.path, besides=claim.launcher)
            else:
                attempt = newest_attempt(self.path) if "attempts" in there else None
                owner = attempt.owner if attempt is not None and attempt.is_alive() else None
            if owner is not None:
                raise busy(self.path, owner)
        except BaseException:
            self.release()
            raise
        return self

    def check(self) -> None:
        """Called before every write: FencedOff where a newer attempt at the run has begun."""
        if self._held is not None:
            self._held.check()

    def release(self) -> None:
        """Give the folder up."""
        if self._held is not None:
            self._held.release()
            self._held = None

    def __enter__(self) -> "RunFolder":
        return self.lock()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def note_beginning(self) -> None:
        """Say in config.json with which commit and versions the run begins: a sweep lays it out long before."""
        self.check()
        write_json(self.config_path, {**self.config, **made_by()})

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row to the metrics, in one write."""
        self.check()
        line = json.dumps(row, allow_nan=True) + "\n"
        append_plain(self.metrics_path, line.encode())

    def flush_rows(self) -> None:
        """Have the rows on the disk: a checkpoint that outlives a power cut must not outlive the rows before it."""
        if is_there(self.metrics_path):
            with opened(self.metrics_path, os.O_RDONLY) as descriptor:
                os.fsync(descriptor)

    def rows(self) -> list[Row]:
        """The rows so far; a torn last line, left by a kill, is not one of them."""
        return self._complete_rows()[0]

    @property
    def has_torn_line(self) -> bool:
        """Whether the metrics end in a torn line, which `rows` leaves out."""
        return is_there(self.metrics_path) and self.metrics_path.stat().st_size > self._complete_rows()[1][-1]

    def rows_seal(self, size: int | None = None) -> Row:
        """The size and hash of the metrics, or of their first `size` bytes: by it the same rows are known again."""
        written = read_plain(self.metrics_path)[:size] if is_there(self.metrics_path) else b""
        return {"size": len(written), "sha256": hashlib.sha256(written).hexdigest()}

    def size_kept(self, keep: Callable[[Row], bool]) -> int:
        """How many bytes of the metrics `cut` would keep."""
        rows, ends = self._complete_rows()
        return ends[_first_refused(rows, keep)]

    def cut(self, keep: Callable[[Row], bool]) -> int:
        """Drop the torn last line and all rows from the first that `keep` refuses; how many lines went.

        On resume, `keep` says which rows the checkpoint already knew.
        """
        self.check()
        if not is_there(self.metrics_path):
            return 0
        rows, ends = self._complete_rows()
        kept = _first_refused(rows, keep)
        torn = self.has_torn_line
        with opened(self.metrics_path, os.O_RDWR) as descriptor:
            os.ftruncate(descriptor, ends[kept])
            os.fsync(descriptor)
        return len(rows) - kept + int(torn)

    def set_status(self, state: State, why: str | None = None) -> None:
        """Say where the run stands; the file is replaced whole."""
        self.check()
        write_json(self.path / "status.json", {"state": state, "why": why})

    @property
    def status(self) -> Status | None:
        """Where the run stands; None when nothing has been said yet."""
        path = self.path / "status.json"
        if not is_there(path):
            return None
        said = read_json_object(path)
        if said.get("state") not in get_args(State):
            raise RunFailed(
                f"{path} is damaged: its state is {said.get('state')!r}; delete it and resume the run"
            )
        return Status(said["state"], said.get("why"))

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended as it should."""
        status = self.status
        return status is not None and status.state == "finished"

    def _complete_rows(self) -> tuple[list[Row], list[int]]:
        """The rows, and where in the file as many of them end: none at 0."""
        rows: list[Row] = []
        ends = [0]
        if not is_there(self.metrics_path):
            return rows, ends
        lines = read_plain(self.metrics_path).split(b"\n")
        for number, line in enumerate(lines[:-1], start=1):
            row = parsed_row(line)
            if row is None:
                if number == len(lines) - 1:
                    break
                raise RunFailed(
                    f"{self.metrics_path} is damaged at line {number}: not a JSON object; "
                    "remove that line and the ones after it, then resume"
                )
            rows.append(row)
            ends.append(ends[-1] + len(line) + 1)
        return rows, ends


def _first_refused(rows: list[Row], keep: Callable[[Row], bool]) -> int:
    return next((i for i, row in enumerate(rows) if not keep(row)), len(rows))


def _is_left_by_a_kill(path: Path) -> bool:
    """Whether this is there before config.json has its name: what a killed `create` leaves, a comparison's problem."""
    return (
        path.suffix == ".tmp"
        or path.name == PROBLEM_FILE
        or (path.name == "checkpoints" and not any(path.iterdir()))
    )
