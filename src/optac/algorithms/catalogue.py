"""The algorithms by name; each is a module with Settings, PRESETS, DEFAULT_ITERATIONS, init and step."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from optac.algorithms.handle import Handle, Sizes
from optac.array_types import Probabilities
from optac.errors import unknown_name
from optac.oracles import Bill

ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "opt-ac": (
        "optac.algorithms.opt_ac",
        "optimistic actor-critic: SL and PE only (the paper's Algorithm 1)",
    ),
    "epsilon-greedy": (
        "optac.algorithms.epsilon_greedy",
        "plans in the fitted table, explores by chance only",
    ),
}


@runtime_checkable
class AlgorithmState(Protocol):
    """Every algorithm's state has the policy it plays next and the bill so far."""

    @property
    def policy(self) -> Probabilities: ...

    @property
    def bill(self) -> Bill: ...


@runtime_checkable
class Algorithm(Protocol):
    """What the loop needs of an algorithm's module."""

    DEFAULT_ITERATIONS: int
    PRESETS: Mapping[str, Callable[[Sizes], Any]]
    Settings: type

    def init(self, settings: Any, handle: Handle) -> AlgorithmState: ...

    def step(
        self, settings: Any, state: Any, handle: Handle, rng: np.random.Generator
    ) -> tuple[AlgorithmState, Any]: ...


def load_algorithm(name: str) -> Algorithm:
    """The module of a named algorithm."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return cast(Algorithm, import_module(ALGORITHMS[name][0]))
