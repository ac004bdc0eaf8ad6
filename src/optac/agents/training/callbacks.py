"""Callbacks: code of one's own that is told how a training goes, and may stop it.

A callback extends `Callback` and says what it does on each row of metrics, each evaluation, each checkpoint and at the
end; all else it leaves out. Nothing that a callback does changes what is learnt: a run with callbacks is, to the bit
and as far as it goes, the run without them.
"""

import math
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from optac.agents.settings import AgentSettings
from optac.agents.training.learner import Learner
from optac.agents.training.loop import Row, ends_like_a_longer_run
from optac.errors import InvalidInput, OptacError, RunFailed, require_extra
from optac.numpy_policy import Policy

SCORE: Final = "eval/mean_reward"


@dataclass
class Training:
    """What a callback is told of the training it watches, and `stop`, all that it may do to it."""

    learner: Learner = field(repr=False)
    total: int
    """the step at which the training ends"""
    rows: list[Row] = field(repr=False)
    """all rows of metrics so far, those from before it was resumed included"""
    folder: Path | None = None
    """the run's folder; None where an agent learns without one"""
    why: str | None = None
    """why it was stopped"""

    @property
    def step(self) -> int:
        """Steps taken in the environment."""
        return self.learner.step

    @property
    def policy(self) -> Policy:
        """The policy as it is now, as plain arrays: `policy(observation)`, `policy.save("policy.npz")`."""
        return self.learner.policy

    @property
    def ends_short(self) -> bool:
        """Whether this is the end of a run where one that goes further has no evaluation."""
        last = self.folder is not None and self.step == self.total
        return last and not ends_like_a_longer_run(self.learner.chosen.settings, self.total)

    def place(self, given: Path | None, name: str) -> Path:
        """Where to write: as given, else under this name in the run's folder."""
        if given is not None:
            return given
        if self.folder is None:
            raise InvalidInput(
                f"{name} has no place: an agent that learns without a run's folder must name one"
            )
        return self.folder / name

    def stop(self, why: str) -> None:
        """End the training after the present block of steps; the run is then finished, and its status says why."""
        self.why = self.why or why


class Callback:
    """Extend this; each method does nothing here."""

    def on_start(self, training: Training) -> None:
        """Before the first step, or the first after resuming."""

    def on_row(self, training: Training, row: Row) -> None:
        """For each row of metrics, every `log_every` steps and at every evaluation."""

    def on_evaluation(self, training: Training, row: Row) -> None:
        """After `on_row`, for a row with an evaluation: `eval/mean_reward` and its kin."""

    def on_checkpoint(self, training: Training) -> None:
        """After each checkpoint; an agent that learns without a folder saves none."""

    def on_end(self, training: Training) -> None:
        """After the last step, whether the end was reached or the training was stopped; not after a failure."""


class _Stopping(Callback):
    """Stops at an evaluation; at the same one again where the run was killed between that and its end.

    An agent that learns on in Python has no such end: there only a new evaluation stops it.
    """

    def on_start(self, training: Training) -> None:
        last = training.rows[-1] if training.rows and training.folder is not None else {}
        if score_of(last) is not None and last.get("time/total_timesteps") == training.step:
            self.on_evaluation(training, last)


class StopOnReward(_Stopping):
    """Stops at the first evaluation whose mean return is at least `reward`."""

    def __init__(self, reward: int | float) -> None:
        self.reward = reward

    def on_start(self, training: Training) -> None:
        require_evaluations(self.reward, training.learner.chosen.settings)
        super().on_start(training)

    def on_evaluation(self, training: Training, row: Row) -> None:
        if row[SCORE] >= self.reward:
            training.stop(f"{SCORE} {row[SCORE]:.6g} at step {training.step} is at least {self.reward:g}")


def require_evaluations(reward: int | float, settings: AgentSettings) -> None:
    """InvalidInput where a training that is to stop at a reward is never evaluated."""
    if settings.eval_every == 0:
        raise InvalidInput(f"stopping at a reward of {reward:g} needs evaluations; set eval_every above 0")


