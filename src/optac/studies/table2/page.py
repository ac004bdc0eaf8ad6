"""What `optac reproduce table2` and `training-curves` end in: the table so far, and the page with the curves."""

from pathlib import Path

from optac.report.evidence import gather
from optac.report.files import Written, write_report
from optac.report.groups import group_runs, short_name
from optac.report.terminal import show_table
from optac.studies.table2.cells import STEPS
from optac.studies.table2.paper import AGENTS
from optac.studies.table2.report import ours_text, paper_cells


def write_table2_page(results: Path, steps: int | None = None) -> Written | None:
    """report.html and report/ among the published runs; None while there are none. `steps`: fewer than the plan's."""
    if not any(results.glob("*/config.json")):
        return None
    return write_report([results], results / "report.html", title="Table 2", steps=_planned(steps))


def show_table2(results: Path, steps: int | None = None) -> None:
    """The table on the terminal: ours, the paper's, the verdict, the command for what is missing."""
    groups = group_runs(gather([results]).training) if any(results.glob("*/config.json")) else []
    lines: list[list[str]] = []
    fills: dict[str, None] = {}
    for cells in paper_cells(groups, steps=_planned(steps)):
        for cell in cells:
            verdict = cell.verdict if cell.ours else f"seeds {', '.join(map(str, cell.missing))}"
            lines.append(
                [short_name(cell.environment), AGENTS[cell.agent], ours_text(cell), cell.paper.text, verdict]
            )
            if cell.missing:
                fills[cell.fill] = None
    show_table("Table 2: ours beside the paper's", ["task", "agent", "ours", "paper", "verdict"], lines)
    if fills:
        print("\nwhat is missing is run by")
        print("\n".join(f"  {command}" for command in fills))


def _planned(steps: int | None) -> dict[str, int]:
    return dict(STEPS) if steps is None else dict.fromkeys(STEPS, steps)
