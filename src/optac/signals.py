"""SIGINT and SIGTERM end a command, wherever they arrive.

Whoever looks for them (`noted`) gets them in a list: the handler does nothing else. Elsewhere they raise, and where
Python drops what is raised, as it does in a callback of its garbage collector or in a destructor, they are sent again.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn

from optac.errors import Terminated

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_SEND_AGAIN: Final = 0.05


def listen() -> None:
    """Have both signals raise in the main thread, and none be lost; for a process that is ours alone."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        signal.signal(number, _stop)
    if sys.unraisablehook is not _send_again:
        _hooks.append(sys.unraisablehook)
        sys.unraisablehook = _send_again


def is_listening() -> bool:
    """Whether this process is ours alone: it is a command, or a worker."""
    return sys.unraisablehook is _send_again


@contextmanager
def noted() -> Iterator[list[int]]:
    """The signals that have come since; a second one raises, for whoever looks may never come back to it."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if len(caught) > 1:
            _stop(number, frame)

    if threading.current_thread() is not threading.main_thread():  # signals are somebody else's
        yield caught
        return
    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_hooks: list[Any] = []


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _send_again(lost: Any) -> None:
    """Called for what was raised where nobody can catch it."""
    if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
        _hooks[-1](lost)
        return
    number = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
    again = threading.Timer(SECONDS_TO_SEND_AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()
