"""Runs as their folders record them: one seed of an agent in an environment, one of an algorithm on a problem.

A file may hold anything. A value that the page counts with and that is no number costs that value where it stands in
a training run's row, with a note; anything else that is odd is an error, which costs the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import mean
from typing import Any

from optac.errors import RunFailed
from optac.report.tables import ORACLES
from optac.runs.command_lines import compare_command, solve_command, train_command
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row, read_json_object
from optac.runs.kinds import TRAIN

# They say when a run looks up from its work, not what it learns.
BOOKKEEPING = {"eval_every", "checkpoint_every", "log_every", "step_timeout"}
STEP, SCORE, SPEED = "time/total_timesteps", "eval/mean_reward", "time/fps"
# Beyond it a square, and so a spread, is infinite.
LARGEST = 1e150
RECENT = 3
POINT = ("episodes", "gap", "last_gap")
Confusion = tuple[tuple[tuple[float, ...], ...], ...]
"""step, true latent, learnt latent → the share of the one's observations that are decoded as the other"""


@dataclass(frozen=True)
class TrainingRun:
    """One seed of one agent in one environment."""

    path: Path
    config: Row
    rows: list[Row]
    state: str
    command: str
    varied: Row = field(default_factory=dict)
    """the settings of which its sweep tries several values"""

    @cached_property
    def curve(self) -> dict[int, float]:
        """Step → mean return of the evaluation there; one that is not a number is none."""
        found = {}
        for row in self.rows:
            step, value = finite(row.get(STEP)), finite(row.get(SCORE))
            if step is not None and value is not None:
                found[int(step)] = value
        return found

    @property
    def agent(self) -> str:
        return str(self.config["agent"])

    @property
    def environment(self) -> str:
        return str(self.config["environment"])

    @property
    def seed(self) -> int:
        return int(self.config["seed"])

    @property
    def steps(self) -> int:
        """How far the run is meant to go."""
        return int(self.config["steps"])

    @cached_property
    def reached(self) -> int:
        """How far it has come."""
        steps = (finite(row.get(STEP)) for row in self.rows)
        return max((int(step) for step in steps if step is not None), default=0)

    @property
    def is_complete(self) -> bool:
        """Whether it was evaluated at its last step."""
        return self.steps in self.curve

    @property
    def was_stopped(self) -> bool:
        """Whether it was finished before its last step, by a callback or at the reward it was meant to reach."""
        return self.state.startswith("finished") and self.reached < self.steps

    @property
    def progress(self) -> tuple[bool, int]:
        """Of two records of the same run the one that came further has more of it."""
        return self.is_complete, self.reached

    @property
    def score(self) -> float:
        """The last evaluation."""
        return self.curve[self.steps]

    @property
    def recent(self) -> float:
        """The mean of the last three evaluations, with less of one evaluation's luck."""
        return mean(list(self.curve.values())[-RECENT:])

    @property
    def over_curve(self) -> float:
        """The mean of all evaluations: how soon and how well it learnt."""
        return mean(self.curve.values())

    def up_to(self, steps: int) -> "TrainingRun":
        """The same run read no further than `steps`."""
        rows = [row for row in self.rows if (finite(row.get(STEP)) or 0.0) <= steps]
        return replace(self, config={**self.config, "steps": min(self.steps, steps)}, rows=rows)

    @property
    def preset(self) -> str:
        """The set of defaults it started from."""
        return self.config["settings"].get("preset", "default")

    @property
    def changed(self) -> dict[str, Any] | None:
        """The settings that are not the preset's own and that what is learnt depends on; None: not recorded."""
        recorded = self.config.get("changed")
        return recorded if recorded is None else _learning(recorded)

    @property
    def learning_settings(self) -> dict[str, Any]:
        """The settings that what is learnt depends on."""
        return _learning(self.config["settings"])

    @property
    def setup(self) -> tuple[Any, ...]:
        """Everything the run shares with those that differ from it in their seed alone."""
        chosen = self.learning_settings if self.changed is None else self.changed
        settings = tuple(sorted((name, repr(value)) for name, value in chosen.items()))
        return self.environment, self.agent, self.steps, self.preset, settings

    @property
    def speeds(self) -> list[float]:
        """Steps per second, of the rows in which the agent learnt."""
        found = (finite(row.get(SPEED)) for row in self.rows if "train/critic_loss" in row)
        return [speed for speed in found if speed is not None]


def _learning(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in BOOKKEEPING}


