"""Environments that keep a part of their state where no checkpoint sees it, or share it; importing registers them."""

import random
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from probe_environments import Drifting

drawn = np.random.default_rng(5)
steps_taken = 0


class Hidden(Drifting):
    """Moved further by `extra`, which is the part in question."""

    def outcome(self, action: float) -> tuple[float, float, bool]:
        place, _, ended = super().outcome(action)
        self.place = place + 0.1 * self.extra()
        return self.place, -(self.place**2), ended

    def extra(self) -> float:
        raise NotImplementedError


class BoundMethod(Hidden):
    """Holds a method of a generator."""

    def __init__(self) -> None:
        self.noise = np.random.default_rng(3).normal

    def extra(self) -> float:
        return float(self.noise())


class Closure(Hidden):
    """Holds a function that has caught a generator."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.noise = lambda: rng.normal()

    def extra(self) -> float:
        return float(self.noise())


class DefaultArgument(Hidden):
    """Holds a function with a generator as its default."""

    def __init__(self) -> None:
        def noise(rng: np.random.Generator = np.random.default_rng(3)) -> float:  # noqa: B008
            return float(rng.normal())

        self.noise = noise

    def extra(self) -> float:
        return self.noise()


class Partial(Hidden):
    """Holds a function with a generator given to it."""

    def __init__(self) -> None:
        self.noise = partial(np.random.Generator.normal, np.random.default_rng(3))

    def extra(self) -> float:
        return float(self.noise())


class ClassCounter(Hidden):
    """Counts in its class."""

    count_of_all = 0

    def extra(self) -> float:
        ClassCounter.count_of_all += 1
        return float(np.sin(ClassCounter.count_of_all))


class ModuleGenerator(Hidden):
    """Draws from a generator of its module."""

    def extra(self) -> float:
        return float(drawn.normal())


class ModuleCounter(Hidden):
    """Counts in its module."""

    def extra(self) -> float:
        global steps_taken
        steps_taken += 1
        return float(np.sin(steps_taken))


class GlobalNumpy(Hidden):
    """Draws from NumPy's global generator."""

    def extra(self) -> float:
        return float(np.random.normal())  # noqa: NPY002


class GlobalRandom(Hidden):
    """Draws from the global generator of Python's random."""

    def extra(self) -> float:
        return random.gauss(0, 1)


class IgnoresItsSeed(Hidden):
    """Draws a new generator at every reset, whatever the seed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        answer = super().reset(seed=seed)
        self.own = np.random.default_rng()
        return answer

    def extra(self) -> float:
        return float(self.own.normal())


class SharedList(Hidden):
    """Two attributes are one list: what is added under one name is read under the other."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.written = self.read = [0.0]
        return super().reset(seed=seed)

    def extra(self) -> float:
        self.written.append(float(self.np_random.normal()))
        return float(np.mean(self.read))


class SharedGenerator(Hidden):
    """Two attributes are one generator, which is not the one that Gymnasium knows."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        answer = super().reset(seed=seed)
        self.first = self.second = np.random.Generator(np.random.MT19937(int(self.np_random.integers(9))))
        return answer

    def extra(self) -> float:
        return float(self.first.normal() - self.second.normal())


class SharedArray(Hidden):
    """Two attributes are one array, in a list and by name."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.total = np.zeros(2)
        self.all = {"totals": [self.total]}
        return super().reset(seed=seed)

    def extra(self) -> float:
        self.total += self.np_random.normal()
        return float(np.sin(self.all["totals"][0][0]))


class ParametersByName(Hidden):
    """Holds functions and methods that have caught nothing, and its own method."""

    def __init__(self) -> None:
        scale = 0.3
        self.scaled = lambda x: scale * x
        self.again = self.outcome
        self.sine, self.partial = np.sin, partial(max, 0.0)

    def extra(self) -> float:
        return float(self.partial(self.scaled(self.np_random.normal())))


INEXACT = {
    BoundMethod: "state cannot be saved",
    Closure: "state cannot be saved",
    DefaultArgument: "state cannot be saved",
    Partial: "state cannot be saved",
    ClassCounter: "the attribute count_of_all of the class ClassCounter changed",
    ModuleGenerator: "the variable drawn of the module tests.faults.hidden_state changed",
    ModuleCounter: "the variable steps_taken of the module tests.faults.hidden_state changed",
    GlobalNumpy: "two episodes from the same seed are not the same",
    GlobalRandom: "two episodes from the same seed are not the same",
    IgnoresItsSeed: "two episodes from the same seed are not the same",
}
EXACT = (SharedList, SharedGenerator, SharedArray, ParametersByName)
for _kind in (*INEXACT, *EXACT):
    gymnasium.register(f"hidden/{_kind.__name__}-v0", entry_point=_kind, disable_env_checker=True)
