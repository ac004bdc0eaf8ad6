"""Write tables and curves of docs/results/table2.md and README.md from the runs in results/table2: `make table2`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from optac.report.files import panel_figure
from optac.report.groups import Group, short_name
from optac.report.panels import curve_panels
from optac.studies.table2.aims import aims_markdown
from optac.studies.table2.cells import FIRST, SEEDS
from optac.studies.table2.report import (
    REFERENCE,
    against_sac_markdown,
    commands_markdown,
    markdown,
    missing_markdown,
    read_cells,
)
from optac.studies.table2.stability import stability_markdown
from scripts.marked import write_parts


def write_documents(results: Path, root: Path) -> list[Path]:
    """How many runs are in, the table, the falls, the curves; on the documentation's page the aims and commands too."""
    lines = read_cells(results)
    cells = [cell for line in lines for cell in line]
    groups = [cell.group for cell in cells if cell.group]
    done = sum(len(SEEDS) - len(cell.missing) for cell in cells)
    standing = f"{done} of {len(SEEDS) * len(cells)} runs are in; a cell without one is missing, not zero."
    table, against = markdown(lines), against_sac_markdown(lines)
    figures = draw_curves(groups, results)
    parts = {
        "standing": standing,
        "table": table,
        "against": against,
        "curves": _pictures(figures, "../../results/table2") or "No task has a run yet.",
        "stability": stability_markdown(groups),
        "missing": missing_markdown(lines),
        "aims": aims_markdown(lines),
        "commands": commands_markdown(lines),
    }
    told = {task: figures[task] for task in FIRST if task in figures}
    beside = "Our agents beside our own SAC, with Welch’s 95 % interval where there are three seeds:"
    short = f"{standing}\n\n{table}\n{beside}\n\n{against}\n{_pictures(told, 'results/table2')}"
    return [
        *figures.values(),
        write_parts(root / "docs/results/table2.md", parts),
        write_parts(root / "README.md", {"table2": short, "stability": parts["stability"]}),
    ]


def draw_curves(groups: Sequence[Group], folder: Path) -> dict[str, Path]:
    """Each task's learning curves, of the seeds that have ended, with intervals where three have."""
    ended = [replace(group, runs=group.complete) for group in groups]
    return {
        panel.name: panel_figure(panel, folder / f"{panel.name.rpartition('/')[2]}.png", REFERENCE)
        for panel in curve_panels(ended)
    }


def _pictures(figures: Mapping[str, Path], folder: str) -> str:
    return "\n\n".join(
        f"![{short_name(task)}: return against steps]({folder}/{figure.name})"
        for task, figure in figures.items()
    )


if __name__ == "__main__":
    print(*write_documents(Path(sys.argv[1]), Path(__file__).parents[1]), sep="\n")