class StopBelow(_Stopping):
    """Prunes a trial of a search: stops where its best evaluation so far is below that step's bar."""

    def __init__(self, bars: Mapping[str, float]) -> None:
        self.bars = {int(step): float(bar) for step, bar in bars.items()}

    def on_evaluation(self, training: Training, row: Row) -> None:
        best, bar = best_score(training.rows), self.bars.get(training.step, -math.inf)
        if best < bar:
            training.stop(
                f"pruned at step {training.step}: the best evaluation so far, {best:.6g}, is below {bar:.6g}, the "
                "median of earlier trials' best by then"
            )


def best_score(rows: Iterable[Row]) -> float:
    """The highest evaluation in some rows; −∞ where there is none."""
    return max((score for row in rows if (score := score_of(row)) is not None), default=-math.inf)


def score_of(row: Row) -> float | None:
    """The evaluation of a row; None where it has none, or one that is no number, as in a file that was changed."""
    score: Any = row.get(SCORE)
    is_number = type(score) in (int, float) and abs(score) <= sys.float_info.max
    return float(score) if is_number else None


class TensorBoard(Callback):
    """Writes every number of every row to `folder` as TensorBoard events; needs the extra `tensorboard`.

    Without a name it is tensorboard/ in the run's folder, as with `optac train --tensorboard`.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        require_extra("tensorboard", "TensorBoard events need", "tensorboardX")
        from tensorboardX import SummaryWriter

        self.folder = None if folder is None else Path(folder)
        self._open = SummaryWriter
        self._writer: Any = None

    def on_start(self, training: Training) -> None:
        # Events past the step from which a run is resumed, left by a kill, are dropped.
        folder = training.place(self.folder, "tensorboard")
        # Nobody knows the file's name beforehand: a link of that name would be written through.
        self._writer = self._open(
            str(folder),
            purge_step=training.step + 1,
            flush_secs=10,
            filename_suffix=f".{secrets.token_hex(8)}",
        )

    def on_row(self, training: Training, row: Row) -> None:
        for name, value in row.items():
            self._writer.add_scalar(name, value, row["time/total_timesteps"])
        self._writer.flush()

    def on_end(self, training: Training) -> None:
        self._writer.close()


class _Function(Callback):
    """A function that is given each row and stops the training with False."""

    def __init__(self, function: Callable[[Row], bool | None]) -> None:
        self._function = function

    def on_row(self, training: Training, row: Row) -> None:
        if self._function(row) is False:
            training.stop(f"a callback stopped it at step {training.step}")


Given: TypeAlias = Callback | Callable[[Row], bool | None]


def several(given: Given | Iterable[Given] | None) -> Iterable[Given]:
    """One callback, several, or none."""
    if given is None:
        return ()
    return given if isinstance(given, Iterable) else (given,)


@dataclass(frozen=True)
class Callbacks:
    """Several callbacks of one training, called in their order."""

    training: Training
    all: tuple[Callback, ...]

    @classmethod
    def of(cls, training: Training, given: Iterable[Given]) -> "Callbacks":
        """These callbacks; a function is one of its rows."""
        made = []
        for one in given:
            if isinstance(one, type) or not (isinstance(one, Callback) or callable(one)):
                raise InvalidInput(
                    f"{one!r} is not a callback; give an object whose class extends optac.Callback, or a function "
                    "that takes a row"
                )
            made.append(one if isinstance(one, Callback) else _Function(one))
        return cls(training, tuple(made))

    def start(self) -> None:
        """The training begins."""
        self._call("on_start")

    def row(self, row: Row) -> None:
        """A row has come."""
        self.training.rows.append(row)
        self._call("on_row", row)
        if SCORE in row:
            self._call("on_evaluation", row)

    def checkpoint(self) -> None:
        """A checkpoint is on the disk."""
        self._call("on_checkpoint")

    def end(self) -> None:
        """The training is over."""
        self._call("on_end")

    def _call(self, name: str, *told: Any) -> None:
        for one in self.all:
            with _named(one, name):
                getattr(one, name)(self.training, *told)


@contextmanager
def _named(callback: Callback, method: str) -> Iterator[None]:
    """Whatever a callback's own code raises ends the run in one line that names it."""
    try:
        yield
    except OptacError:
        raise
    except Exception as error:
        function = getattr(callback, "_function", None)
        name = type(callback).__name__ if function is None else getattr(function, "__name__", repr(function))
        raise RunFailed(f"the callback {name} raised {type(error).__name__} in {method}: {error}") from error
