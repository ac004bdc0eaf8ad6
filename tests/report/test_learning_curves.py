"""Learning curves show the evaluations and nothing else."""

from pathlib import Path

import pytest

from optac.report.learning_curves import evaluations, last_evaluations, learning_curves

ROWS = [
    {"time/total_timesteps": 5, "time/fps": 1.0},
    {"time/total_timesteps": 10, "eval/mean_reward": 1.0},
    {"time/total_timesteps": 20, "eval/mean_reward": 2.0},
    {"time/total_timesteps": 30, "eval/mean_reward": 3.0},
    {"time/total_timesteps": 40, "eval/mean_reward": 7.0},
]


def test_only_rows_with_an_evaluation_count() -> None:
    assert evaluations(ROWS) == {10: 1.0, 20: 2.0, 30: 3.0, 40: 7.0}


def test_a_runs_outcome_is_the_mean_of_its_last_three_evaluations() -> None:
    assert last_evaluations(ROWS) == pytest.approx(4.0)


def test_the_figure_is_written_twice_with_every_agent_named(tmp_path: Path) -> None:
    path = learning_curves({"sac": [ROWS, ROWS[:3]], "crffsac": [ROWS]}, tmp_path / "c" / "a.png", title="T")
    assert path.stat().st_size > 5_000
    drawn = path.with_suffix(".svg").read_text()
    assert "sac (2 seeds)" in drawn and "crffsac (1 seed)" in drawn
