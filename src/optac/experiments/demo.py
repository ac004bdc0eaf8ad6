"""`optac demo`: Opt-AC and ε-greedy on one lock, the same episodes each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optac.algorithms import Result
from optac.experiments.solving import SolveConfig, problem_of, run_solve
from optac.mdp import LowRankMDP

PROBLEM = "combination-lock"
PARAMETERS = {"horizon": 6, "actions": 10}
ALGORITHMS = ("opt-ac", "epsilon-greedy")
BUDGET = 2000


@dataclass(frozen=True)
class Story:
    """The lock and what each algorithm made of it."""

    problem: LowRankMDP
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
        problem = problem_of(config)
        results[algorithm], _ = run_solve(config, problem, out / algorithm, report)
    return Story(problem, results)
