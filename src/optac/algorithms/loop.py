"""The one loop that runs every algorithm, and the exact accounts kept of it.

The algorithm sees a handle; the loop alone holds the truth, with which it values every policy played.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optac.algorithms.catalogue import load_algorithm
from optac.algorithms.certificate import Certificate, certify
from optac.algorithms.handle import EpisodesSpent, Handle
from optac.algorithms.result import Result
from optac.algorithms.settings import resolved_settings
from optac.array_types import Probabilities
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, MixturePolicy, TabularPolicy
from optac.mdp.values import occupancies, optimal_control
from optac.models import FiniteClass, LowRankModel, SimplexClass, truth_among_decoys
from optac.oracles import Bill, ModelClass

EVALUATION_BATCH = 64
SECONDS_BETWEEN_REPORTS = 0.25

Row = dict[str, Any]


def solve(
    problem: LowRankMDP,
    algorithm: str = "opt-ac",
    *,
    iterations: int | None = None,
    episodes: int | None = None,
    seed: int = 0,
    preset: str = "practical",
    model_class: str | Sequence[Any] = "simplex",
    rank: int | None = None,
    candidates: int = 64,
    rho: Any = None,
    keep_members: bool = True,
    progress: Callable[[Row], None] | None = None,
    **settings: Any,
) -> Result:
    """Run an algorithm on a problem and value what it returns exactly.

    `iterations` are the outer rounds, `episodes` caps what is played; `seed` is the learner's. `model_class`:
    "simplex" (rank `rank`, the problem's by default), "finite" (the truth among `candidates`), or a list of
    problems or (phi, mu). `rho`: a distribution (S, A), uniform by default. `progress` is called with rows of
    the history as they come. Further settings are the algorithm's own constants, over the preset's.
    """
    run = prepare(
        problem,
        algorithm,
        iterations=iterations,
        episodes=episodes,
        seed=seed,
        preset=preset,
        model_class=model_class,
        rank=rank,
        candidates=candidates,
        rho=rho,
        keep_members=keep_members,
        **settings,
    )
    return run(progress)


def prepare(
    problem: LowRankMDP,
    algorithm: str = "opt-ac",
    *,
    iterations: int | None = None,
    episodes: int | None = None,
    seed: int = 0,
    preset: str = "practical",
    model_class: str | Sequence[Any] = "simplex",
    rank: int | None = None,
    candidates: int = 64,
    rho: Any = None,
    keep_members: bool = True,
    **settings: Any,
) -> "PreparedRun":
    """A run of `solve` with every argument checked and nothing played yet."""
    module = load_algorithm(algorithm)
    rounds = _rounds(iterations, episodes, module.DEFAULT_ITERATIONS, problem.horizon)
    learner_seed, environment_seed = np.random.SeedSequence(_checked_seed(seed)).spawn(2)
    handle = Handle(
        problem,
        _model_class(problem, model_class, rank, candidates),
        rho=_distribution(rho, problem),
        rng=np.random.default_rng(environment_seed),
        episodes=episodes,
    )
    chosen = resolved_settings(module, preset, handle.sizes(rounds), settings)
    rng = np.random.default_rng(learner_seed)
    return PreparedRun(problem, algorithm, seed, rounds, handle, chosen, rng, keep_members)


@dataclass(frozen=True)
class PreparedRun:
    """Call it once to run it."""

    problem: LowRankMDP
    algorithm: str
    seed: int
    rounds: int
    handle: Handle
    settings: Any
    rng: np.random.Generator
    keep_members: bool

    def __call__(self, progress: Callable[[Row], None] | None = None) -> Result:
        module = load_algorithm(self.algorithm)
        accounts = _Accounts(self.problem, self.handle, keep_members=self.keep_members, progress=progress)
        state = module.init(self.settings, self.handle)
        for k in range(self.rounds):
            started = time.perf_counter()
            try:
                next_state, info = module.step(self.settings, state, self.handle, self.rng)
            except EpisodesSpent:
                break
            accounts.add(k, state.policy, next_state, info, time.perf_counter() - started)
            state = next_state
        return accounts.result(self.algorithm, self.seed, self.settings, state)


class _Accounts:
    """The history of a run: every policy played, valued exactly, many at a time."""

    def __init__(
        self,
        problem: LowRankMDP,
        handle: Handle,
        *,
        keep_members: bool,
        progress: Callable[[Row], None] | None,
    ) -> None:
        self._problem = problem
        self._handle = handle
        self._keep = keep_members
        self._progress = progress
        self._members: list[Probabilities] = []
        self._pending: list[tuple[Probabilities, Row]] = []
        self._value_sum = 0.0
        self._seconds = 0.0
        self._reported = time.perf_counter()
        self.history: list[Row] = []

    def add(self, k: int, played: Probabilities, state: Any, info: Any, seconds: float) -> None:
        """Iteration k played `played` and ended in `state`."""
        self._seconds += seconds
        row = {
            "iteration": k + 1,
            "episodes": self._handle.episodes_played,
            "bill": state.bill.asdict(),
            "seconds": self._seconds,
            **asdict(info),
        }
        self._pending.append((played, row))
        if self._keep:
            self._members.append(played)
        late = self._progress and time.perf_counter() - self._reported > SECONDS_BETWEEN_REPORTS
        if len(self._pending) == EVALUATION_BATCH or late:
            self._value_pending(state.policy)

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
        self._pending.clear()
        self._reported = time.perf_counter()
        if self._progress:
            self._progress(self.history[-1])

    def result(self, algorithm: str, seed: int, settings: Any, state: Any) -> Result:
        self._value_pending(state.policy)
        played = len(self.history)
        if played == 0:
            raise InvalidInput("the cap on episodes leaves no room for a single round; raise `episodes`")
        model = getattr(state, "model", None)
        certificate = self._certificate(model, getattr(state, "bonus", None))
        return Result(
            problem=self._problem.name,
            algorithm=algorithm,
            seed=seed,
            settings=settings,
            value=self._value_sum / played,
            optimal_value=self._problem.optimal_value,
            last_value=self._problem.value(state.policy),
            policy=MixturePolicy(self._members, size=played),
            last_policy=TabularPolicy(state.policy),
            episodes=self._handle.episodes_played,
            iterations=played,
            bill=state.bill,
            seconds=self._seconds,
            coverage=_coverage(self._problem, model, self._handle.rho),
            certificate=certificate.bound,
            certificate_bill=certificate.bill,
            model=model,
            history=self.history,
        )

    def _certificate(self, model: LowRankModel | None, bonus: Any) -> Certificate:
        if model is None or bonus is None or not self._keep:
            return Certificate(None, Bill())
        return certify(model, bonus, self._handle.rewards, self._handle.initial, self._members)


def _rounds(iterations: int | None, episodes: int | None, default: int, horizon: int) -> int:
    for name, value in (("iterations", iterations), ("episodes", episodes)):
        if value is not None and (value != int(value) or value < 1):
            raise InvalidInput(f"{name}={value} is not valid; {name} must be a whole number, at least 1")
    if iterations is not None:
        return int(iterations)
    if episodes is None:
        return default
    if episodes < horizon:
        raise InvalidInput(f"episodes={episodes} is less than one round, which plays {horizon}; raise it")
    return episodes // horizon


def _checked_seed(seed: int) -> int:
    if seed != int(seed) or seed < 0:
        raise InvalidInput(f"seed={seed} is not valid; seed must be a whole number, at least 0")
    return int(seed)


def _model_class(
    problem: LowRankMDP, model_class: str | Sequence[Any], rank: int | None, candidates: int
) -> ModelClass:
    chosen: ModelClass
    if model_class == "simplex":
        chosen = SimplexClass(rank=problem.rank if rank is None else rank)
    elif model_class == "finite":
        instance = int(problem.parameters.get("seed", 0))
        chosen = truth_among_decoys(problem.phi, problem.mu, candidates, instance)
    elif isinstance(model_class, str):
        raise InvalidInput(
            f"unknown model_class {model_class!r}; known: simplex, finite, or a list of candidates"
        )
    else:
        pairs = [(c.phi, c.mu) if isinstance(c, LowRankMDP) else tuple(c) for c in model_class]
        chosen = FiniteClass([(np.asarray(phi, float), np.asarray(mu, float)) for phi, mu in pairs])
    chosen.check(problem.states, problem.actions)
    return chosen


def _distribution(rho: Any, problem: LowRankMDP) -> np.ndarray:
    """ρ over (s, a), uniform by default."""
    shape = problem.states, problem.actions
    if rho is None:
        return np.full(shape, 1.0 / (shape[0] * shape[1]))
    array = np.asarray(rho, dtype=float)
    if array.shape != shape or not (array >= 0).all() or abs(array.sum() - 1) > 1e-6:
        raise InvalidInput(
            f"rho must be a distribution of shape {shape} (states, actions); got {array.shape}"
        )
    return array / array.sum()


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
