"""A time limit on calls into code that is not ours."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from types import FrameType
from typing import Final

from optac.errors import RunFailed
from optac.signals import is_listening

_RINGS: Final = 4
_SECONDS_TO_RING_AGAIN: Final = 1.0
_SECONDS_TO_HEAR = 10.0


@contextmanager
def deadline(seconds: float, what: str, setting: str = "step_timeout=") -> Iterator[None]:
    """Raise RunFailed when the body takes longer; without effect for 0 or outside the main thread.

    A process that is stopped meanwhile (SIGSTOP, Ctrl-Z) is not late by that: the last of four rings raises, and all
    that come while it is stopped are one. It rings again every second, should that be dropped in a callback. Python
    hears of it between two of its own instructions. Where a library does not return from one call, a command or a
    worker ends its process instead. An alarm that the caller has set waits for the body's end.
    """
    if seconds <= 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    late = f"{what} took longer than {setting}{seconds:g} seconds"
    before = signal.signal(signal.SIGALRM, partial(_expire, late, count(1)))
    started = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds / _RINGS, seconds / _RINGS)
    if is_listening():
        _watchdog.look(seconds + _SECONDS_TO_HEAR, late)
    try:
        yield
    finally:
        _watchdog.call_off()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 1e-6), interval)


@contextmanager
def last_words(say: Callable[[str], None]) -> Iterator[None]:
    """While the block runs, `say` is called with the reason before the process is ended."""
    _watchdog.say = say
    try:
        yield
    finally:
        _watchdog.say = lambda why: None


def _expire(late: str, rings: Iterator[int], number: int, frame: FrameType | None) -> None:
    if next(rings) >= _RINGS:
        signal.setitimer(signal.ITIMER_REAL, _SECONDS_TO_RING_AGAIN, _SECONDS_TO_RING_AGAIN)
        raise RunFailed(late)


class _Watchdog:
    """A thread that looks once a second, and ends the process when nobody calls it off for as many looks."""

    def __init__(self) -> None:
        self.say: Callable[[str], None] = lambda why: None
        self._armed: tuple[float, str] | None = None
        self._thread: threading.Thread | None = None

    def look(self, times: float, why: str) -> None:
        self._armed = times, why
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()

    def call_off(self) -> None:
        self._armed = None

    def _watch(self) -> None:
        before, looks = None, 0
        while True:
            time.sleep(1.0)
            armed = self._armed
            before, looks = armed, looks + 1 if armed is before else 0
            if armed is not None and looks > armed[0]:
                why = f"{armed[1]} and does not come back from one call"
                print(f"optac: error: {why}; the process is ended", file=sys.__stderr__, flush=True)
                try:
                    self.say(why)
                finally:
                    os._exit(1)


_watchdog: Final = _Watchdog()
