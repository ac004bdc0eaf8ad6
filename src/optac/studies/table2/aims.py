"""What our runs of Table 2 were to reach, beside what they did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from optac.report.groups import short_name
from optac.report.numbers import MINUS
from optac.report.tables import markdown_table
from optac.studies.table2.comparison import TableCell
from optac.studies.table2.paper import AGENTS


@dataclass(frozen=True)
class Aim:
    """A last evaluation to reach: by the mean of the seeds, or by every one of them."""

    value: float
    every_seed: bool = False
    is_reached_at: bool = True
    """whether exactly this much is enough"""

    @property
    def text(self) -> str:
        """`> 9,000`, or `≥ −0.1 with every seed`."""
        sign = "≥" if self.is_reached_at else ">"
        value = f"{self.value:,g}".replace("-", MINUS)
        return f"{sign} {value}{' with every seed' if self.every_seed else ''}"

    def is_reached(self, scores: Sequence[float]) -> bool:
        """Whether these seeds do."""
        found = min(scores) if self.every_seed else sum(scores) / len(scores)
        return found >= self.value if self.is_reached_at else found > self.value


AIMS: Final[Mapping[str, Aim]] = {
    "optac/HalfCheetah-v0": Aim(9_000.0, is_reached_at=False),
    "optac/Hopper-v0": Aim(2_500.0, is_reached_at=False),
    "optac/Ant-v0": Aim(3_500.0, is_reached_at=False),
    "optac/Reacher-v0": Aim(-3.8, is_reached_at=False),
    "optac/Pendulum-v0": Aim(180.0),
    "optac/InvertedPendulum-v0": Aim(-0.1, every_seed=True),
}


def aims_markdown(lines: Sequence[Sequence[TableCell]]) -> str:
    """One line for each task: the aim, and for each agent whether the seeds that are in reach it."""
    text = []
    for cells in sorted(lines, key=lambda cells: list(AIMS).index(cells[0].environment)):
        aim = AIMS[cells[0].environment]
        text.append([short_name(cells[0].environment), aim.text, *(_told(aim, cell) for cell in cells)])
    return markdown_table(["task", "aim", *AGENTS.values()], text, left=2)


def _told(aim: Aim, cell: TableCell) -> str:
    """`reached`, or by how many of the seeds where that is what is asked for."""
    scores = list(cell.group.scores.values()) if cell.group else []
    if not scores:
        return "missing"
    count = f", {len(scores)} of {len(scores) + len(cell.missing)} seeds in" if cell.missing else ""
    return ("reached" if aim.is_reached(scores) else "not reached") + count
