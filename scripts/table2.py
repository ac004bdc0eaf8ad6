"""Write the tables of docs/results/table2.md and README.md from the runs under results/table2: `make table2`."""

import sys
from pathlib import Path

from optac.studies.table2.cells import SEEDS
from optac.studies.table2.report import markdown, missing_markdown, read_cells
from optac.studies.table2.stability import stability_markdown
from scripts.marked import write_parts


def write_documents(results: Path, root: Path) -> list[Path]:
    """How many runs are in, the table, the falls, and on the page of the documentation what is missing."""
    lines = read_cells(results)
    cells = [cell for line in lines for cell in line]
    done = sum(len(SEEDS) - len(cell.missing) for cell in cells)
    standing = f"{done} of {len(SEEDS) * len(cells)} runs are in; a cell without one is missing, not zero."
    table, missing = markdown(lines), missing_markdown(lines)
    falls = stability_markdown([cell.group for cell in cells if cell.group])
    parts = {"standing": standing, "table": table, "stability": falls, "missing": missing}
    return [
        write_parts(root / "docs/results/table2.md", parts),
        write_parts(root / "README.md", {"table2": f"{standing}\n\n{table}", "stability": falls}),
    ]


if __name__ == "__main__":
    print(*write_documents(Path(sys.argv[1]), Path(__file__).parents[1]), sep="\n")
