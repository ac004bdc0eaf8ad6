"""A time limit on calls into code that is not ours."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Final

from optac.errors import RunFailed

_SECONDS_TO_RING_AGAIN: Final = 1.0


@contextmanager
def deadline(seconds: float, what: str, setting: str = "step_timeout=") -> Iterator[None]:
    """Raise RunFailed when the body takes longer; without effect for 0 or outside the main thread.

    Python hears of the alarm between two of its own instructions: a library that never returns from one call is
    not stopped by this. It rings again every second, should the first be dropped in a callback.
    """
    if seconds <= 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, partial(_expire, what, f"{setting}{seconds:g}"))
    signal.setitimer(signal.ITIMER_REAL, seconds, _SECONDS_TO_RING_AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _expire(what: str, limit: str, number: int, frame: FrameType | None) -> None:
    raise RunFailed(f"{what} took longer than {limit} seconds")
