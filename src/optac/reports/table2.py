"""The paper's Table 2 with our figures beside it: which is better, whether the seeds can tell, what is missing.

`python -m optac.reports.table2 results/table2` writes docs/results/table2.md and the table in README.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optac.reports.groups import Group, short_name
from optac.reports.numbers import ends, mean_std, number, seeds
from optac.reports.paper_table2 import AGENTS, PAPER, SEEDS, TASKS, Printed
from optac.reports.statistics import SEEDS_NEEDED, Difference, Summary, difference

STEPS: Mapping[str, int] = {task: 50_000 if "Pendulum" in task else 200_000 for task in TASKS}


@dataclass(frozen=True)
class Cell:
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
    def missing(self) -> list[int]:
        """The seeds of 0 … 3 that have not been run to the end."""
        there = self.group.scores if self.group else {}
        return [seed for seed in range(SEEDS) if seed not in there]

    @property
    def difference(self) -> Difference | None:
        """Ours minus the paper's."""
        return difference(self.ours, self.paper.summary) if self.ours else None

    @property
    def verdict(self) -> str:
        """Which is better, and whether the seeds can tell."""
        if self.ours is None or self.difference is None:
            return "missing"
        gap, better = self.difference, better_of(self)
        if gap.low is not None and gap.high is not None:
            told = "cannot tell" if gap.verdict == "cannot tell" else "can tell"
            return f"{better}, seeds {told}: {number(gap.mean, gap.high - gap.low)} {ends(gap.low, gap.high)}"
        if self.ours.seeds < SEEDS_NEEDED:
            return f"{better}, cannot tell from {seeds(self.ours.seeds)}"
        return f"{better}, cannot tell: no spread is printed"

    @property
    def fill(self) -> str:
        """The command that runs what is missing."""
        return f"optac reproduce table2 --environments {self.environment}"


def better_of(cell: Cell) -> str:
    """Whose mean is higher, as far as the paper's digits go."""
    assert cell.ours is not None
    digits = len(cell.paper.text.split(" ")[0].partition(".")[2])
    gap = round(cell.ours.mean, digits) - cell.paper.mean
    return "equal" if gap == 0 else "ours higher" if gap > 0 else "paper’s higher"


def paper_cells(groups: Sequence[Group], *, steps: Mapping[str, int] | None = None) -> list[list[Cell]]:
    """A line a task with a cell an agent, from runs with the preset's own settings.

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


def _cell(groups: Sequence[Group], task: str, agent: str, steps: int) -> Cell:
    ours = (
        group
        for group in groups
        if (group.environment, group.agent, group.steps) == (task, agent, steps) and group.scores
    )
    return Cell(task, agent, steps, next(ours, None))


def ours_text(cell: Cell) -> str:
    """`6,152 ± 657 (4 seeds)`."""
    if cell.ours is None:
        return "missing"
    return f"{mean_std(cell.ours)} ({seeds(cell.ours.seeds)})"


def markdown(lines: Sequence[Sequence[Cell]]) -> str:
    """Three lines a task: ours, the paper's, the verdict."""
    text = [f"| task | | {' | '.join(AGENTS.values())} |", f"|---|---|{'---:|' * len(AGENTS)}"]
    for cells in lines:
        task = f"**{short_name(cells[0].environment)}**, {cells[0].steps:,} steps"
        text.append(f"| {task} | ours | {' | '.join(f'**{ours_text(cell)}**' for cell in cells)} |")
        text.append(f"| | paper | {' | '.join(cell.paper.text for cell in cells)} |")
        text.append(f"| | | {' | '.join(f'*{cell.verdict}*' for cell in cells)} |")
    return "\n".join(text) + "\n"


def missing_markdown(lines: Sequence[Sequence[Cell]]) -> str:
    """What has not been run, with the command that fills it."""
    open_cells = [cell for cells in lines for cell in cells if cell.missing]
    if not open_cells:
        return "Nothing is missing.\n"
    text = ["| task | agent | seeds missing | command |", "|---|---|---|---|"]
    for cell in open_cells:
        there = ", ".join(map(str, cell.missing))
        text.append(f"| {short_name(cell.environment)} | {AGENTS[cell.agent]} | {there} | `{cell.fill}` |")
    return "\n".join(text) + "\n"


def latex(lines: Sequence[Sequence[Cell]]) -> str:
    """The same for a paper, with booktabs; a missing cell is a dash."""
    columns = "ll" + "r" * len(AGENTS)
    text = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule"]
    text += [rf"Task & & {' & '.join(AGENTS.values())} \\", r"\midrule"]
    for cells in lines:
        ours = " & ".join("--" if cell.ours is None else _tex(ours_text(cell)) for cell in cells)
        text.append(rf"{short_name(cells[0].environment)} & ours & {ours} \\")
        text.append(rf" & paper & {' & '.join(_tex(cell.paper.text) for cell in cells)} \\")
    return "\n".join([*text, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _tex(text: str) -> str:
    return text.replace("−", "$-$").replace("±", r"$\pm$")
