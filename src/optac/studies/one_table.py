"""A page about published runs whose own part is one table: on the page, as files beside it, and on the terminal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optac.report.evidence import gather
from optac.report.files import Written, write_report
from optac.report.groups import Group, group_runs
from optac.report.latex import latex_table
from optac.report.markup import table
from optac.report.reference import Reference, Section
from optac.report.tables import markdown_table
from optac.studies.table2.paper import AGENTS
from optac.terminal import show_table


@dataclass(frozen=True)
class OneTable:
    """The table of a study of trainings; `lines` makes it of the groups of runs."""

    name: str
    """of the study, and of the table's files"""
    title: str
    heading: str
    columns: list[str]
    left: int
    """how many columns are words"""
    lines: Callable[[Sequence[Group]], list[list[str]]]
    scales: Mapping[str, tuple[float, float]]
    scale: str

    @property
    def reference(self) -> Reference:
        """The paper's agents, the study's tasks and the table, as a report is told of them."""
        return Reference(AGENTS, self.scales, self.scale, self._sections)

    def write_page(self, results: Path, steps: int | None = None) -> Written | None:
        """report.html and report/ among the published runs; None while there are none."""
        if not any(results.glob("*/config.json")):
            return None
        page = results / "report.html"
        return write_report([results], page, title=self.title, reference=self.reference)

    def show(self, results: Path, steps: int | None = None) -> None:
        """The table on the terminal."""
        show_table(self.heading, self.columns, self.lines(self.groups(results)))

    def markdown(self, results: Path) -> str:
        """The table for a page."""
        found = self.lines(self.groups(results))
        return markdown_table(self.columns, found, left=self.left) if found else "No run is in yet.\n"

    def groups(self, results: Path) -> list[Group]:
        """The published runs that there are."""
        training = gather([results]).training if any(results.glob("*/config.json")) else ()
        return group_runs(training, self.reference)

    def _sections(self, groups: Sequence[Group]) -> list[Section]:
        found = self.lines(groups)
        files = {
            f"{self.name}.md": markdown_table(self.columns, found, left=self.left),
            f"{self.name}.tex": latex_table(self.columns, found, left=self.left),
        }
        return [Section(self.name, self.heading, lambda commands: table(self.columns, found), files)]
