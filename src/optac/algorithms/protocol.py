"""The shape of an algorithm: a module or an object with Settings, PRESETS, default_iterations, init and step.

A reward-free one also has `learnt`, which says what its last state knows. What it asks for beyond a handle it says in
`TRAITS`, where that is more than nothing. `load_algorithm` finds one, by name or as given, and checks it.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np

from optac import registry
from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.learnt import Learnt
from optac.algorithms.loop.states import AlgorithmState, PlayingState
from optac.errors import InvalidInput


@dataclass(frozen=True)
class Traits:
    """The demands of an algorithm beyond a handle, and how its budget is counted."""

    knows_features: bool = False
    """the handle carries the true features"""
    finite_class: bool = False
    """it works on a list of candidate features, so its default model class is "finite\""""
    needs_reachability: bool = False
    """its guarantee needs η_min > 0"""
    commits: bool = False
    """it divides its budget of episodes before it starts; its rounds are not H episodes each"""
    continuous: bool = False
    """it also works where states are continuous, with what it keeps on a grid"""
    rich: bool = False
    """it also works where only observations are seen, with what it keeps on learnt latents"""
    rich_without: tuple[str, ...] = ()
    """its settings that mean nothing there"""
    without_class: bool = False
    """it fits no model class, so that which one is chosen does not determine its result"""


@runtime_checkable
class Algorithm(Protocol):
    """The parts of an algorithm that the loop needs.

    `Settings` is a frozen dataclass of its constants, and a preset makes one for given sizes. `init` gives the first
    state and `step` plays one round: the next state, and an Info for the row of the history. A State is a frozen
    dataclass that extends AlgorithmState, or PlayingState for an algorithm that is not reward-free: all and only what
    the next round needs, the bill included. An Info is a dataclass of plain numbers.
    """

    PRESETS: Mapping[str, Callable[[Sizes], Any]]
    Settings: type

    def default_iterations(self, horizon: int) -> int:
        """Rounds where neither iterations nor episodes are given."""
        ...

    def init(self, settings: Any, handle: Handle) -> AlgorithmState:
        """The state before the first round."""
        ...

    def step(
        self, settings: Any, state: Any, handle: Handle, rng: np.random.Generator
    ) -> tuple[AlgorithmState, Any]:
        """One round: the next state, whose bill adds what the round paid, and its Info."""
        ...


@runtime_checkable
class RewardFreeAlgorithm(Algorithm, Protocol):
    """The part it also needs of one that returns no policy before its end, but can plan for any reward then."""

    def learnt(self, settings: Any, state: Any) -> Learnt:
        """The knowledge in the last state."""
        ...


def load_algorithm(given: Any) -> Algorithm:
    """The algorithm of a name or location, or the given module or object itself; what is missing is named."""
    part = registry.load("algorithm", given) if isinstance(given, str) else given
    missing = [name for name in ("Settings", "PRESETS") if not hasattr(part, name)]
    functions = [
        name for name in ("default_iterations", "init", "step") if not callable(getattr(part, name, None))
    ]
    if missing or functions:
        names = ", ".join([*missing, *(f"{name}()" for name in functions)])
        hint = registry.nearest("algorithm", given) if isinstance(given, str) else ""
        raise InvalidInput(
            f"{algorithm_name(given)} is not an algorithm: it has no {names}; see optac.extend.Algorithm{hint}"
        )
    if not dataclasses.is_dataclass(part.Settings):
        raise InvalidInput(
            f"{algorithm_name(given)}: Settings must be a dataclass; see optac.extend.Algorithm"
        )
    return cast(Algorithm, part)


def algorithm_name(given: Any) -> str:
    """How results and messages call an algorithm: by its registered name, its module's or its class's."""
    if isinstance(given, str):
        return registry.find("algorithm", given).name
    return str(getattr(given, "__name__", type(given).__name__))


def traits(part: Algorithm) -> Traits:
    """The algorithm's own TRAITS, or none."""
    return cast(Traits, getattr(part, "TRAITS", Traits()))


def is_reward_free(part: Algorithm) -> TypeGuard[RewardFreeAlgorithm]:
    """Whether it returns no policy before its last episode, so that a curve of it is a ladder of budgets."""
    return callable(getattr(part, "learnt", None))


def checked_state(name: str, part: Algorithm, state: Any) -> Any:
    """The return of `init` or `step`, which must be a state that the accounts can read."""
    wanted = AlgorithmState if is_reward_free(part) else PlayingState
    if not isinstance(state, wanted):
        raise InvalidInput(
            f"{name} returned {type(state).__name__} as its state; it must extend optac.extend.{wanted.__name__}"
        )
    return state


def checked_round(name: str, part: Algorithm, answer: Any) -> tuple[Any, Any]:
    """The return of `step`: the next state and a dataclass of numbers for the history."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise InvalidInput(f"{name}: step must return a pair (State, Info), not {type(answer).__name__}")
    state, info = answer
    if not dataclasses.is_dataclass(info) or isinstance(info, type):
        raise InvalidInput(f"{name}: the Info of a step must be a dataclass, not {type(info).__name__}")
    return checked_state(name, part, state), info
