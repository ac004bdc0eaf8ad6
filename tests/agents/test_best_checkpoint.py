"""best.npz is the policy of the best evaluation that the run's rows have, wherever it was stopped."""

from pathlib import Path
from typing import Any

import pytest

import optac
from optac.errors import RunFailed
from optac.runs.training import evaluate, resume
from tests.agents.test_callbacks import ENV, TINY, scored, trained

SEED = 12
"""whose evaluation at 120 is the best of 60, 120 and 180"""


class At(optac.Callback):
    """Raises at an evaluation, at a row, or at the end."""

    def __init__(self, error: type[BaseException], *, evaluation: int = 0, row: int = 0) -> None:
        self.error, self.evaluation, self.row = error, evaluation, row

    def on_row(self, training: Any, row: dict[str, Any]) -> None:
        if training.step == self.row:
            raise self.error

    def on_evaluation(self, training: Any, row: dict[str, Any]) -> None:
        if training.step == self.evaluation:
            raise self.error

    def on_end(self, training: Any) -> None:
        raise self.error


def test_a_run_that_is_taken_up_at_its_own_end_keeps_the_best_that_it_had_there(tmp_path: Path) -> None:
    """70 steps of seed 11 end between two evaluations, with the best of all."""
    run = tmp_path / "run"
    with pytest.raises(RunFailed, match="raised ZeroDivisionError in on_end"):
        trained(run, steps=70, seed=11, callback=At(ZeroDivisionError))
    kept = (run / "best.npz").read_bytes()
    resume(run)
    assert evaluate(run, best=True).steps == 70 and (run / "best.npz").read_bytes() == kept


def test_the_best_of_an_evaluation_that_was_cut_off_is_the_best_no_more(tmp_path: Path) -> None:
    """Killed at 120, the best so far, and taken up at 70 until 90: where 120 is not reached again, 60 is the best."""
    run, settings = tmp_path / "run", {**TINY, "checkpoint_every": 70}
    trained(tmp_path / "short", steps=60, seed=SEED)
    with pytest.raises(KeyboardInterrupt):
        trained(run, steps=180, seed=SEED, settings=settings, callback=At(KeyboardInterrupt, evaluation=120))
    (_, first), (_, second) = sorted(scored(run))
    assert (first, second) == (60, 120), "else this test says nothing"
    lost = (run / "best.npz").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        resume(run, callback=At(KeyboardInterrupt, row=90))
    assert evaluate(run, best=True).steps == 60
    assert (run / "best.npz").read_bytes() == (tmp_path / "short" / "best.npz").read_bytes() != lost
    resume(run)
    trained(tmp_path / "whole", steps=180, seed=SEED, settings=settings)
    assert (run / "best.npz").read_bytes() == (tmp_path / "whole" / "best.npz").read_bytes()
    assert sorted(path.name for path in run.glob("best*")) == ["best.npz"]


def test_a_linked_folder_is_a_place_for_the_best_policy(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    optac.SAC(ENV, **TINY).learn(60, callback=optac.BestCheckpoint(tmp_path / "linked" / "best.npz"))
    assert (tmp_path / "real" / "best.npz").is_file()