@dataclass(frozen=True)
class ProvableRun:
    """One seed of one algorithm on one problem, with its bill; a curve's points are (episodes, gap, last gap)."""

    path: Path
    config: Row
    rows: list[Row]
    problem: str
    algorithm: str
    seed: int
    choices: Mapping[str, str]
    episodes: int
    gap: float
    last_gap: float
    bill: Mapping[str, int]
    seconds: float
    curve: tuple[tuple[float, float, float], ...]
    command: str
    confusion: Confusion = ()
    varied: Row = field(default_factory=dict)
    """the settings of which its sweep tries several values"""

    @property
    def progress(self) -> tuple[bool, int]:
        """Of two records of the same run the one that came further has more of it."""
        return True, self.episodes

    @property
    def setup(self) -> tuple[Any, ...]:
        """Everything the run shares with those that differ from it in their seed alone."""
        return self.problem, self.algorithm, tuple(sorted(self.choices.items()))


def trained(folder: RunFolder, config: Row, rows: list[Row], notes: list[str], varied: Row) -> TrainingRun:
    """A run of `optac train`, be it on its way."""
    TRAIN.check(config, folder)
    status = folder.status
    state: str = status.state if status else "not recorded"
    if status and status.state == "finished" and status.why:
        state = f"finished: {status.why}"
    run = TrainingRun(folder.path, config, rows, state, train_command(config), varied)
    if not isinstance(run.preset, str) or not isinstance(run.changed, dict | None):
        raise RunFailed(
            f"{folder.config_path} is damaged: its preset is {run.preset!r}, changed by {run.changed!r}"
        )
    for name in (STEP, SCORE, SPEED):
        odd = sum(finite(row.get(name)) is None for row in rows if name in row or name == STEP)
        if odd:
            notes.append(f"{folder.metrics_path}: {name} is no number in {odd} of its rows, left out there")
    return run


def solved(folder: RunFolder, config: Row, rows: list[Row], varied: Row) -> ProvableRun:
    """A solve that has ended; its result.json is written last."""
    if not (folder.path / "result.json").exists():
        raise RunFailed(f"{folder.path} has no result.json: it has not ended; `optac resume` it")
    result = read_json_object(folder.path / "result.json")
    curve = [tuple(row[name] for name in POINT) for row in rows if row.get("gap") is not None]
    who = {"algorithm": config["algorithm"], "seed": config["seed"]}
    run = _provable(folder, config, rows, {**result, **who}, curve, solve_command(config))
    return replace(run, varied=varied)


def compared(folder: RunFolder, config: Row, row: Row) -> ProvableRun:
    """One algorithm and seed of a comparison."""
    curve = zip(*(row["curve"][name] for name in POINT), strict=True)
    return _provable(folder, config, [row], row, curve, compare_command(config))


def _provable(
    folder: RunFolder, config: Row, rows: list[Row], result: Row, curve: Iterable[Sequence[Any]], command: str
) -> ProvableRun:
    algorithm = str(result["algorithm"])
    return ProvableRun(
        folder.path,
        config,
        rows,
        " ".join(
            [Path(config["problem"]).name, *(f"{k}={v}" for k, v in config.get("parameters", {}).items())]
        ),
        algorithm,
        int(result["seed"]),
        _choices(config, algorithm),
        int(_sound(result["episodes"])),
        _sound(result["gap"]),
        _sound(result["last_gap"]),
        {oracle: int(_sound(result["bill"][oracle])) for oracle in ORACLES},
        _sound(result["time/seconds"]),
        tuple((_sound(episodes), _sound(gap), _sound(last)) for episodes, gap, last in curve),
        command,
        _confusion(result.get("confusion", [])),
    )


def finite(value: object) -> float | None:
    """A number to count with; None for anything else that a row may hold."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def _sound(value: object) -> float:
    found = finite(value)
    if found is None:
        raise ValueError(f"{value!r} is no number")
    return found


def _confusion(steps: Any) -> Confusion:
    """Grids of shares, each with a column at least and rows of one length."""
    found = tuple(tuple(tuple(_sound(share) for share in row) for row in rows) for rows in steps)
    for rows in found:
        if (
            len({len(row) for row in rows}) != 1
            or not rows[0]
            or not all(0 <= s <= 1.01 for r in rows for s in r)
        ):
            raise ValueError("its confusion is no grid of shares")
    return found


def _choices(config: Row, algorithm: str) -> dict[str, str]:
    """The choices made for a run apart from problem, algorithm and seed; what was left open is not there.

    A comparison's setting `algorithm.name` is that algorithm's own.
    """
    chosen = {name: config.get(name) for name in ("kind", "iterations", "episodes", "epsilon", "preset")}
    chosen["file"] = (config.get("problem_sha256") or "")[:12] or None
    for owner in ("", algorithm):
        for name, value in config.get("settings", {}).items():
            whose, _, setting = name.rpartition(".")
            chosen |= {setting: value} if whose == owner else {}
    return {name: str(value) for name, value in chosen.items() if value is not None}
