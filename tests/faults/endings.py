"""Environments that end a run in their own way; importing this registers them."""

import ctypes
import os
import signal
import sys
import time
from typing import Any

import gymnasium
from probe_environments import Drifting


class Ending(Drifting):
    """Goes wrong in the way of its class, in step 30 of its life where it is a step."""

    life = 0

    def outcome(self, action: float) -> tuple[float, float, bool]:
        self.life += 1
        if self.life == 30:
            self.end()
        return super().outcome(action)

    def end(self) -> None:
        pass


class ExitsWithZero(Ending):
    def end(self) -> None:
        sys.exit(0)


class ChangesFolder(Ending):
    def end(self) -> None:
        os.chdir("/")


class RaisesInClose(Ending):
    def close(self) -> None:
        raise OSError("it is stuck")


class ExitsInClose(Ending):
    def close(self) -> None:
        sys.exit(3)


class HangsInClose(Ending):
    def close(self) -> None:
        time.sleep(60)


def never_return() -> None:
    """A call into a library that waits for itself, and that no signal wakes."""
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)


class StuckInStep(Ending):
    def end(self) -> None:
        never_return()


class StuckInClose(Ending):
    def close(self) -> None:
        never_return()


class RaisesInInit(Ending):
    def __init__(self) -> None:
        raise KeyError("no simulator")


class ExitsInInit(Ending):
    def __init__(self) -> None:
        sys.exit(0)


class CountsItsCloses(Ending):
    made = open = 0

    def __init__(self) -> None:
        CountsItsCloses.made += 1
        CountsItsCloses.open += 1

    def close(self) -> None:
        CountsItsCloses.open -= 1


class TakesSignals(Ending):
    def __init__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


class NeverEnds(Ending):
    def outcome(self, action: float) -> tuple[float, float, bool]:
        place, reward, _ = super().outcome(action)
        return place, reward, False


class ResetRaisesExit(Ending):
    def reset(self, **given: Any) -> Any:
        if self.life:
            raise SystemExit(0)
        return super().reset(**given)


for _kind in (*Ending.__subclasses__(),):
    gymnasium.register(f"ending/{_kind.__name__}-v0", entry_point=_kind, disable_env_checker=True)
