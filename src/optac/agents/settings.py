"""What a user may set, each with its default here and nowhere else; and the presets.

`SACSettings` holds everything the three agents share (networks, optimisers, protocol), `CRFFSACSettings`
adds what concerns φ and the bonus. The preset "paper" is the paper's section 7 with the training loop of the
code it builds on where it is silent; "default" is the same algorithm with a shorter random start, one step of φ
an update, a smaller batch, ten updates a dispatch, targets moved at each, and no uniformly random actions after the
start: 100,000 steps take minutes, and results/ablations holds what undoing each does.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from optac.errors import InvalidInput, unknown_name


def _setting(
    default: Any, text: str, *, least: int | float | None = None, most: int | float | None = None
) -> Any:
    return field(default=default, metadata={"help": text, "least": least, "most": most})


@dataclass(frozen=True)
class SACSettings:
    """Settings shared by all agents."""

    preset: Literal["default", "paper"] = _setting("default", "which set of defaults the others start from")
    learning_starts: int = _setting(5_000, "uniformly random steps before the first update", least=1)
    batch_size: int = _setting(128, "transitions in one update", least=1)
    width: int = _setting(256, "units of every hidden layer", least=1)
    critics: int = _setting(2, "critics whose minimum is used", least=1)
    discount: float = _setting(0.99, "γ", least=0.0, most=1.0)
    learning_rate: float = _setting(3e-4, "Adam's step size for actor, critics and temperature", least=0.0)
    target_rate: float = _setting(
        0.005, "how far a target network moves towards its network", least=0.0, most=1.0
    )
    target_every: int = _setting(1, "updates between two moves of the target networks", least=1)
    initial_temperature: float = _setting(0.1, "α at the start", least=1e-8)
    target_entropy: float | None = _setting(None, "H; None means −dim(A)")
    uniform_probability: float = _setting(
        0.0, "probability of a uniformly random action after the start", least=0.0, most=1.0
    )
    replay_capacity: int = _setting(1_000_000, "transitions kept", least=1)
    updates_per_dispatch: int = _setting(
        10, "steps taken, then as many updates in one compiled call", least=1
    )
    eval_every: int = _setting(5_000, "steps between evaluations; 0 means never", least=0)
    eval_episodes: int = _setting(10, "episodes of one evaluation", least=1)
    checkpoint_every: int = _setting(5_000, "steps between checkpoints", least=1)
    step_timeout: float = _setting(
        300.0, "seconds that one step of the environment may take; 0 means any", least=0.0
    )
    log_every: int = _setting(1_000, "steps between rows of metrics", least=1)


@dataclass(frozen=True)
class CRFFSACSettings(SACSettings):
    """Settings of cRFFSAC: the shared ones, φ's and the bonus's."""

    bonus: bool = _setting(False, "add the elliptical bonus to the reward in the critic's target")
    feature_width: int = _setting(256, "dimension of φ", least=1)
    feature_steps: int = _setting(1, "steps of φ, each on a fresh batch, in one update", least=1)
    feature_learning_rate: float = _setting(3e-4, "Adam's step size for φ and M", least=0.0)
    feature_copy_rate: float = _setting(
        0.005, "how far the critic's copy of φ moves towards φ", least=0.0, most=1.0
    )
    head: Literal["mlp", "fourier"] = _setting(
        "mlp", 'critic on φ: "mlp", two layers, or "fourier", linear on fixed cos(Wφ + b)'
    )
    fourier_bandwidth: float = _setting(3.0, "standard deviation of Wφ per unit of φ's rms", least=0.0)
    bonus_scale: float = _setting(1.0, "largest bonus, in standard deviations of the reward", least=0.0)
    bonus_alpha: float = _setting(1.0, "α in min(α‖φ‖_Λ⁻¹, 1)", least=0.0)
    bonus_lambda: float = _setting(1.0, "λ in Λ = λI + Σφφᵀ", least=1e-8)
    bonus_every: int = _setting(1_000, "steps between two rebuildings of Λ", least=1)
    bonus_samples: int = _setting(10_000, "transitions that Λ is rebuilt from, scaled to all", least=1)


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "paper": {
        "learning_starts": 25_000,
        "batch_size": 256,
        "target_every": 2,
        "uniform_probability": 0.01,
        "updates_per_dispatch": 1,
        "feature_steps": 4,
    },
}

Chosen = TypeVar("Chosen", SACSettings, CRFFSACSettings)


def choose(kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    """The settings of a preset with the given ones on top; unknown names and bad values are refused."""
    names = [f.name for f in dataclasses.fields(kind)]
    for name in given:
        if name not in names:
            raise unknown_name("setting", name, names)
    preset = given.get("preset", "default")
    if preset not in PRESETS:
        raise unknown_name("preset", str(preset), PRESETS)
    merged = {name: value for name, value in PRESETS[preset].items() if name in names} | dict(given)
    chosen = kind(
        **{f.name: _checked(f, merged[f.name]) for f in dataclasses.fields(kind) if f.name in merged}
    )
    if chosen.replay_capacity < chosen.updates_per_dispatch:
        raise InvalidInput(
            f"replay_capacity={chosen.replay_capacity} must be at least "
            f"updates_per_dispatch={chosen.updates_per_dispatch}"
        )
    return chosen


def describe(kind: type[SACSettings]) -> list[tuple[str, Any, str]]:
    """Name, default and meaning of each setting."""
    return [(f.name, f.default, f.metadata["help"]) for f in dataclasses.fields(kind)]


def _checked(setting: "dataclasses.Field[Any]", given: Any) -> Any:
    value = _parsed(setting, given) if isinstance(given, str) else given
    allowed = getattr(setting.type, "__args__", ())
    if isinstance(setting.default, str):
        if value not in allowed:
            raise unknown_name(setting.name, str(value), allowed)
        return value
    if value is None and setting.default is None:
        return None
    wanted: type = float if setting.default is None else type(setting.default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if wanted is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise InvalidInput(f"{setting.name}={value!r} must be of type {wanted.__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{setting.name}={value!r} must be a finite number")
    least, most = setting.metadata["least"], setting.metadata["most"]
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise InvalidInput(f"{setting.name}={value!r} must be {bounds}")
    return value


def _parsed(setting: "dataclasses.Field[Any]", text: str) -> Any:
    """A value written as text, as on a command line; text that says nothing of the right kind stays text."""
    if isinstance(setting.default, str):
        return text
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
