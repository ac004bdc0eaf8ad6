"""A study of the paper: a folder with what it runs (cells.py) beside what it says of it (report.py)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optac.report.latex import latex_tables
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row

if TYPE_CHECKING:
    from optac.sweeps.cells import Cell


@dataclass(frozen=True)
class Study:
    """A study of many small runs, each of which gives one row. Its folder is the package `module`."""

    title: str
    summary: str
    module: str

    @property
    def name(self) -> str:
        """Its folder's, with dashes."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def results(self) -> Path:
        """Where its rows lie."""
        return Path("results") / self.name

    def cells(self) -> "list[Cell]":
        """The cells it runs, those that matter most first."""
        return list(import_module(f"{self.module}.cells").cells())

    def missing(self, out: Path | None = None) -> list[str]:
        """The ids of the cells that have no row yet."""
        path = out or self.results
        there = {row["cell"] for row in RunFolder.open(path).rows()} if path.exists() else set()
        return [cell.id for cell in self.cells() if cell.id not in there]

    def reproduce(
        self,
        path: Path,
        *,
        jobs: int = 1,
        minutes: int | float | None = None,
        progress: Callable[[int, str], None] | None = None,
    ) -> list[Row]:
        """Run what is missing, for at most so many minutes: the rows there are then."""
        from optac.sweeps.cells import run_study

        config = {"kind": "reproduce", "study": self.name, "command": f"optac reproduce {self.name}"}
        return run_study(path, config, self.cells(), jobs=jobs, minutes=minutes, progress=progress)

    def write_report(self, rows: Sequence[Row], total: int, path: Path) -> Path:
        """report.md: what is missing with the command that fills it, then the study's own sections.

        Beside it tables.tex, the same tables in LaTeX.
        """
        state = f"All {total} runs are in."
        if len(rows) < total:
            state = (
                f"**{len(rows)} of {total} runs are in; the rest is missing.** `optac reproduce {self.name}` resumes "
                "where it stopped."
            )
        head = (
            f"# {self.title}\n\n{state} Written by `optac reproduce {self.name}`; rows, each with the commit that made "
            "it, in `metrics.jsonl`, versions in `config.json`.\n"
        )
        sections = import_module(f"{self.module}.report").sections(rows, path)
        report = path / "report.md"
        report.write_text("\n".join([head, *sections]), encoding="utf-8")
        (path / "tables.tex").write_text(latex_tables("\n".join(sections)), encoding="utf-8")
        return report


def drawn(draw: Callable[[Any, Path], None], rows: Any, file: Path, words: str) -> list[str]:
    """The line of a report that shows the figure of these rows, which is drawn then; none where there are no rows."""
    if not rows:
        return []
    draw(rows, file)
    return [f"![{words}]({file.name})\n"]


@dataclass(frozen=True)
class TrainingStudy:
    """A study made of training runs: a sweep whose finished runs are published, and a page about them.

    Studies that name the same module are about the same runs.
    """

    name: str
    summary: str
    module: str

    @property
    def folder(self) -> str:
        """Runs are at work in runs/FOLDER; the records of the finished ones are in results/FOLDER."""
        return self.module.rpartition(".")[2].replace("_", "-")

    def sweep(self, **less: Any) -> Any:
        """The runs, or fewer: these environments, so many seeds or steps."""
        return import_module(f"{self.module}.cells").sweep(**less)

    def report(self) -> Any:
        """The module that writes the page and shows the table."""
        return import_module(f"{self.module}.report")
