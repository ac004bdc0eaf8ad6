"""Write docs/results/table2.md and the table in README.md from the runs under results/table2: `make table2`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from optac.errors import InvalidInput
from optac.report.statistics import SEEDS_NEEDED
from optac.studies.table2.cells import SEEDS
from optac.studies.table2.comparison import Cell
from optac.studies.table2.report import markdown, missing_markdown, read_cells

BEGIN, END = "<!-- table2: written by `make table2` -->", "<!-- /table2 -->"


def write_documents(results: Path, root: Path) -> list[Path]:
    """The page of the documentation, and the table between its two marks in README.md."""
    lines = read_cells(results)
    readme, page = root / "README.md", root / "docs/results/table2.md"
    before, begin, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InvalidInput(f"{readme} has no place for the table; it goes between {BEGIN} and {END}")
    table = f"{BEGIN}\n\n{_standing(lines)}\n\n{markdown(lines)}\n{END}"
    readme.write_text(before + table + after, encoding="utf-8")
    page.write_text(_document(lines), encoding="utf-8")
    return [page, readme]


def _standing(lines: Sequence[Sequence[Cell]]) -> str:
    cells = [cell for line in lines for cell in line]
    done = sum(SEEDS - len(cell.missing) for cell in cells)
    return f"{done} of {SEEDS * len(cells)} runs are in; a cell without one is missing, not zero."


def _document(lines: Sequence[Sequence[Cell]]) -> str:
    return f"""# Table 2 of the paper, beside ours

{_standing(lines)} Written by `make table2` from the rows under `results/table2`, each run with its settings, versions
and commit in its config.json.

Ours: the last evaluation (ten episodes of the deterministic policy, no bonus), mean ± standard deviation over
the seeds in brackets, preset `default`; under it the mean of each run's last three evaluations. The paper’s: as
printed, 4 seeds; it states neither its number of steps nor the length of an episode. “Can tell” means that Welch’s
95 % interval of the difference of the two means, given behind it, leaves zero out; fewer than {SEEDS_NEEDED} seeds tell
nothing, and the inverted pendulum’s spread is printed as 0.0, which is none to test against.
[The statistics](../report.md#the-statistics-and-why-these).

{markdown(lines)}
## Missing

`optac reproduce table2` runs what is missing, the most telling first, and resumes where it stopped; with
`--minutes M` it starts nothing that cannot end in time. `optac report results/table2 --out table2.html` makes the
page with the curves.

{missing_markdown(lines)}"""


if __name__ == "__main__":
    print(*write_documents(Path(sys.argv[1]), Path(__file__).parents[1]), sep="\n")
