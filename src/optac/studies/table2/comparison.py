"""One agent on one task: ours beside the paper's, who is better, and whether the seeds can tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optac.report.groups import Group
from optac.report.numbers import interval, mean_std, seeds
from optac.report.statistics import SEEDS_NEEDED, Difference, Summary, difference
from optac.studies.table2.cells import SEEDS, STEPS
from optac.studies.table2.paper import AGENTS, PAPER, TASKS, Printed


@dataclass(frozen=True)
class TableCell:
    """One agent on one task: ours, the paper's, and what may be said of the two."""

    environment: str
    agent: str
    steps: int
    group: Group | None

    @property
    def paper(self) -> Printed:
        return PAPER[self.agent][self.environment]

    @property
    def ours(self) -> Summary | None:
        return self.group.summary if self.group else None

    @property
    def text(self) -> str:
        """`6,152 ± 657 (4 seeds)`."""
        return f"{mean_std(self.ours)} ({seeds(self.ours.seeds)})" if self.ours else "missing"

    @property
    def recent_text(self) -> str:
        """The same of the means of the last three evaluations."""
        return mean_std(self.group.recent) if self.group and self.group.recent else "—"

    @property
    def missing(self) -> list[int]:
        """The seeds of the study that have not been run to the end; other seeds stand for as many of them."""
        there = self.group.scores if self.group else {}
        return [seed for seed in SEEDS if seed not in there][: max(0, len(SEEDS) - len(there))]

    @property
    def difference(self) -> Difference | None:
        """Ours minus the paper's."""
        return difference(self.ours, self.paper.summary) if self.ours else None

    @property
    def verdict(self) -> str:
        """Which is better, and whether the seeds can tell."""
        if self.ours is None or self.difference is None:
            return "missing"
        gap, better = self.difference, self.better
        if gap.interval:
            told = "cannot tell" if gap.verdict == "cannot tell" else "can tell"
            return f"{better}, seeds {told}: {interval(gap.interval)}"
        return f"{better}, {self.untold}"

    @property
    def better(self) -> str:
        """Whose mean is higher, as far as the paper's digits go."""
        assert self.ours is not None
        digits = len(self.paper.text.split(" ")[0].partition(".")[2])
        gap = round(self.ours.mean, digits) - self.paper.mean
        return "equal" if gap == 0 else "ours higher" if gap > 0 else "paper’s higher"

    @property
    def untold(self) -> str:
        """Why there is no interval to tell by: too few seeds, or the paper's spread rounds to 0."""
        assert self.ours is not None
        if self.ours.seeds < SEEDS_NEEDED:
            return f"{seeds(self.ours.seeds)}: too few to tell"
        return "cannot tell: the paper’s spread is printed as 0.0"

    @property
    def fill(self) -> str:
        """The command that runs what is missing."""
        command = f"optac reproduce table2 --environments {self.environment}"
        return command if self.steps == STEPS[self.environment] else f"{command} --steps {self.steps}"


def paper_cells(groups: Sequence[Group], *, steps: Mapping[str, int] | None = None) -> list[list[TableCell]]:
    """One line per task with one cell per agent, from runs with the preset's own settings.

    With `steps`, every task it names has a line, and only runs of that many steps count; without, every task that
    was run has one, at the largest number of steps.
    """
    usable = [group for group in groups if group.has_usual_settings and group.agent in AGENTS]
    budgets = dict(steps) if steps is not None else _largest(usable)
    return [
        [_cell(usable, task, agent, budgets[task]) for agent in AGENTS] for task in TASKS if task in budgets
    ]


def _largest(groups: Sequence[Group]) -> dict[str, int]:
    found: dict[str, int] = {}
    for group in groups:
        if group.environment in TASKS and group.complete:
            found[group.environment] = max(group.steps, found.get(group.environment, 0))
    return found


def _cell(groups: Sequence[Group], task: str, agent: str, steps: int) -> TableCell:
    alike = (one for one in groups if (one.environment, one.agent, one.steps) == (task, agent, steps))
    return TableCell(task, agent, steps, next((one for one in alike if one.scores), None))
