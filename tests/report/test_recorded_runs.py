"""A run as its folder records it."""

from pathlib import Path

from optac.report.recorded_runs import TrainingRun


def test_a_run_read_no_further_than_a_step_has_nothing_of_what_came_later() -> None:
    rows = [{"time/total_timesteps": 10 * i, "eval/mean_reward": float(i)} for i in range(1, 7)]
    run = TrainingRun(Path("run"), {"steps": 60}, rows, "finished", "optac train")
    half = run.up_to(40)
    assert (run.score, run.recent, run.over_curve, run.reached) == (6.0, 5.0, 3.5, 60)
    assert (half.score, half.recent, half.over_curve, half.reached) == (4.0, 3.0, 2.5, 40)
    assert half.is_complete and run.up_to(100) == run
