"""The result that `solve` returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from optac.algorithms.loop.learnt import Learnt
from optac.errors import InvalidInput
from optac.mdp import MixturePolicy, TabularPolicy
from optac.models import LowRankModel
from optac.oracles import Bill


@dataclass(frozen=True)
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
    model: LowRankModel | None = field(repr=False, default=None)
    history: list[dict[str, Any]] = field(repr=False, default_factory=list)
    learnt: Learnt | None = field(repr=False, default=None)
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
