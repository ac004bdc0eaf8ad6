"""SIGINT and SIGTERM end a command, wherever they arrive.

Whoever looks for them (`noted`) gets them in a list: the handler does nothing else. Elsewhere they raise, once an
import that is under way has ended. Where Python drops what is raised, as it does in a callback of its garbage collector
or in a destructor, they are sent again.
"""

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from optac.errors import Terminated

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_SEND_AGAIN: Final = 0.05


def listen() -> None:
    """Have both signals raise in the main thread, and none be lost; for a process that is ours alone."""
    if threading.current_thread() is not threading.main_thread():
        return
    _deferred.clear()
    for number in SIGNALS:
        signal.signal(number, _stop)
    if sys.unraisablehook is not _send_again:
        _hooks.append(sys.unraisablehook)
        sys.unraisablehook = _send_again


def is_listening() -> bool:
    """Whether this process is ours alone: it is a command, or a worker."""
    return sys.unraisablehook is _send_again


class Noted(list[int]):
    """The signals that have come; a second one raises, for whoever looks may never come back to it."""

    def heard(self) -> bool:
        """Whether one has come. Should other code have taken them, as an environment may, they are noted here again."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) != self._note:
                    signal.signal(number, self._note)
        return bool(self)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.append(number)
        if len(self) > 1:
            _stop(number, frame)


@contextmanager
def noted() -> Iterator[Noted]:
    """The signals that come while the block runs, in the main thread: elsewhere they are somebody else's."""
    caught, before = Noted(), {number: signal.getsignal(number) for number in SIGNALS}
    caught.heard()
    try:
        yield caught
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)


def let_go() -> None:
    """Have both signals end the process at once: while it ends, nothing that they raise would be caught."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


_hooks: list[Any] = []
_deferred: list[int] = []


def _stop(number: int, frame: FrameType | None) -> None:
    # What is raised in the hook is dropped too; in an import it may leave a library half made, so the first one waits.
    waits = _is_in(_IMPORT, frame) and not _deferred
    if waits:
        _deferred.append(number)
    if waits or _is_in(_HOOK, frame):
        _thread.start_new_thread(_send_later, (number,))
    else:
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _send_again(lost: Any) -> None:
    """Called for what was raised where nobody can catch it."""
    if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
        _hooks[-1](lost)
    else:
        number = signal.SIGTERM if issubclass(lost.exc_type, Terminated) else signal.SIGINT
        _thread.start_new_thread(_send_later, (number,))


def _send_later(number: int) -> None:
    """Send a signal once the main thread is out of the hook and of imports, in a thread of its own."""
    main, inside = threading.main_thread().ident or 0, True
    while inside:
        time.sleep(SECONDS_TO_SEND_AGAIN)
        frame = sys._current_frames().get(main)
        inside = _is_in(_HOOK, frame) or _is_in(_IMPORT, frame)
    os.kill(os.getpid(), number)


def _is_in(code: tuple[str, str], frame: FrameType | None) -> bool:
    while frame is not None and (frame.f_code.co_filename, frame.f_code.co_name) != code:
        frame = frame.f_back
    return frame is not None


_HOOK: Final = _send_again.__code__.co_filename, _send_again.__name__
_IMPORT: Final = "<frozen importlib._bootstrap>", "_find_and_load"
