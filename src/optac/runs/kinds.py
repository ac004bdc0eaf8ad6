"""The kinds of run, and all that tells one from the other: the names that its files use, and what goes on with it.

Reading a folder needs this file alone. What makes a run is loaded when it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from optac.errors import InvalidInput


@dataclass(frozen=True)
class Kind:
    """One kind of run: keys of its config.json, keys of its rows, and the module that makes it."""

    name: str
    learner: str
    """config.json: who learns"""
    task: str
    """config.json: on what"""
    total: str
    """config.json: how far it goes"""
    reached: str
    """a row: how far it has come"""
    score: str
    """a row: how good it is"""
    score_name: str
    module: str

    def resume(self) -> Callable[..., Any]:
        """The function that goes on with a run of this kind, given its folder's path."""
        resume: Callable[..., Any] = import_module(self.module).resume
        return resume


SOLVE: Final = Kind(
    "solve", "algorithm", "problem", "rounds", "iteration", "last_gap", "last gap", "optac.runs.solving"
)
TRAIN: Final = Kind(
    "train",
    "agent",
    "environment",
    "steps",
    "time/total_timesteps",
    "eval/mean_reward",
    "return",
    "optac.runs.training",
)
KINDS: Final = {kind.name: kind for kind in (SOLVE, TRAIN)}


def kind_of(config: Mapping[str, Any]) -> Kind | None:
    """The kind of the run with this configuration; None where it is a study's or no run's at all."""
    name = config.get("kind")
    return KINDS.get(name) if isinstance(name, str) else None


def known_kind(config: Mapping[str, Any], path: object) -> Kind:
    """The same; bad input where it is neither a solve nor a training."""
    kind = kind_of(config)
    if kind is None:
        raise InvalidInput(f"{path} is neither a solve nor a training, but {config.get('kind')!r}")
    return kind
