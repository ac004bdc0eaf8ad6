"""The one way to run something in a folder: its status says the truth, whatever ends it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from optac.errors import Interrupted as Interrupted
from optac.errors import RunFailed, Terminated
from optac.runs.folder import RunFolder
from optac.runs.lock import FencedOff


@dataclass
class Work:
    """The block may say here why it leaves the run unfinished, though nothing went wrong, or why it ended early."""

    unfinished: str | None = None
    stopped: str | None = None


@contextmanager
def at_work(folder: RunFolder) -> Iterator[Work]:
    """The run is running while the block is, and then finished, interrupted or failed."""
    folder.set_status("running")
    work = Work()
    try:
        yield work
        if work.unfinished is None:
            folder.set_status("finished", work.stopped)
        else:
            folder.set_status("interrupted", work.unfinished)
    except FencedOff:  # the folder is a newer attempt's
        raise
    except Interrupted as error:
        folder.set_status("interrupted", str(error))
        raise
    except KeyboardInterrupt as stop:
        name = "SIGTERM" if isinstance(stop, Terminated) else "SIGINT"
        folder.set_status("interrupted", f"stopped by {name}")
        raise
    except OSError as error:
        _say_failed(folder, error)
        raise RunFailed(f"{folder.path}: {error}; put that right and run it again") from error
    except BaseException as error:
        _say_failed(folder, error)
        raise


def _say_failed(folder: RunFolder, cause: BaseException) -> None:
    """Note the failure; a disk too full even for this must not hide the failure itself."""
    try:
        folder.set_status("failed", f"{type(cause).__name__}: {cause}")
    except OSError as error:
        warnings.warn(f"cannot write {folder.path}/status.json: {error}", stacklevel=2)
