"""The result that `solve` returns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optac.algorithms.loop.learnt import Learnt
from optac.errors import InvalidInput
from optac.mdp import MixturePolicy, TabularPolicy
from optac.models import LowRankModel
from optac.notebook import card
from optac.oracles import Bill

if TYPE_CHECKING:
    from optac.figures import Picture


@dataclass(frozen=True, repr=False)
class Result:
    """A learnt policy with its exact gap in the true problem, and what it cost.

    `gap` and `value` are of the mixture of the policies played, `last_gap` of the last policy:
    theorists want the first, practitioners deploy the second. A reward-free algorithm has one policy, the
    one planned for the problem's rewards, and its two gaps are equal.
    """

    problem: str
    algorithm: str
    seed: int
    settings: Any
    value: float
    optimal_value: float
    last_value: float
    policy: MixturePolicy
    last_policy: Any
    """a TabularPolicy, or what stands for one where states are no table"""
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
    model: LowRankModel | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    learnt: Learnt | None = None
    """what a reward-free algorithm learnt; None for the others"""

    @property
    def gap(self) -> float:
        """V* minus the value of the mixture."""
        return self.optimal_value - self.value

    @property
    def last_gap(self) -> float:
        """V* minus the value of the last policy."""
        return self.optimal_value - self.last_value

    @property
    def capped(self) -> dict[str, int]:
        """In how many rounds a cap ended a search that was not done, by the search: planner, rounds, spanner."""
        searches = [name for row in self.history for name, value in row.items() if value is True]
        ended = [name.removesuffix("_capped") for name in searches if name.endswith("_capped")]
        return {name: ended.count(name) for name in sorted(set(ended))}

    def plan(self, rewards: Any) -> TabularPolicy:
        """The policy for another reward (H, S, A) in [0, 1], from what a reward-free algorithm learnt.

        One more PP, which `bill` does not count: that is the run's.
        """
        if self.learnt is None:
            raise InvalidInput(
                f"{self.algorithm} learns for one reward; plan(rewards) is there for reward-free ones, such as raffle"
            )
        array = np.asarray(rewards, dtype=float)
        shape = self.last_policy.probabilities.shape
        if array.shape != shape:
            raise InvalidInput(
                f"rewards must have shape {shape} (horizon, states, actions); got {array.shape}"
            )
        outside = np.argwhere(~((array >= 0) & (array <= 1)))
        if len(outside):
            place = tuple(int(index) for index in outside[0])
            raise InvalidInput(f"rewards must be in [0, 1]; at (h, s, a) = {place} it is {array[place]}")
        return TabularPolicy(self.learnt.policy_for(array)[0])

    def plot(self) -> "Picture":
        """The gap against the episodes played, of the mixture and of the last policy, and the certificate.

        A matplotlib figure: a notebook shows it, `savefig` writes it.
        """
        from optac.figures import COLOURS, picture

        rows = [row for row in self.history if row["gap"] is not None]
        title = f"{self.algorithm} on {self.problem}, seed {self.seed}"
        with picture(size=(6, 3.4), title=title) as (drawn, axis):
            lines = {"gap": "the mixture returned", "last_gap": "the last policy"}
            if all(row["gap"] == row["last_gap"] for row in rows):
                lines = {"gap": "the policy returned"}
            for colour, (name, label) in zip(COLOURS, lines.items(), strict=False):
                style = {"color": colour, "label": label, "marker": "o" if len(rows) < 8 else None}
                axis.plot([row["episodes"] for row in rows], [row[name] for row in rows], **style)
            if self.certificate is not None:
                axis.axhline(
                    self.certificate, color="0.5", linestyle="--", label="certificate of the mixture"
                )
            axis.set(xlabel="episodes played", ylabel="gap  V* − V(policy), exact", ylim=(-0.02, None))
            axis.legend()
        return drawn

    def _repr_html_(self) -> str:
        facts = {
            "gap of the mixture": f"{self.gap:.4f}  (value {self.value:.4f} of {self.optimal_value:.4f})",
            "gap of the last policy": f"{self.last_gap:.4f}",
            "certificate": "—" if self.certificate is None else f"{self.certificate:.4f}",
            "episodes, iterations": f"{self.episodes:,}, {self.iterations:,}",
            "bill": ", ".join(f"{name} {self.bill.asdict()[name]:,}" for name in ("SL", "PE", "PP", "CP")),
            "seconds": f"{self.seconds:.2f}",
        }
        return card(f"{self.algorithm} on {self.problem}, seed {self.seed}", facts, self.plot())

    def __repr__(self) -> str:
        return (
            f"<{self.algorithm} on {self.problem}, seed {self.seed}: gap {self.gap:.4f} (last policy "
            f"{self.last_gap:.4f}) after {self.episodes:,} episodes, {self.bill}>"
        )

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
            "capped": self.capped,
            "seconds": self.seconds,
        }
