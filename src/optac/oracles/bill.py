"""The bill of the oracles: how many calls of each were paid for, and the tightest accuracy asked.

PE, PP and CP count calls of those oracles. SL counts every supervised-learning call, those inside the
others included, at the paper's prices: a model fit 1, PE 1, PP H, CP one per candidate filtered plus H a
candidate that passes.
"""

from dataclasses import dataclass
from math import inf
from typing import Any


@dataclass(frozen=True)
class Bill:
    """Calls of SL, PE, PP and CP; `accuracy` is the paper's ε_min of the SL calls, infinite when nothing was asked."""

    SL: int = 0
    PE: int = 0
    PP: int = 0
    CP: int = 0
    accuracy: float = inf

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(
            self.SL + other.SL,
            self.PE + other.PE,
            self.PP + other.PP,
            self.CP + other.CP,
            min(self.accuracy, other.accuracy),
        )

    def asdict(self) -> dict[str, Any]:
        """The bill as plain values; an infinite accuracy becomes None, which JSON can say."""
        accuracy = None if self.accuracy == inf else self.accuracy
        return {"SL": self.SL, "PE": self.PE, "PP": self.PP, "CP": self.CP, "accuracy": accuracy}
