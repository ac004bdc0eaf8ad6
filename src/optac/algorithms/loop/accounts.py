"""The exact accounts kept of a run: every policy valued in the truth, which the algorithm never sees."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from optac.algorithms.loop.handle import Handle
from optac.algorithms.loop.learnt import Learnt
from optac.algorithms.loop.result import Result
from optac.algorithms.loop.states import AlgorithmState, PlayingState, RollInState
from optac.algorithms.parts.certificate import Certificate, certify
from optac.errors import InvalidInput
from optac.mdp import MixturePolicy, Problem, RichProblem, SmoothWalk
from optac.mdp.values import occupancies
from optac.models import LowRankModel, TransitionData
from optac.oracles import Bill

EVALUATION_BATCH = 16
LOGGED_ROWS = 1000
UNREACHED = 1e-9

SAVED = ("_members", "_pending", "_value_sum", "_seconds", "_iterations", "_last", "history", "stopped")
"""what changes in the accounts as a run goes on"""

Row = dict[str, Any]


class _Played(NamedTuple):
    """An iteration not yet valued: what it played, what it would deploy where that is not what it plays next."""

    policy: Any
    deployed: Any
    row: Row


@dataclass
class Accounts:
    """The history of a run: every policy played, valued exactly, many at a time; a thousand rows of it, and the last.

    Rows in which a search ended at its cap are among them, however many. A reward-free algorithm has no policy to value
    before its end: the gaps of its earlier rows are None.
    """

    problem: Problem
    handle: Handle
    rounds: int
    reward_free: bool
    keep_members: bool
    progress: Callable[[Row], None] | None
    """gets the rows that are logged"""
    until: Callable[[Row], bool] | None
    """gets every row; they are valued a batch at a time, and the run ends with a batch of whose last row it says yes: a
    yes taken back within the batch ends nothing"""
    history: list[Row] = field(default_factory=list)
    stopped: bool = False
    _members: list[Any] = field(default_factory=list)
    _pending: list[_Played] = field(default_factory=list)
    _value_sum: float = 0.0
    _seconds: float = 0.0
    _iterations: int = 0
    _last: Row | None = None
    """the newest row, where it is not in the history"""

    def add(self, k: int, before: AlgorithmState, after: AlgorithmState, info: Any, seconds: float) -> None:
        """Iteration k went from state `before` to `after`."""
        self._seconds += seconds
        self._iterations = k + 1
        row = {
            "iteration": k + 1,
            "episodes": self.handle.episodes_played,
            "bill": after.bill.asdict(),
            "seconds": self._seconds,
            **asdict(info),
        }
        if self.reward_free:
            # The last row learns its gap when all is over, so each is kept when the next one comes.
            if self._last is not None:
                self._keep(self._last)
            self._last = {**row, "gap": None, "last_gap": None}
            return
        assert isinstance(before, PlayingState) and isinstance(after, PlayingState)
        self._pending.append(_Played(before.policy, after.deployed, row))
        if self.keep_members:
            self._members.append(before.policy)
        if len(self._pending) == EVALUATION_BATCH:
            self._value_pending(after.policy)

    def saved(self) -> Row:
        """All that was accounted for so far."""
        return {name: getattr(self, name) for name in SAVED}

    def restore(self, saved: Row) -> None:
        """Go on from there."""
        for name in SAVED:
            setattr(self, name, saved[name])

    def _value_pending(self, next_policy: Any) -> None:
        """Row k's gap is of the mixture up to π⁽ᵏ⁾, its last_gap of the policy one would deploy after it.

        That is π⁽ᵏ⁺¹⁾, unless the algorithm explores with another policy than it would deploy.
        """
        if not self._pending:
            return
        values = self.problem.values([*(played.policy for played in self._pending), next_policy])
        deployed = [played.deployed for played in self._pending if played.deployed is not None]
        last_values = self.problem.values(deployed) if deployed else values[1:]
        optimal = self.problem.optimal_value
        for i, (played, last_value) in enumerate(zip(self._pending, last_values, strict=True)):
            row = played.row
            self._value_sum += float(values[i])
            row["gap"] = optimal - self._value_sum / row["iteration"]
            row["last_gap"] = optimal - float(last_value)
            self._keep(row)
            if self.until is not None:
                self.stopped = self.until(row)
        self._pending.clear()

    def _keep(self, row: Row, *, last: bool = False) -> None:
        """Have a row in the history and reported, where it is one of a thousand, the last, or of a search cut off."""
        log_every = -(-self.rounds // LOGGED_ROWS)
        capped = any(value is True for name, value in row.items() if name.endswith("_capped"))
        if not (last or capped or row["iteration"] % log_every == 0):
            self._last = row
            return
        self._last = None
        self.history.append(row)
        if self.progress:
            self.progress(row)

    def result(self, identity: Row, state: PlayingState) -> Result:
        """Of an algorithm whose policies were played: their mixture and the last."""
        self._require_a_round()
        self._value_pending(state.policy)
        if self._last is not None:
            self._keep(self._last, last=True)
        policy = MixturePolicy(self._members, size=self._iterations, policy=self.problem.policy)
        value = self._value_sum / self._iterations
        last = state.policy if state.deployed is None else state.deployed
        return self._result(identity, state, policy, value, last, self._members, state.bill)

    def planned_result(self, identity: Row, state: AlgorithmState, learnt: Learnt) -> Result:
        """Of a reward-free algorithm: the policy planned for the problem's rewards, that planning billed."""
        self._require_a_round()
        started = time.perf_counter()
        planned, bill = learnt.policy_for(self.handle.rewards)
        self._seconds += time.perf_counter() - started
        value = self.problem.value(planned)
        bill = state.bill + bill
        gap = self.problem.optimal_value - value
        assert self._last is not None, "a round was taken"
        ended = {"episodes": self.handle.episodes_played, "bill": bill.asdict(), "seconds": self._seconds}
        self._keep({**self._last, **ended, "gap": gap, "last_gap": gap}, last=True)
        policy = MixturePolicy([planned])
        return self._result(identity, state, policy, value, planned, [planned], bill, learnt)

    def _require_a_round(self) -> None:
        if not self._iterations:
            raise InvalidInput("the cap on episodes leaves no room for a single round; raise `episodes`")

    def _result(
        self,
        identity: Row,
        state: AlgorithmState,
        policy: MixturePolicy,
        value: float,
        last_policy: Any,
        members: list[Any],
        bill: Bill,
        learnt: Learnt | None = None,
    ) -> Result:
        certificate = self._certificate(state, members)
        return Result(
            problem=self.problem.name,
            **identity,
            value=value,
            optimal_value=self.problem.optimal_value,
            last_value=self.problem.value(last_policy),
            policy=policy,
            last_policy=self.problem.policy(last_policy),
            episodes=self.handle.episodes_played,
            iterations=self._iterations,
            bill=bill,
            seconds=self._seconds,
            coverage=_coverage(self.problem, state.model, self.handle.rho),
            certificate=certificate.bound,
            certificate_bill=certificate.bill,
            model=state.model,
            history=self.history,
            learnt=learnt,
        )

    def _certificate(self, state: AlgorithmState, members: list[Any]) -> Certificate:
        """Of an algorithm that keeps a model, a bonus and the visits behind them, which a continuous state has not."""
        if not members or not isinstance(state, RollInState) or state.model is None:
            return Certificate(None, Bill())
        if not isinstance(state.data, TransitionData):
            return Certificate(None, Bill())
        visits = state.data.visits
        return certify(state.model, state.bonus, visits, self.handle.rewards, self.handle.initial, members)


def _coverage(problem: Problem, model: LowRankModel | None, rho: np.ndarray) -> float | None:
    """max over h, s, a of d*_h(s)/(|A| ρ(s,a)), d* the optimal policy's in the true and in the fitted model.

    None where ρ misses a state that it reaches, and where states are not seen. A continuous walk starts in a point,
    which no density covers: there the first step is left out.
    """
    if isinstance(problem, RichProblem):
        return None
    flows = [problem.occupancy(problem.optimal_policy)]
    if model is not None:
        flows.append(occupancies(model.kernel, problem.optimal_policy, problem.initial))
    least = rho.min(axis=-1)
    first = 1 if isinstance(problem, SmoothWalk) else 0
    reached = np.maximum.reduce(flows)[first:].max(axis=0, initial=0.0)
    if (reached[least == 0] > UNREACHED).any():
        return None
    visited = least > 0
    return float((reached[visited] / (problem.actions * least[visited])).max())
