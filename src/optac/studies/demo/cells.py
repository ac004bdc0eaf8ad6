"""`optac demo`: Opt-AC and ε-greedy on one lock, the same episodes each, then a short training of cRFFSAC.

Loads JAX only for the training.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optac.algorithms import Result
from optac.mdp import Problem
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.runs.training_result import TrainingResult

PROBLEM = "combination-lock"
PARAMETERS = {"horizon": 6, "actions": 10}
ALGORITHMS = ("opt-ac", "epsilon-greedy")
BUDGET = 2000
TASK = "optac/Pendulum-v0"
STEPS = 8_000
TRAINING_SETTINGS = {"learning_starts": 1_000, "eval_every": 1_000, "checkpoint_every": 4_000}


@dataclass(frozen=True)
class Story:
    """The lock and what each algorithm made of it."""

    problem: Problem
    results: dict[str, Result]

    @property
    def command(self) -> str:
        """The command to type next."""
        return "optac solve combination-lock horizon=100 actions=10 --iterations 600"

    def summary(self) -> dict[str, Any]:
        return {name: result.summary() for name, result in self.results.items()}


def play(out: Path, advance: Callable[[int, str], None]) -> Story:
    """Run both algorithms into folders below `out`; `advance` hears of the episodes played."""
    results = {}
    for i, algorithm in enumerate(ALGORITHMS):

        def report(row: dict[str, Any], before: int = i * BUDGET, name: str = algorithm) -> None:
            advance(before + row["episodes"], f"{name}: gap of the last policy {row['last_gap']:.2f}")

        config = SolveConfig(PROBLEM, PARAMETERS, algorithm, episodes=BUDGET)
        prepared = prepared_solve(config)
        results[algorithm], _ = run_solve(prepared, out / algorithm, report)
    return Story(prepared.run.problem, results)


def train_shortly(out: Path, steps: int, **watching: Any) -> TrainingResult:
    """cRFFSAC brings a pendulum to rest: an evaluation every thousand steps, the first thousand random."""
    from optac.threads import limit_threads

    limit_threads(1)
    from optac.runs.training import train

    return train(TASK, "crffsac", steps=steps, settings=TRAINING_SETTINGS, out=out / "crffsac", **watching)
