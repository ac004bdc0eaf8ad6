"""Numbered attempts at a run of a sweep, of which only the newest may write.

`attempts/000001.json`, `attempts/000002.json`, … lie in the run's folder. A number is taken by linking a finished file
to its name, which fails where the name exists, so that it has one owner on any file system that all nodes see and that
knows hard links. Before every write a worker looks whether a newer attempt exists, and where one does it writes no
more: a worker that was believed dead and was not is fenced off.

Whether the owner lives: on its own machine the system says so, for it drops a dead process's lock. From elsewhere a
`LeaseWatch` sees for itself whether the file changes, whatever the clocks say: a minute without a change, and the owner
is dead. Who looks only once has the file's date alone. Should either be wrong, the fence still holds.
"""

import fcntl
import json
import os
import platform
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from optac.errors import RunFailed
from optac.plain_files import (
    NotPlain,
    folder_of,
    is_there,
    link,
    make_folder,
    names_in,
    open_plain,
    read_plain,
    remove,
    rename,
    write_plain,
)
from optac.runs.lock import FencedOff, RunFolderBusy, is_locked, this_process

FOLDER: Final = "attempts"
_ATTEMPT: Final = re.compile(r"\d.*\.json")
SECONDS_BETWEEN_TOUCHES = 5.0
SECONDS_TO_LIVE = 60.0


@dataclass(frozen=True)
class Attempt:
    """One attempt at a run as its file tells it."""

    path: Path
    number: int
    launcher: str
    owner: str
    machine: str
    ended: bool

    def is_alive(self) -> bool:
        """Whether its owner is still at work, as far as can be seen at one look."""
        known = self.is_known_alive()
        return abs(time.time() - self.path.stat().st_mtime) < SECONDS_TO_LIVE if known is None else known

    def is_known_alive(self) -> bool | None:
        """The same where it can be known for sure; None where the owner is on another machine."""
        if self.ended:
            return False
        return is_locked(self.path) if self.machine == machine() else None


@dataclass
class LeaseWatch:
    """Watches attempts by this process's own clock, which never jumps: one lives while its file changes."""

    _seen: dict[Path, tuple[int, float]] = field(default_factory=dict)

    def is_alive(self, attempt: Attempt) -> bool:
        """Whether its owner is still at work; one that has just been seen first is given the benefit of the doubt."""
        known = attempt.is_known_alive()
        if known is not None:
            return known
        touched, now = attempt.path.stat().st_mtime_ns, time.monotonic()
        then, since = self._seen.get(attempt.path, (None, now))
        if touched != then:
            self._seen[attempt.path] = touched, now
            return True
        return now - since < SECONDS_TO_LIVE


@dataclass(frozen=True)
class Claim:
    """The attempt that a launcher tells a worker to make: this number, and no other."""

    number: int
    launcher: str


@dataclass
class Lease:
    """A worker's right to write to a run, until it is released or a newer attempt begins."""

    path: Path
    number: int
    _file: int
    _said: Mapping[str, Any]
    _released: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def take(cls, run: Path, claim: Claim) -> "Lease":
        """The claimed attempt, locked, its file touched every few seconds; RunFolderBusy where somebody was faster."""
        folder = run / FOLDER
        make_folder(folder)
        said = {
            "attempt": claim.number,
            "launcher": claim.launcher,
            "owner": this_process(),
            "machine": machine(),
            "ended": False,
        }
        path = attempt_path(run, claim.number)
        aside = folder / f"{claim.launcher}-{machine()}-{os.getpid()}.tmp"
        remove(aside)
        file = open_plain(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(file, json.dumps(said).encode(), 0)
            os.fsync(file)
            link(aside, path)
        except BaseException as error:
            os.close(file)
            if isinstance(error, FileExistsError):
                raise RunFolderBusy(
                    f"attempt {claim.number} at {run} is another worker's; wait for it"
                ) from error
            raise
        finally:
            remove(aside)
        lease = cls(path, claim.number, file, said)
        threading.Thread(target=lease._touch, daemon=True).start()
        return lease

    def check(self) -> None:
        """Nothing while this attempt is the newest; FencedOff once there is a newer one."""
        run = self.path.parent.parent
        if not is_there(self.path) or is_there(attempt_path(run, self.number + 1)):
            raise FencedOff(
                f"attempt {self.number} at {run} was given up and a newer one has begun; nothing more is written"
            )

    def release(self) -> None:
        """Say that the attempt has ended, and drop the lock, also where that cannot be written."""
        self._released.set()
        aside = self.path.with_suffix(".tmp")
        try:
            write_plain(aside, json.dumps({**self._said, "ended": True}).encode())
            rename(aside, self.path)
        finally:
            os.close(self._file)

    def _touch(self) -> None:
        while not self._released.wait(SECONDS_BETWEEN_TOUCHES):
            try:
                with folder_of(self.path) as folder:
                    os.utime(self.path.name, dir_fd=folder, follow_symlinks=False)
            except (OSError, NotPlain):
                return


def attempt_path(run: Path, number: int) -> Path:
    """Where an attempt is written down."""
    return run / FOLDER / f"{number:06d}.json"


def newest_attempt(run: Path) -> Attempt | None:
    """The newest attempt at a run; None where there was none."""
    names = [name for name in names_in(run / FOLDER) if _ATTEMPT.fullmatch(name)]
    if not names:
        return None
    number, path = max((_number_of(run / FOLDER / name), run / FOLDER / name) for name in names)
    try:
        said = json.loads(read_plain(path))
        return Attempt(path, number, said["launcher"], said["owner"], said["machine"], bool(said["ended"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _number_of(path: Path) -> int:
    """The number of an attempt; a name that is not as we write it could hide the attempts after it."""
    number = int(path.stem) if path.stem.isdecimal() else 0
    if path != attempt_path(path.parent.parent, number):
        raise _damaged(path, "no attempt has such a name")
    return number


def _damaged(path: Path, why: str) -> RunFailed:
    return RunFailed(f"{path} is damaged: {why}; delete it and start again")


def holder(run: Path, *, besides: str | None = None, watch: LeaseWatch | None = None) -> str | None:
    """The holder of a run now, other than the launcher `besides`; None where it is free."""
    lock = run / "lock"
    if is_there(lock) and is_locked(lock):
        return read_plain(lock).decode(errors="replace") or "another process"
    attempt = newest_attempt(run)
    if attempt is None or attempt.launcher == besides:
        return None
    alive = attempt.is_alive() if watch is None else watch.is_alive(attempt)
    return str(attempt.owner) if alive else None


def machine() -> str:
    """The running system: processes that share it see each other's locks."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return platform.node()
