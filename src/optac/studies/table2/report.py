"""The paper's Table 2 with our figures beside it: which is better, whether the seeds can tell, what is missing.

`python -m optac.studies.table2.report results/table2` writes docs/results/table2.md and the table in README.md,
from the runs under results/table2 as they are.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optac.errors import InvalidInput
from optac.report.evidence import gather
from optac.report.groups import Group, group_runs, short_name
from optac.report.numbers import ends, mean_std, number, seeds
from optac.report.statistics import SEEDS_NEEDED, Difference, Summary, difference
from optac.studies.table2.cells import SEEDS, STEPS
from optac.studies.table2.paper import AGENTS, PAPER, TASKS, Printed


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
        return f"{better}, {self.untold}"

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
        text.append(f"| | | {' | '.join(f'*{cell.verdict}*' if cell.ours else '' for cell in cells)} |")
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


BEGIN, END = "<!-- table2: written by `make table2` -->", "<!-- /table2 -->"
DOCS, README = Path("docs/results/table2.md"), Path("README.md")


def write_documents(results: Path, root: Path) -> list[Path]:
    """docs/results/table2.md, and the table between its two marks in README.md."""
    has_runs = any(results.glob("*/config.json"))
    lines = paper_cells(group_runs(gather([results]).training) if has_runs else [], steps=STEPS)
    readme = (root / README).read_text(encoding="utf-8")
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InvalidInput(f"{root / README} has no place for the table; it goes between {BEGIN} and {END}")
    (root / README).write_text(
        f"{before}{BEGIN}\n\n{_standing(lines)}\n\n{markdown(lines)}\n{END}{after}", encoding="utf-8"
    )
    (root / DOCS).write_text(_document(lines), encoding="utf-8")
    return [root / DOCS, root / README]


def _standing(lines: Sequence[Sequence[Cell]]) -> str:
    cells = [cell for line in lines for cell in line]
    done = sum(SEEDS - len(cell.missing) for cell in cells)
    return f"{done} of {SEEDS * len(cells)} runs are in; a cell without one is missing, not zero."


def _document(lines: Sequence[Sequence[Cell]]) -> str:
    return f"""# Table 2 of the paper, beside ours

{_standing(lines)} Written by `make table2` from the rows under `results/table2`, each run with its settings, versions
and commit in its config.json.

Ours: the last evaluation (ten episodes of the deterministic policy, no bonus), mean ± standard deviation over
the seeds in brackets, preset `default`. The paper’s: as printed, 4 seeds; it states neither its number of steps nor
the length of an episode. “Can tell” means that Welch’s 95 % interval of the difference of the two means, given
behind it, leaves zero out; fewer than {SEEDS_NEEDED} seeds tell nothing, and the inverted pendulum’s spread is
printed as 0.0, which is none to test against. [The statistics](../report.md#the-statistics-and-why-these).

{markdown(lines)}
## Missing

`optac reproduce table2` runs what is missing, the most telling first, and goes on where it stopped; with
`--minutes M` it starts nothing that cannot end in time. `optac report results/table2 --out table2.html` makes the
page with the curves.

{missing_markdown(lines)}"""


if __name__ == "__main__":
    print(*write_documents(Path(sys.argv[1]), Path.cwd()), sep="\n")
