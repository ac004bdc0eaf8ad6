"""How often an agent loses what it has learnt: a measured property of the runs of Table 2.

After a fifth of a run's steps, an evaluation is a fall where it keeps less than half of what the best one so far had
gained over random play. The inverted pendulum must not be dropped at all: there an evaluation below −1 after one of
at least −0.1 is a fall too. A run whose best evaluation is less than a tenth of the way from random play to the
paper's SAC has learnt nothing that it could lose, and is counted apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from optac.report.groups import Group, short_name
from optac.report.tables import markdown_table
from optac.studies.table2.paper import AGENTS, SCALES

SETTLED, KEPT, LEARNT = 0.2, 0.5, 0.1
BALANCED: Mapping[str, tuple[float, float]] = {"optac/InvertedPendulum-v0": (-0.1, -1.0)}
"""a task's return that is reached for good: where an evaluation below the second comes after one of the first"""


@dataclass(frozen=True)
class Stability:
    """Falls among the evaluations of some runs, and how many of the runs never learnt."""

    runs: int = 0
    unlearnt: int = 0
    evaluations: int = 0
    falls: int = 0

    def __add__(self, other: "Stability") -> "Stability":
        return Stability(
            self.runs + other.runs,
            self.unlearnt + other.unlearnt,
            self.evaluations + other.evaluations,
            self.falls + other.falls,
        )

    @property
    def text(self) -> str:
        """`1 of 320 evaluations (8 runs)`."""
        if not self.runs:
            return "—"
        apart = f", {self.unlearnt} never learnt" if self.unlearnt else ""
        return f"{self.falls} of {self.evaluations} ({self.runs} run{'s' * (self.runs > 1)}{apart})"


def stability(environment: str, curve: Mapping[int, float]) -> Stability:
    """Of one run, from step → return of its evaluations."""
    random, good = SCALES[environment]
    steps = sorted(curve)
    best = list(accumulate((curve[step] for step in steps), max))
    if not steps or best[-1] - random < LEARNT * (good - random):
        return Stability(runs=1, unlearnt=1)
    reached, dropped = BALANCED.get(environment, (float("inf"), float("-inf")))
    settled = [
        (curve[step], top) for step, top in zip(steps, best, strict=True) if step > SETTLED * steps[-1]
    ]
    falls = sum(
        value - random < KEPT * max(top - random, 0.0) or (top >= reached and value < dropped)
        for value, top in settled
        if value < top
    )
    return Stability(1, 0, len(settled), falls)


def stability_markdown(groups: Sequence[Group]) -> str:
    """One line for each task and one for all: falls of how many evaluations, for each agent."""
    tasks = sorted({group.environment for group in groups})
    lines = [[short_name(task), *(_of(groups, agent, [task]).text for agent in AGENTS)] for task in tasks]
    lines.append(["**all**", *(f"**{_of(groups, agent, tasks).text}**" for agent in AGENTS)])
    return markdown_table(["task", *AGENTS.values()], lines)


def _of(groups: Sequence[Group], agent: str, tasks: Sequence[str]) -> Stability:
    runs = [
        run
        for group in groups
        if group.agent == agent and group.environment in tasks
        for run in group.complete
    ]
    return sum((stability(run.environment, run.curve) for run in runs), Stability())
