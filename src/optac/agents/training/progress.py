"""A training's bar on a terminal: steps, time left, steps per second, the last evaluation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from optac.agents.training.loop import Row
from optac.terminal import Advance, progress


@dataclass
class Progress:
    """How far a training is, and what its last rows said."""

    advance: Advance
    reached: int
    speed: str = ""
    evaluation: str = ""

    def step(self, step: int) -> None:
        """Say how far the run is."""
        self.reached = step
        self.advance(step, f"{self.speed} {self.evaluation}")

    def row(self, row: Row) -> None:
        """Show a row's speed and, where it has one, its evaluation."""
        self.speed = f"{row['time/fps']:.0f} steps/s"
        if "eval/mean_reward" in row:
            self.evaluation = f"return {row['eval/mean_reward']:.4g}"
        self.step(self.reached)


@contextmanager
def training_progress(step: int, total: int, *, show: bool = True) -> Iterator[Progress]:
    """Shown while its block runs, on standard error and only when that is a terminal."""
    with progress("training", total, quiet=not show, lines=False) as advance:
        shown = Progress(advance, step)
        shown.step(step)
        yield shown
