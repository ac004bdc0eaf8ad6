"""The exact accounts kept of a run: every policy valued in the truth, which the algorithm never sees."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optac.algorithms.certificate import Certificate, certify
from optac.algorithms.handle import Handle
from optac.algorithms.result import Learnt, Result
from optac.array_types import Probabilities
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, MixturePolicy, TabularPolicy
from optac.mdp.values import occupancies, optimal_control
from optac.models import LowRankModel
from optac.oracles import Bill

EVALUATION_BATCH = 64
SECONDS_BETWEEN_REPORTS = 0.25

Row = dict[str, Any]


@dataclass(frozen=True)
class Watch:
    """Who looks on: `progress` gets rows as they come, `until` ends the run with the batch in which it says yes."""

    progress: Callable[[Row], None] | None = None
    until: Callable[[Row], bool] | None = None


class Accounts:
    """The history of a run: every policy played, valued exactly, many at a time.

    A reward-free algorithm has no policy to value before its end: the gaps of its earlier rows are None.
    """

    def __init__(
        self,
        problem: LowRankMDP,
        handle: Handle,
        *,
        reward_free: bool,
        keep_members: bool,
        watch: Watch,
    ) -> None:
        self._problem = problem
        self._handle = handle
        self._reward_free = reward_free
        self._keep = keep_members
        self._watch = watch
        self._members: list[Probabilities] = []
        self._pending: list[tuple[Probabilities, Row]] = []
        self._value_sum = 0.0
        self._seconds = 0.0
        self._reported = time.perf_counter()
        self.history: list[Row] = []
        self.stopped = False

    def add(self, k: int, before: Any, after: Any, info: Any, seconds: float) -> None:
        """Iteration k went from state `before` to `after`."""
        self._seconds += seconds
        row = {
            "iteration": k + 1,
            "episodes": self._handle.episodes_played,
            "bill": after.bill.asdict(),
            "seconds": self._seconds,
            **asdict(info),
        }
        late = self._watch.progress and time.perf_counter() - self._reported > SECONDS_BETWEEN_REPORTS
        if self._reward_free:
            self.history.append({**row, "gap": None, "last_gap": None})
            if late:
                self._report()
            return
        self._pending.append((before.policy, row))
        if self._keep:
            self._members.append(before.policy)
        if len(self._pending) == EVALUATION_BATCH or late:
            self._value_pending(after.policy)

    def _value_pending(self, last_policy: Probabilities) -> None:
        """Row k's gap is of the mixture up to π⁽ᵏ⁾, its last_gap of the policy that came of it, π⁽ᵏ⁺¹⁾."""
        if not self._pending:
            return
        policies = [policy for policy, _ in self._pending] + [last_policy]
        values = self._problem.values(policies)
        optimal = self._problem.optimal_value
        for (_, row), value, next_value in zip(self._pending, values, values[1:], strict=False):
            self._value_sum += float(value)
            row["gap"] = optimal - self._value_sum / row["iteration"]
            row["last_gap"] = optimal - float(next_value)
            self.history.append(row)
            self.stopped = self.stopped or (self._watch.until is not None and self._watch.until(row))
        self._pending.clear()
        self._report()

    def _report(self) -> None:
        self._reported = time.perf_counter()
        if self._watch.progress:
            self._watch.progress(self.history[-1])

    def result(self, identity: Row, state: Any) -> Result:
        """Of an algorithm whose policies were played: their mixture and the last."""
        self._value_pending(state.policy)
        self._require_a_round()
        played = len(self.history)
        policy = MixturePolicy(self._members, size=played)
        return self._result(identity, state, policy, self._value_sum / played, self._members, state.bill)

    def planned_result(self, identity: Row, state: Any, learnt: Learnt) -> Result:
        """Of a reward-free algorithm: the policy planned for the problem's rewards, that planning billed."""
        self._require_a_round()
        started = time.perf_counter()
        planned, bill = learnt.policy_for(self._handle.rewards)
        self._seconds += time.perf_counter() - started
        value = self._problem.value(planned)
        bill = state.bill + bill
        gap = self._problem.optimal_value - value
        self.history[-1].update(
            episodes=self._handle.episodes_played,
            bill=bill.asdict(),
            seconds=self._seconds,
            gap=gap,
            last_gap=gap,
        )
        self._report()
        return self._result(identity, state, MixturePolicy([planned]), value, [planned], bill, learnt)

    def _require_a_round(self) -> None:
        if not self.history:
            raise InvalidInput("the cap on episodes leaves no room for a single round; raise `episodes`")

    def _result(
        self,
        identity: Row,
        state: Any,
        policy: MixturePolicy,
        value: float,
        members: list[Probabilities],
        bill: Bill,
        learnt: Learnt | None = None,
    ) -> Result:
        last_policy = members[-1] if learnt else state.policy
        model = getattr(state, "model", None)
        certificate = self._certificate(model, getattr(state, "bonus", None), members)
        return Result(
            problem=self._problem.name,
            **identity,
            value=value,
            optimal_value=self._problem.optimal_value,
            last_value=self._problem.value(last_policy),
            policy=policy,
            last_policy=TabularPolicy(last_policy),
            episodes=self._handle.episodes_played,
            iterations=len(self.history),
            bill=bill,
            seconds=self._seconds,
            coverage=_coverage(self._problem, model, self._handle.rho),
            certificate=certificate.bound,
            certificate_bill=certificate.bill,
            model=model,
            history=self.history,
            learnt=learnt,
        )

    def _certificate(
        self, model: LowRankModel | None, bonus: Any, members: list[Probabilities]
    ) -> Certificate:
        if model is None or bonus is None or not members:
            return Certificate(None, Bill())
        return certify(model, bonus, self._handle.rewards, self._handle.initial, members)


def _coverage(problem: LowRankMDP, model: LowRankModel | None, rho: np.ndarray) -> float | None:
    """max over h, s, a of d*_h(s)/(|A| ρ(s,a)), in the true and in the fitted model; None where ρ misses a state."""
    flows = [problem.occupancy(problem.optimal_policy)]
    if model is not None:
        fitted = optimal_control(model.transitions, problem.rewards)
        flows.append(occupancies(model.transitions, fitted.policy, problem.initial))
    least = rho.min(axis=-1)
    reached = np.maximum.reduce(flows).max(axis=0)
    if (reached[least == 0] > 0).any():
        return None
    visited = least > 0
    return float((reached[visited] / (problem.actions * least[visited])).max())
