"""The paper's Table 2 with our figures beside it: which is better, whether the seeds can tell, what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from optac.report.evidence import gather
from optac.report.files import Written, write_report
from optac.report.groups import Group, group_runs, short_name
from optac.report.latex import latex_table
from optac.report.numbers import interval, number, seeds
from optac.report.reference import Reference, Section
from optac.report.statistics import SEEDS_NEEDED, difference
from optac.report.tables import markdown_table
from optac.studies.table2.cells import STEPS
from optac.studies.table2.comparison import TableCell, paper_cells
from optac.studies.table2.page_section import paper_section
from optac.studies.table2.paper import AGENTS, SCALES
from optac.terminal import show_table


def markdown(lines: Sequence[Sequence[TableCell]]) -> str:
    """Up to four lines for each task: ours, the mean of the last three evaluations, the paper's, the verdict."""
    text = []
    for cells in lines:
        task = f"**{short_name(cells[0].environment)}**, {cells[0].steps:,} steps"
        text.append([task, "ours", *(f"**{cell.text}**" for cell in cells)])
        if any(cell.ours for cell in cells):
            text.append(["", "ours, last three", *(cell.recent_text for cell in cells)])
        text.append(["", "paper", *(cell.paper.text for cell in cells)])
        if any(cell.ours for cell in cells):
            text.append(["", "", *(f"*{cell.verdict}*" if cell.ours else "" for cell in cells)])
    return markdown_table(["task", "", *AGENTS.values()], text, left=2)


def against_sac_markdown(lines: Sequence[Sequence[TableCell]]) -> str:
    """Ours beside our own SAC: the difference of the means with Welch's interval, and on how many seeds it is ahead."""
    text = [
        [*_who(cell), *against(cell.group, sac.group)]
        for sac, *others in lines
        for cell in others
        if sac.group and cell.group
    ]
    if not text:
        return "No task has runs of both yet.\n"
    return markdown_table(["task", "agent", "last evaluation minus SAC’s", "seeds ahead"], text, left=2)


def against(ours: Group, theirs: Group) -> tuple[str, str]:
    """The difference, whether the seeds can tell it from none, and on how many of those that both have it is ahead.

    A run of each must have ended. Where there is no interval, the difference is of the seeds that both have.
    """
    assert ours.summary is not None and theirs.summary is not None
    gap = difference(ours.summary, theirs.summary)
    both = [(score, theirs.scores[seed]) for seed, score in ours.scores.items() if seed in theirs.scores]
    pairs = mean(one - other for one, other in both) if both else gap.mean
    told = f"{interval(gap.interval)}, {gap.verdict}" if gap.interval else _untold(pairs, ours, theirs)
    return told, f"{sum(one > other for one, other in both)} of {len(both)}"


def _untold(gap: float, ours: Group, theirs: Group) -> str:
    """The difference where there is no interval, with the reason."""
    fewest = min(len(ours.scores), len(theirs.scores))
    few = fewest < SEEDS_NEEDED
    return f"{number(gap)}, {f'{seeds(fewest)}: too few to tell' if few else 'no spread to tell by'}"


def missing_markdown(lines: Sequence[Sequence[TableCell]]) -> str:
    """A table of what has not been run, with the command that fills it."""
    open_cells = [cell for cells in lines for cell in cells if cell.missing]
    if not open_cells:
        return "Nothing is missing.\n"
    text = [[*_who(cell), ", ".join(map(str, cell.missing)), f"`{cell.fill}`"] for cell in open_cells]
    return markdown_table(["task", "agent", "seeds missing", "command"], text, left=4)


def commands_markdown(lines: Sequence[Sequence[TableCell]]) -> str:
    """A table of the commands that make one run of each cell again, S standing for the seed."""
    told = []
    for cell in (cell for cells in lines for cell in cells):
        command = f"optac train {cell.environment} --agent {cell.agent} --steps {cell.steps} --seed S"
        told.append([*_who(cell), f"`{command}`"])
    return markdown_table(["task", "agent", "one run"], told, left=3)


def _who(cell: TableCell) -> tuple[str, str]:
    return short_name(cell.environment), AGENTS[cell.agent]


def latex(lines: Sequence[Sequence[TableCell]]) -> str:
    """The same for a paper, without the verdicts; a missing cell is a dash."""
    rows = []
    for cells in lines:
        task = short_name(cells[0].environment)
        rows.append([task, "ours", *("—" if cell.ours is None else cell.text for cell in cells)])
        rows.append(["", "ours, last three", *(cell.recent_text for cell in cells)])
        rows.append(["", "paper", *(cell.paper.text for cell in cells)])
    return latex_table(["Task", "", *AGENTS.values()], rows, left=2)


def table2_sections(groups: Sequence[Group], steps: Mapping[str, int] | None = None) -> list[Section]:
    """The page's section and its files; none while no task of the table was run."""
    lines = paper_cells(groups, steps=steps)
    if not lines:
        return []
    files = {"table2.md": f"{markdown(lines)}\n{missing_markdown(lines)}", "table2.tex": latex(lines)}
    title = "The paper’s Table 2, beside ours"
    return [Section("paper", title, lambda commands: paper_section(lines, commands), files)]


REFERENCE = Reference(AGENTS, SCALES, "random play is 0, the paper’s SAC is 1", table2_sections)
"""The paper's agents and tasks, as a report is told of them."""


def write_page(results: Path, steps: int | None = None) -> Written | None:
    """report.html and report/ among the published runs; None while there are none. `steps`: fewer than the plan's."""
    if not any(results.glob("*/config.json")):
        return None
    told = replace(REFERENCE, sections=lambda groups: table2_sections(groups, _planned(steps)))
    return write_report([results], results / "report.html", title="Table 2", reference=told)


def read_cells(results: Path, steps: int | None = None) -> list[list[TableCell]]:
    """The table's cells, from the published runs there are."""
    training = gather([results]).training if any(results.glob("*/config.json")) else ()
    return paper_cells(group_runs(training, REFERENCE), steps=_planned(steps))


def show(results: Path, steps: int | None = None) -> None:
    """The table on the terminal: ours, the paper's, the verdict, the command for what is missing."""
    cells = [cell for line in read_cells(results, steps) for cell in line]
    lines = []
    for cell in cells:
        verdict = cell.verdict if cell.ours else f"seeds {', '.join(map(str, cell.missing))}"
        lines.append([*_who(cell), cell.text, cell.recent_text, cell.paper.text, verdict])
    columns = ["task", "agent", "ours", "last three", "paper", "verdict"]
    show_table("Table 2: ours beside the paper's", columns, lines)
    fills = dict.fromkeys(cell.fill for cell in cells if cell.missing)
    if fills:
        print("\nwhat is missing is run by")
        print("\n".join(f"  {command}" for command in fills))


def _planned(steps: int | None) -> dict[str, int]:
    return dict(STEPS) if steps is None else dict.fromkeys(STEPS, steps)
