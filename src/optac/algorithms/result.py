"""What `solve` returns."""

from dataclasses import dataclass, field
from typing import Any

from optac.mdp import MixturePolicy, TabularPolicy
from optac.models import LowRankModel
from optac.oracles import Bill


@dataclass(frozen=True)
class Result:
    """A learnt policy with its exact gap in the true problem, and what it cost.

    `gap` and `value` are of the mixture of the policies played, `last_gap` of the last policy:
    theorists want the first, practitioners deploy the second.
    """

    problem: str
    algorithm: str
    seed: int
    settings: Any
    value: float
    optimal_value: float
    last_value: float
    policy: MixturePolicy
    last_policy: TabularPolicy
    episodes: int
    iterations: int
    bill: Bill
    seconds: float
    coverage: float | None
    """C of ρ: the least with d*_h(s)·u(a) ≤ C ρ(s,a) in the true and in the last fitted model"""
    certificate: float | None
    """a bound on the gap computed without the truth; None when it says nothing"""
    certificate_bill: Bill
    """the certificate's own oracle calls, which are not in `bill`"""
    model: LowRankModel | None = field(repr=False, default=None)
    history: list[dict[str, Any]] = field(repr=False, default_factory=list)

    @property
    def gap(self) -> float:
        """V* minus the value of the mixture."""
        return self.optimal_value - self.value

    @property
    def last_gap(self) -> float:
        """V* minus the value of the last policy."""
        return self.optimal_value - self.last_value

    def summary(self) -> dict[str, Any]:
        """The result as plain values, the keys of `optac solve --json`."""
        return {
            "problem": self.problem,
            "algorithm": self.algorithm,
            "seed": self.seed,
            "iterations": self.iterations,
            "episodes": self.episodes,
            "optimal_value": self.optimal_value,
            "value": self.value,
            "gap": self.gap,
            "last_gap": self.last_gap,
            "certificate": self.certificate,
            "certificate_bill": self.certificate_bill.asdict(),
            "coverage": self.coverage,
            "bill": self.bill.asdict(),
            "seconds": self.seconds,
        }
