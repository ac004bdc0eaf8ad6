"""The kinds of run, and all that tells one from the other: the names in its files, and the module that makes it.

Reading a folder needs this file alone. What makes a run is loaded when it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from optac.errors import InvalidInput, RunFailed
from optac.runs.json_files import Row

if TYPE_CHECKING:
    from optac.runs.folder import RunFolder


@dataclass(frozen=True)
class Kind:
    """One kind of run: keys of its config.json, keys of its rows, and the module that makes it."""

    name: str
    noun: str
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
    types: Mapping[str, type]
    """config.json: what must be there"""

    def config_of(self, folder: "RunFolder") -> Row:
        """The configuration of a run of this kind; an error where it is of another or damaged."""
        config = folder.config
        if kind_of(config) is not self:
            raise InvalidInput(f"{folder.path} is not a {self.noun}")
        self.check(config, folder)
        return config

    def check(self, config: Row, folder: "RunFolder") -> None:
        """RunFailed where something that must be there is missing or of another type."""
        for name, expected in self.types.items():
            if not isinstance(config.get(name), expected):
                raise RunFailed(f"{folder.config_path} is damaged: its {name} is {config.get(name)!r}")

    def resume(self) -> Callable[..., Any]:
        """The function that resumes a run of this kind, given its folder's path."""
        resume: Callable[..., Any] = import_module(self.module).resume
        return resume


SOLVE: Final = Kind(
    "solve",
    "solve",
    learner="algorithm",
    task="problem",
    total="rounds",
    reached="iteration",
    score="last_gap",
    score_name="last gap",
    module="optac.runs.solving",
    types={"algorithm": str, "problem": str, "parameters": dict, "seed": int, "settings": dict},
)
TRAIN: Final = Kind(
    "train",
    "training run",
    learner="agent",
    task="environment",
    total="steps",
    reached="time/total_timesteps",
    score="eval/mean_reward",
    score_name="return",
    module="optac.runs.training",
    types={"agent": str, "environment": str, "steps": int, "seed": int, "settings": dict},
)
SWEEP_FILE: Final = "sweep.json"
"""in the folder of a sweep: what was asked for, and the list of its runs"""
TUNE_FILE: Final = "tune.json"
"""in the folder of a search: its trials and what they came to"""

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
