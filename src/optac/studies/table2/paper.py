"""The paper's Table 2 as it is printed: mean ± standard deviation over 4 seeds at the last training step.

The paper states neither the number of steps nor the length of an episode. The spread of the inverted pendulum is
printed as 00.0, which says no more than that it rounds to zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from optac.report.statistics import Summary

PRINTED_SEEDS = 4
AGENTS: Mapping[str, str] = {"sac": "SAC", "crffsac": "cRFFSAC", "crffsac-bonus": "cRFFSAC + bonus"}
TASKS = (
    "optac/Ant-v0",
    "optac/HalfCheetah-v0",
    "optac/InvertedPendulum-v0",
    "optac/Reacher-v0",
    "optac/Pendulum-v0",
    "optac/Hopper-v0",
)


@dataclass(frozen=True)
class Printed:
    """A cell of the paper's table: its numbers and its very text; a spread that rounds to 0 is unknown."""

    mean: float
    std: float
    text: str

    @property
    def summary(self) -> Summary:
        return Summary(self.mean, self.std or None, PRINTED_SEEDS)


def _row(*cells: str) -> dict[str, Printed]:
    halves = [cell.split("±") for cell in cells]
    return {
        task: Printed(float(mean), float(std), f"{mean} ± {std}".replace("-", "−"))
        for task, (mean, std) in zip(TASKS, halves, strict=True)
    }


PAPER: Mapping[str, Mapping[str, Printed]] = {
    "sac": _row("2081±465", "4994±99", "-0.0028±0.0", "-4.81±0.19", "156±3", "1316±740"),
    "crffsac": _row("2701±663", "6152±657", "-0.0028±0.0", "-5.75±0.85", "153±4", "1449±598"),
    "crffsac-bonus": _row("1910±422", "6454±479", "-0.0029±0.0", "-3.86±0.18", "153±3", "1431±538"),
}

# Mean return of uniformly random actions, 100 episodes: results/environments/random_returns.json.
RANDOM_RETURNS: Mapping[str, float] = {
    "optac/Ant-v0": 484.8838210324593,
    "optac/HalfCheetah-v0": -279.01663982223823,
    "optac/InvertedPendulum-v0": -215.77460589296024,
    "optac/Reacher-v0": -43.00654401145377,
    "optac/Pendulum-v0": -190.73580746878858,
    "optac/Hopper-v0": -2724.7328321018217,
}

SCALES = {task: (RANDOM_RETURNS[task], PAPER["sac"][task].mean) for task in TASKS}
"""a task's returns of random play and of the paper's SAC"""
