"""One colour for one configuration, by its name alone: whatever else is on the page, it looks the same.

Names that are known beforehand, an agent's or an algorithm's own, have the first colours in their order; any other has
the colour that its name's hash says. Names of one colour on one page are told apart by their dashes.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from optac.registry import ours
from optac.report.reference import Reference

COLOURS: Final = 9
DASHES: Final = 4


class Look(NamedTuple):
    """The colour of a line, and which dash it has among those of this colour: 0 for the colour's own."""

    colour: int
    dash: int

    @property
    def style(self) -> str:
        """The classes of the page's style."""
        return f"s{self.colour} x{self.dash}"


def looks(names: Iterable[str], reference: Reference) -> dict[str, Look]:
    """The look of each name."""
    known = (list(reference.names.values()), list(ours("algorithm")))
    taken: Counter[int] = Counter()
    found = {}
    for name in dict.fromkeys(names):
        colour = _colour(name, known)
        found[name] = Look(colour, taken[colour] % DASHES)
        taken[colour] += 1
    return found


def _colour(name: str, known: Sequence[Sequence[str]]) -> int:
    for names in known:
        if name in names:
            return names.index(name) % COLOURS
    return hashlib.sha256(name.encode()).digest()[0] % COLOURS
