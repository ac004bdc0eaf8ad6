"""The algorithms by name; each is a module with Settings, PRESETS, default_iterations, init and step.

A reward-free algorithm's module also has `learnt`, which says what its last state knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from optac.algorithms.loop.handle import Handle, Sizes
from optac.algorithms.loop.learnt import Learnt
from optac.algorithms.loop.states import AlgorithmState
from optac.errors import unknown_name

ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "opt-ac": (
        "optac.algorithms.opt_ac",
        "optimistic actor-critic: SL and PE only (the paper's Algorithm 1)",
    ),
    "rep-ucb": (
        "optac.algorithms.rep_ucb",
        "plans in the fitted model with an elliptical bonus: SL and PP (Uehara, Zhang and Sun)",
    ),
    "raffle": (
        "optac.algorithms.raffle",
        "reward-free: plans for the bonus alone, cut off at 1, then for any reward: SL and PP (Cheng et al.)",
    ),
    "flambe": (
        "optac.algorithms.flambe",
        "reward-free: an elliptical planner covers the fitted features: SL and PP (Agarwal et al.)",
    ),
    "moffle": (
        "optac.algorithms.moffle",
        "reward-free, model-free: min-max features and a cover by FQI; pays CP rounds (Modi et al.)",
    ),
    "spanrl": (
        "optac.algorithms.spanrl",
        "reward-free, model-free: a barycentric spanner of policies by PSDP; pays CP rounds (Mhammedi et al.)",
    ),
    "lsvi-ucb": (
        "optac.algorithms.lsvi_ucb",
        "reference that knows the features: optimistic least squares (Jin et al.)",
    ),
    "ucbvi": (
        "optac.algorithms.ucbvi",
        "reference for tables: optimistic value iteration on counts (Azar et al.)",
    ),
    "epsilon-greedy": (
        "optac.algorithms.epsilon_greedy",
        "plans in the fitted table, explores by chance only",
    ),
}


@dataclass(frozen=True)
class Traits:
    """What an algorithm asks for beyond a handle, and how its budget is counted."""

    knows_features: bool = False
    """the handle carries the true features"""
    finite_class: bool = False
    """it works on a list of candidate features, so its default model class is "finite\""""
    needs_reachability: bool = False
    """its guarantee needs η_min > 0"""
    commits: bool = False
    """it divides its budget of episodes before it starts; its rounds are not H episodes each"""


TRAITS: Mapping[str, Traits] = {
    "flambe": Traits(commits=True),
    "moffle": Traits(finite_class=True, needs_reachability=True, commits=True),
    "spanrl": Traits(finite_class=True, commits=True),
    "lsvi-ucb": Traits(knows_features=True),
}

REWARD_FREE = ("raffle", "flambe", "moffle", "spanrl")
"""These return no policy before their last episode: a curve of theirs is a ladder of budgets."""


def traits(name: str) -> Traits:
    """The traits of a named algorithm."""
    return TRAITS.get(name, Traits())


@runtime_checkable
class Algorithm(Protocol):
    """What the loop needs of an algorithm's module."""

    PRESETS: Mapping[str, Callable[[Sizes], Any]]
    Settings: type

    def default_iterations(self, horizon: int) -> int: ...

    def init(self, settings: Any, handle: Handle) -> AlgorithmState: ...

    def step(
        self, settings: Any, state: Any, handle: Handle, rng: np.random.Generator
    ) -> tuple[AlgorithmState, Any]: ...


@runtime_checkable
class RewardFreeAlgorithm(Algorithm, Protocol):
    """What it also needs of a reward-free one."""

    def learnt(self, settings: Any, state: Any) -> Learnt: ...


def load_algorithm(name: str) -> Algorithm:
    """The module of a named algorithm."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    return cast(Algorithm, import_module(ALGORITHMS[name][0]))
