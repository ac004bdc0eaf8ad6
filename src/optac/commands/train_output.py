"""A training run as it goes and as it ended, on the terminal."""

import sys
from collections.abc import Mapping
from typing import Any

from optac.report.terminal import show_table
from optac.runs.training_result import TrainingResult


def print_evaluation(row: Mapping[str, Any]) -> None:
    """One line on standard error for a row that holds an evaluation; a terminal has the bar instead."""
    if "eval/mean_reward" in row and not sys.stderr.isatty():
        print(
            f"step {row['time/total_timesteps']}: return {row['eval/mean_reward']:.4g} "
            f"± {row['eval/std_reward']:.3g}, {row['time/fps']:.0f} steps/s",
            file=sys.stderr,
            flush=True,
        )


def show_training(result: TrainingResult) -> None:
    """What a run or an evaluation came to."""
    mean = "never evaluated"
    if result.mean_reward is not None and result.std_reward is not None:
        mean = f"{result.mean_reward:.6g} ± {result.std_reward:.3g} over {result.episodes} episodes"
    rows = [["steps", str(result.steps)], ["return", mean]]
    if result.steps_per_second is not None:
        rows.append(["steps a second", f"{result.steps_per_second:.0f}"])
    rows += [["parameters", f"{result.parameters_sha256[:16]}…"], ["folder", result.folder]]
    show_table(f"{result.agent} in {result.environment}, seed {result.seed}", ["", ""], rows)
