"""Environments whose hidden state shows late, or lies where nobody looks; importing registers them."""

import itertools
import random
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import PendulumEnv
from gymnasium.spaces import Box, Discrete

from tests.faults.hidden_state import Hidden

LATE = 12  # steps of an episode: more than two episodes from one seed are compared for


class Begins(Hidden):
    """Says with `begin` what a new episode begins with."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        answer = super().reset(seed=seed)
        self.begin()
        return answer

    def begin(self) -> None:
        pass


class Ticks(Hidden):
    """Counts with `tick` where nobody sees it, and shows it late."""

    def extra(self) -> float:
        ticks = self.tick()
        return float(np.sin(ticks)) if self.count > LATE else 0.0

    def tick(self) -> float:
        raise NotImplementedError


def tick_of_the_module() -> int:
    tick_of_the_module.ticks += 1  # type: ignore[attr-defined]
    return tick_of_the_module.ticks  # type: ignore[attr-defined]


tick_of_the_module.ticks = 0  # type: ignore[attr-defined]


class AttributeOfAFunction(Ticks):
    def tick(self) -> float:
        return tick_of_the_module()


class MutableDefault(Ticks):
    def tick(self, memory: list[int] = []) -> float:  # noqa: B006
        memory.append(1)
        return len(memory)


class Clock:
    ticks = 0


clock = Clock()


class ObjectOfTheModule(Ticks):
    def tick(self) -> float:
        clock.ticks += 1
        return clock.ticks


numbers = itertools.count()


class IteratorOfTheModule(Ticks):
    def tick(self) -> float:
        return next(numbers)


class RandomOfTheClass(Ticks):
    own = random.Random(3)

    def tick(self) -> float:
        return self.own.gauss(0, 1)


class GlobalNumpyLate(Ticks):
    def tick(self) -> float:
        return float(np.random.normal())  # noqa: NPY002


class NoiseOnWhatIsSeen(Hidden):
    """Draws from a generator of its class, late, and nothing that it holds itself is touched by that."""

    own = random.Random(4)

    def extra(self) -> float:
        return 0.0

    def step(self, action: np.ndarray) -> Any:
        seen, *rest = super().step(action)
        return seen + np.float32(self.own.gauss(0, 1) if self.count > LATE else 0), *rest


class NonlocalCounter(Ticks):
    def __init__(self) -> None:
        ticks = 0

        def tick() -> int:
            nonlocal ticks
            ticks += 1
            return ticks

        self.counter = tick

    def tick(self) -> float:
        return self.counter()


class OwnMethods(Begins):
    """Is in one of two phases, each a method."""

    def begin(self) -> None:
        self.phase = self.low

    def low(self) -> float:
        self.phase = self.high if self.count % 7 == 0 else self.phase
        return -1.0

    def high(self) -> float:
        self.phase = self.low if self.count % 36 == 0 else self.phase
        return 1.0

    def extra(self) -> float:
        return self.phase()


class HoldsAnother(Hidden):
    """Holds an environment under the name that a wrapper has for it, and is none."""

    def __init__(self) -> None:
        self.env = PendulumEnv()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.env.reset(seed=seed)
        return super().reset(seed=seed)

    def extra(self) -> float:
        return float(self.env.step(np.array([0.5]))[0][0])


class ViewsInAList(Begins):
    def begin(self) -> None:
        self.whole = np.zeros(3)
        self.parts = [self.whole[:1], self.whole[1:]]

    def extra(self) -> float:
        self.whole += self.np_random.normal(size=3)
        return float(np.sin(self.parts[1].sum()))


class ViewNoMore(Begins):
    """What is a view at first is an array of its own later."""

    def begin(self) -> None:
        self.whole = np.zeros(3)
        self.part = self.whole[:]

    def extra(self) -> float:
        self.part = self.part.copy() if self.count == 2 else self.part
        self.whole += self.np_random.normal(size=3)
        self.part -= 0.1
        return float(np.sin(self.part.sum() + self.whole.sum()))


class Spawns(Hidden):
    """Its generator has children, of which its own state says nothing."""

    def extra(self) -> float:
        return float(self.np_random.spawn(1)[0].normal())


class OrderOfASet(Begins):
    def begin(self) -> None:
        self.seen: set[int] = set()

    def extra(self) -> float:
        self.seen.add(int(self.np_random.integers(1_000)))
        return float(np.sin(self.seen.pop() if len(self.seen) > 4 else 0))


class BoundsOfASpace(Begins):
    def begin(self) -> None:
        self.range = Box(-1, float(1 + self.np_random.random()), (1,), np.float64, seed=4)

    def extra(self) -> float:
        return float(self.range.sample()[0])


class Metadata(Begins):
    def begin(self) -> None:
        self.metadata = {"count": 0}

    def extra(self) -> float:
        self.metadata["count"] += 1
        return float(np.sin(self.metadata["count"]))


class ListOfSpaces(Begins):
    def begin(self) -> None:
        self.draws = [Discrete(3, seed=self.count), Discrete(4, seed=2)]

    def extra(self) -> float:
        return float(self.draws[self.count % 2].sample())


class Wrapping(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper with a generator in the function it has caught."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("hidden/ParametersByName-v0"))
        rng = np.random.default_rng(3)
        self.noise = lambda seen: seen + np.float32(rng.normal())

    def step(self, action: Any) -> Any:
        seen, *rest = self.env.step(action)
        return self.noise(seen), *rest


class Slots(Begins):
    __slots__ = ("speed",)

    def begin(self) -> None:
        self.speed = 0.0

    def extra(self) -> float:
        self.speed += float(self.np_random.normal())
        return self.speed


class Deletes(Begins):
    """An attribute is gone after some steps, and its being there matters."""

    def begin(self) -> None:
        self.fresh = True

    def extra(self) -> float:
        if self.count > 3:
            self.__dict__.pop("fresh", None)
        return 1.0 if hasattr(self, "fresh") else -1.0


class MakesAttributesLate(Begins):
    """They come in another order than in an environment that has only been reset."""

    def begin(self) -> None:
        for name in ("zeta", "alpha", "middle"):
            self.__dict__.pop(name, None)

    def extra(self) -> float:
        for place, name in enumerate(("zeta", "alpha", "middle"), start=2):
            if self.count == place:
                setattr(self, name, [float(self.np_random.normal())])
        return sum(getattr(self, name, [0.0])[0] for name in ("alpha", "middle", "zeta"))


UNSAVABLE = (HoldsAnother, ListOfSpaces, Wrapping)
NOT_REPEATED = (
    *(AttributeOfAFunction, MutableDefault, ObjectOfTheModule, IteratorOfTheModule, RandomOfTheClass),
    *(GlobalNumpyLate, NonlocalCounter, OwnMethods, ViewsInAList, ViewNoMore, Spawns, OrderOfASet),
    *(BoundsOfASpace, Metadata, NoiseOnWhatIsSeen),
)
REPEATED = (Slots, Deletes, MakesAttributesLate)
for _kind in (*UNSAVABLE, *NOT_REPEATED, *REPEATED):
    gymnasium.register(f"hidden/{_kind.__name__}-v0", entry_point=_kind, disable_env_checker=True)
