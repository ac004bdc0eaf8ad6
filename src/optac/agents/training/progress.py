"""A progress bar on a terminal: steps, steps a second, time left, the last evaluation."""

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from optac.agents.training.loop import Row


class Progress:
    """Shown while its block runs, on standard error and only when that is a terminal."""

    def __init__(self, step: int, total: int, *, show: bool = True) -> None:
        """A bar that stands at `step` of `total`."""
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[evaluation]}"),
            console=Console(stderr=True),
            disable=not (show and sys.stderr.isatty()),
        )
        self._task = self._bar.add_task("training", total=total, completed=step, rate="", evaluation="")

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def step(self, step: int) -> None:
        """Say how far the run is."""
        self._bar.update(self._task, completed=step)

    def row(self, row: Row) -> None:
        """Show a row's speed and, where it has one, its evaluation."""
        self._bar.update(self._task, rate=f"{row['time/fps']:.0f} steps/s")
        if "eval/mean_reward" in row:
            self._bar.update(self._task, evaluation=f"return {row['eval/mean_reward']:.4g}")
