"""The settings that every agent has: networks, optimisers, protocol, each with its default here and nowhere else.

An agent's own settings are a subclass in its file, with its presets: the names and values that differ from the
defaults. The preset "paper" is the paper's section 7 with the training loop of the code it builds on where it is
silent. "plain" is the same algorithm with a shorter random start, one step of φ an update, a smaller batch, ten updates
per dispatch, targets moved at each, and no uniformly random actions after the start: 100,000 steps take minutes, and
results/plain-ablations holds what undoing each does. The defaults add inputs and values of one scale, faster
targets bounded by what was achieved, and the actor at every second update until 50,000 steps; results/recipe-search
holds how they were found, and results/recipe-confirmation what fresh seeds said.
"""

import dataclasses
import inspect
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from optac.errors import InvalidInput, unknown_name
from optac.settings import LARGEST_COUNT, changed, read_fields, setting

PLAIN: Mapping[str, Any] = {
    "target_rate": 0.005,
    "actor_every": 1,
    "normalise": False,
    "layer_norm": False,
    "value_scale": False,
    "huber_loss": False,
    "return_bound": False,
}
"""soft actor-critic as published, but for how much of it is done at once"""

Chosen = TypeVar("Chosen", bound="AgentSettings")


@dataclass(frozen=True)
class AgentSettings:
    """Settings shared by all agents."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "plain": PLAIN,
        "paper": {
            **PLAIN,
            "learning_starts": 25_000,
            "batch_size": 256,
            "target_every": 2,
            "uniform_probability": 0.01,
            "updates_per_dispatch": 1,
        },
    }
    NEEDS: ClassVar[Mapping[str, tuple[str, Any]]] = {}
    """what settings whose names begin so need: another setting and the only value with which they are read"""

    preset: str = setting("default", "which set of defaults the others start from")
    learning_starts: int = setting(5_000, "uniformly random steps before the first update", least=1)
    batch_size: int = setting(128, "transitions in one update", least=1)
    width: int = setting(256, "units of every hidden layer", least=1)
    critics: int = setting(2, "critics whose minimum is used", least=1)
    discount: float = setting(0.99, "γ", least=0.0, most=1.0)
    learning_rate: float = setting(3e-4, "Adam's step size for actor, critics and temperature", least=0.0)
    target_rate: float = setting(
        0.02, "how far a target network moves towards its network", least=0.0, most=1.0
    )
    target_every: int = setting(1, "updates between two moves of the target networks", least=1)
    n_step: int = setting(
        1, "steps whose rewards a target has before the value takes over", least=1, most=1_000
    )
    actor_every: int = setting(
        2, "updates of the critics for one of actor and temperature", least=1, most=100
    )
    delay_ends: int | None = setting(
        50_000, "step from which actor and temperature move at every update; None means never", least=0
    )
    normalise: bool = setting(True, "standardise observations by their running moments, for every network")
    layer_norm: bool = setting(True, "standardise the hidden layers of the critics over their units")
    value_scale: bool = setting(True, "let critics learn values in units of the returns' running deviation")
    huber_loss: bool = setting(
        True, "count a critic's errors beyond five times the batch's median linearly, but where the MDP ended"
    )
    return_bound: bool = setting(
        True, "bound what a next state is worth by the largest running return G ← γG + r seen"
    )
    initial_temperature: float = setting(0.1, "α at the start", least=1e-8)
    target_entropy: float | None = setting(None, "H; None means −dim(A)")
    uniform_probability: float = setting(
        0.0, "probability of a uniformly random action after the start", least=0.0, most=1.0
    )
    replay_capacity: int = setting(1_000_000, "transitions kept", least=1, most=LARGEST_COUNT)
    updates_per_dispatch: int = setting(10, "steps taken, then as many updates in one compiled call", least=1)
    eval_every: int = setting(5_000, "steps between evaluations; 0 means never", least=0, determines=False)
    eval_episodes: int = setting(10, "episodes of one evaluation", least=1, most=10_000)
    eval_max_steps: int | None = setting(
        None, "steps after which an evaluation's episode is cut off; None: the time limit, or 10,000", least=1
    )
    checkpoint_every: int = setting(5_000, "steps between checkpoints", least=1, determines=False)
    step_timeout: float = setting(
        300.0,
        "seconds that one step of the environment may take; 0 means any",
        least=0.0,
        most=1e9,
        determines=False,
    )
    log_every: int = setting(1_000, "steps between rows of metrics", least=1, determines=False)

    def __post_init__(self) -> None:
        if self.replay_capacity < self.updates_per_dispatch:
            raise InvalidInput(
                f"replay_capacity={self.replay_capacity} must be at least "
                f"updates_per_dispatch={self.updates_per_dispatch}"
            )

    @property
    def first_update(self) -> int:
        """The step after which the first update is made."""
        return min(self.learning_starts + self.actor_every, max(self.learning_starts, self.delayed_until) + 1)

    @property
    def delayed_until(self) -> int:
        """The step at which the actor's delay ends; one that never comes, where there is none or no end of it."""
        if self.actor_every == 1 or self.delay_ends is None:
            return LARGEST_COUNT
        return self.delay_ends

    @classmethod
    def choose(cls: type[Chosen], given: Mapping[str, Any], *, recorded: bool = False) -> Chosen:
        """A preset's settings with the given ones on top; unknown names and bad values are refused.

        So are settings that nothing would read, unless a file has them `recorded`: one that nobody gave may be the
        default of another version.
        """
        read = read_fields(cls, given)
        preset = read.get("preset", "default")
        if preset not in cls.PRESETS:
            raise unknown_name("preset", preset, cls.PRESETS)
        chosen = cls(**{**cls.PRESETS[preset], **read})
        if not recorded:
            chosen._require_readers(changed(read, asdict(cls(**cls.PRESETS[preset]))))
        return chosen

    def _require_readers(self, asked: Iterable[str]) -> None:
        """An error that names the first setting asked for that nothing reads, as NEEDS says of it."""
        for name in asked:
            if name == "delay_ends" and self.actor_every == 1:
                raise InvalidInput(
                    f"delay_ends={self.delay_ends} would change nothing: it is read only with actor_every above 1"
                )
            for prefix, (other, needed) in self.NEEDS.items():
                if name.startswith(prefix) and getattr(self, other) != needed:
                    raise InvalidInput(
                        f"{name}={getattr(self, name)} would change nothing: it is read only with "
                        f"{other}={needed}, and {other} is {getattr(self, other)}"
                    )

    def determining(self: Chosen) -> Chosen:
        """The same settings, those that no result depends on at their defaults."""
        kept = self.determining_names()
        usual: dict[str, Any] = {f.name: f.default for f in dataclasses.fields(self) if f.name not in kept}
        return dataclasses.replace(self, **usual)

    @classmethod
    def determining_names(cls) -> set[str]:
        """The settings that a result depends on."""
        return {f.name for f in dataclasses.fields(cls) if f.metadata.get("determines", True)}

    @classmethod
    def described(cls) -> list[tuple[str, Any, str]]:
        """Name, default and meaning of each setting."""
        return [(f.name, f.default, f.metadata["help"]) for f in dataclasses.fields(cls)]


def show_settings(kind: type, settings: type[AgentSettings]) -> None:
    """Have `help` and completion show each setting of a class with its default, and the class's text its meaning."""
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    kinds, names = typing.get_type_hints(settings), {one.name for one in own}
    described = [setting for setting in settings.described() if setting[0] not in names]
    shown = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kinds[name])
        for name, default, _ in described
    ]
    kind.__init__.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[misc]
    lines = [f"{name} [{default}]: {text}" for name, default, text in described]
    kind.__doc__ = "\n    ".join(
        [f"{kind.__doc__}\n\n    Settings, each a keyword [and its default]:\n", *lines]
    )
