"""The facts that a report is given by its caller, since it knows no agent, no task and no study itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optac.report.commands_section import Commands
from optac.report.markup import Markup

if TYPE_CHECKING:
    from optac.report.groups import Group


@dataclass(frozen=True)
class Section:
    """A part of the page: its key and title, what it shows, and the files it adds beside the page."""

    key: str
    title: str
    body: Callable[[Commands], Markup]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Reference:
    """Names and reference scores, and the sections that a study adds to the page."""

    names: Mapping[str, str] = field(default_factory=dict)
    """agent → the name it is shown by; they come in this order, and others after them by their own names"""
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """task → the returns that count as 0 and as 1, in the order of the tasks"""
    scale: str = ""
    """what those two are, in words"""
    sections: "Callable[[Sequence[Group]], Sequence[Section]]" = lambda groups: ()

    def name(self, agent: str) -> str:
        """The name an agent is shown by."""
        return self.names.get(agent, agent)

    def place(self, agent: str) -> tuple[int, str]:
        """Where an agent stands in a table: those with a name first."""
        names = list(self.names)
        return (names.index(agent) if agent in names else len(names)), agent

    def normalised(self, task: str, score: float) -> float:
        """A return on the task's own scale."""
        low, high = self.scales[task]
        return (score - low) / (high - low)


UNTOLD = Reference()
"""The reference of a caller that has nothing to tell."""
