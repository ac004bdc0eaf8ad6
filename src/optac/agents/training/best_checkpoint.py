"""The policy of the best evaluation so far, kept as a file."""

import math
import os
from pathlib import Path
from typing import Final

from optac.agents.training.callbacks import SCORE, Callback, Training, best_score
from optac.agents.training.loop import Row
from optac.numpy_policy import check_file
from optac.plain_files import is_there, names_in

BEST: Final = "best.npz"


class BestCheckpoint(Callback):
    """Keeps the policy of the best evaluation so far in `file`, an .npz that `optac.numpy_policy.load` reads.

    Without a name it is best.npz in the run's folder: every run of `optac train` has it. There the one that it takes
    the place of stays beside it, as best.before-STEP.npz, until the next checkpoint: taken up from one that knows
    nothing of the evaluation at STEP, a run has the earlier best again. So it is at the end of a run which a longer
    run has no evaluation at, however long that is kept.
    """

    def __init__(self, file: Path | str | None = None) -> None:
        self.file = None if file is None else Path(file).resolve()
        self.best = -math.inf
        self._written: Path | None = None

    def on_start(self, training: Training) -> None:
        self._written = training.place(self.file, BEST)
        check_file(self._written)
        if training.folder is not None:
            lost = [step for step in self._earlier() if step > training.step]
            for step in reversed(lost):  # the earliest of them in the end
                os.replace(self._before(step), self._written)
        kept = training.folder is not None or is_there(self._written)
        self.best = best_score(training.rows) if kept else -math.inf

    def on_evaluation(self, training: Training, row: Row) -> None:
        if row[SCORE] > self.best:
            assert self._written is not None
            if training.folder is not None and is_there(self._written):
                os.replace(self._written, self._before(training.step))
            training.policy.save(self._written)
            self.best = row[SCORE]

    def on_checkpoint(self, training: Training) -> None:
        if not training.ends_short:
            for step in self._earlier():
                self._before(step).unlink()

    def _before(self, step: int) -> Path:
        assert self._written is not None
        return self._written.with_name(f"{self._written.stem}.before-{step}{self._written.suffix}")

    def _earlier(self) -> list[int]:
        """The steps of the evaluations whose predecessors are kept, in order."""
        assert self._written is not None
        names = names_in(self._written.parent)
        steps = (name.removeprefix(f"{self._written.stem}.before-").removesuffix(".npz") for name in names)
        return sorted(
            int(step) for step in steps if step.isdecimal() and self._before(int(step)).name in names
        )
