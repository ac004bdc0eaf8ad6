"""The lock of a run that is no sweep's: a file that the system locks for one process.

The system drops the lock of a process that dies, so a dead owner's is simply taken over; the pid and host in the file
serve the message for a living one.
"""

import fcntl
import os
import platform
import time
from pathlib import Path
from typing import Final

from optac.errors import InvalidInput, RunFailed, cannot_write
from optac.plain_files import open_plain

_SECONDS_TO_LOCK: Final = 0.5


class RunFolderBusy(InvalidInput):
    """Another living process owns the folder."""


class FencedOff(RunFailed):
    """The run is somebody else's by now, so that nothing more may be written to it."""


class Lock:
    """A process's right to write to a run, until it is released or the process ends."""

    def __init__(self, run: Path, patience: float = _SECONDS_TO_LOCK) -> None:
        """Take the lock; RunFolderBusy where a living process has it for longer than `patience` seconds."""
        self._path = run / "lock"
        try:
            self._file = open_plain(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise cannot_write(run, error) from error
        try:
            if not _locked_within(patience, self._file):
                owner = os.pread(self._file, 200, 0).decode(errors="replace").strip()
                raise busy(run, owner or "another process")
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, this_process().encode(), 0)
        except BaseException:
            os.close(self._file)
            raise

    def check(self) -> None:
        """Nothing while the file is the one that was locked; FencedOff where it was removed or replaced."""
        try:
            same = os.path.samestat(os.fstat(self._file), os.lstat(self._path))
        except FileNotFoundError:
            same = False
        if not same:
            raise FencedOff(
                f"{self._path} was removed or replaced while this process held it; nothing more is written, and "
                "resuming goes on from the newest checkpoint"
            )

    def release(self) -> None:
        """Give the run up."""
        os.ftruncate(self._file, 0)
        os.close(self._file)


def busy(run: Path, owner: str) -> RunFolderBusy:
    """The error that names who owns a run."""
    return RunFolderBusy(
        f"{run} is in use by {owner}; wait until it ends, or begin another run in another folder"
    )


def this_process() -> str:
    """This process, as others read of it."""
    return f"process {os.getpid()} on {platform.node()}"


def is_locked(path: Path) -> bool:
    """Whether a process of this machine holds the file's lock."""
    try:
        file = open_plain(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _locked_within(seconds: float, file: int) -> bool:
    """Whether the file could be locked in that time: who only looks at a run holds its lock for microseconds."""
    give_up = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.01)
