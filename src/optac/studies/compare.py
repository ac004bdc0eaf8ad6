"""A comparison as Python and the command have it: its rows, and the table and the figure made of them."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput
from optac.figures import Picture
from optac.mdp.exact_problem import ExactProblem
from optac.notebook import card
from optac.plain_files import rename, write_plain
from optac.report.comparison import (
    LADDER_NOTE,
    NOTES,
    ComparisonTables,
    comparison_picture,
    comparison_tables,
)
from optac.report.latex import latex_tables
from optac.report.numbers import seeds as seeds_of
from optac.report.tables import markdown_table
from optac.runs.folder import PROBLEM_FILE
from optac.runs.json_files import Row
from optac.sweeps.cells import run_study
from optac.sweeps.comparing import Comparison, prepared_comparison
from optac.terminal import progress

__all__ = ["ComparisonResult", "compare"]

LADDER_TITLE = "Explore, then commit: one row per rung"


@dataclass(frozen=True, repr=False)
class ComparisonResult:
    """Several algorithms and seeds on one problem: `rows` has one for each, `latex()` and `plot()` are for a paper."""

    comparison: Comparison
    title: str
    rows: list[Row]

    @cached_property
    def tables(self) -> ComparisonTables:
        """The table as text: columns, lines, and the lines of the ladders."""
        return comparison_tables(self.rows, self.comparison.epsilon, self.comparison.episodes)

    @property
    def notes(self) -> list[str]:
        """How to read the table, and who was left out."""
        left_out = self.comparison.left_out.items()
        ladder = [LADDER_NOTE] if self.tables.ladders else []
        return [*NOTES, *ladder, *(f"{name} is left out: {why}" for name, why in left_out)]

    def markdown(self) -> str:
        """The table in Markdown, with its notes."""
        tables = self.tables
        text = f"# {self.title}\n\n{markdown_table(tables.columns, tables.lines)}\n"
        text += "\n".join(f"- {note}" for note in self.notes) + "\n"
        if tables.ladders:
            text += f"\n## {LADDER_TITLE}\n\n{markdown_table(tables.ladder_columns, tables.ladders)}"
        return text

    def latex(self) -> str:
        """The same tables in LaTeX, for the package booktabs."""
        return latex_tables(self.markdown())

    def plot(self) -> Picture:
        """The gap against episodes, SL calls and seconds, as a matplotlib figure."""
        return comparison_picture(self.rows, title=self.title, epsilon=self.comparison.epsilon)

    def write(self, folder: str | Path) -> list[Path]:
        """table.md, table.tex, gaps.png and gaps.svg in a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / name for name in ("table.md", "table.tex", "gaps.png", "gaps.svg")]
        files[0].write_text(self.markdown(), encoding="utf-8")
        files[1].write_text(self.latex(), encoding="utf-8")
        self.plot().write(files[2])
        return files

    def __repr__(self) -> str:
        lines = "".join(f"\n  {name}: {said}" for name, said in self._facts().items())
        return f"<{self.title}, {seeds_of(self.comparison.seeds)}: {self.tables.columns[1]}{lines}>"

    def _repr_html_(self) -> str:
        return card(f"{self.title}: {self.tables.columns[1]}", self._facts(), self.plot())

    def _facts(self) -> dict[str, str]:
        """Algorithm → what it took, and where its last policy ended."""
        found = {}
        for line in self.tables.lines:
            known = dict(zip(self.tables.columns, line, strict=True))
            found[line[0]] = f"{line[1]} episodes, SL {known['SL']}, last gap {known['last gap']}"
        return found


def compare(
    problem: Any,
    algorithms: Sequence[str] | None = None,
    *,
    seeds: int = 5,
    episodes: int | None = None,
    epsilon: float = 0.1,
    preset: str = "practical",
    settings: Mapping[str, Any] | None = None,
    jobs: int = 1,
    out: str | Path | None = None,
) -> ComparisonResult:
    """Run several algorithms on one problem, each with seeds 0 … seeds − 1, to within `epsilon` of the optimum.

    `problem` is a problem, a name or an .npz file; without `algorithms` all run that accept it. `episodes` is what one
    run may play. A setting named `algorithm.name` is for that algorithm alone. With `jobs` processes at a time, which
    in a script needs `if __name__ == "__main__":`. With `out`, a folder, the rows are kept there and the same call
    resumes; a problem given as an object is saved there too, as problem.npz. Without, nothing is left on disk.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = (Path(temporary) / "compare" if out is None else Path(out)).resolve()
        name, title = str(problem), None
        if isinstance(problem, ExactProblem):
            name, title = str(folder / PROBLEM_FILE), repr(problem)[1:-1]
            folder.mkdir(parents=True, exist_ok=True)
            _save_in(folder, problem, Path(temporary).resolve() / PROBLEM_FILE)
        chosen = prepared_comparison(
            name,
            algorithms=algorithms,
            seeds=seeds,
            episodes=episodes,
            epsilon=epsilon,
            preset=preset,
            settings=settings,
        )
        with progress("compare", len(chosen.solves) * chosen.seeds, quiet=False, lines=False) as advance:
            return compared(chosen, folder, jobs=jobs, on_cell=advance, title=title)[0]


def _save_in(folder: Path, problem: ExactProblem, aside: Path) -> None:
    """Write the problem into a folder, or leave it where it is there already; another problem there is refused."""
    file = folder / PROBLEM_FILE
    problem.save(aside)
    if not file.exists():
        part = file.with_suffix(".tmp")  # a kill leaves no half of it under its name
        write_plain(part, aside.read_bytes())
        rename(part, file)
    elif file.read_bytes() != aside.read_bytes():
        raise InvalidInput(f"{file} holds another problem; give the comparison another out=")


def compared(
    comparison: Comparison,
    out: Path | None,
    *,
    jobs: int,
    on_cell: Callable[[int, str], None] | None = None,
    title: str | None = None,
) -> tuple[ComparisonResult, Path]:
    """Run what is missing of a comparison: the result, and the folder of its rows."""
    path = out or Path("runs") / comparison.id
    rows = run_study(path, comparison.config, comparison.cells(), jobs=jobs, progress=on_cell)
    return ComparisonResult(comparison, title or repr(comparison.problem)[1:-1], rows), path
