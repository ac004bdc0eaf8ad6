"""The one loop that runs every algorithm, and the exact accounts kept of it.

The algorithm sees a handle; the loop alone holds the truth, with which it values every policy played.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, ParamSpec, Protocol, cast, runtime_checkable

import numpy as np

from optac.algorithms import protocol
from optac.algorithms.loop import inputs
from optac.algorithms.loop.accounts import Accounts, Row
from optac.algorithms.loop.handle import EpisodesSpent, Handle
from optac.algorithms.loop.inputs import rounds_of
from optac.algorithms.loop.result import Result
from optac.algorithms.loop.rich_handle import RichHandle
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, Problem, RichProblem, SmoothWalk
from optac.models import RichClass
from optac.settings import changed, read, whole
from optac.terminal import progress

Arguments = ParamSpec("Arguments")


def prepare(
    problem: Problem,
    algorithm: Any = "opt-ac",
    *,
    iterations: Any = None,
    episodes: Any = None,
    seed: Any = 0,
    preset: str = "practical",
    model_class: Any = None,
    rank: Any = None,
    candidates: Any = inputs.CANDIDATES,
    rho: Any = None,
    keep_members: Any = True,
    progress: Callable[[Row], None] | None = None,
    **settings: Any,
) -> "PreparedRun":
    """A run of `solve` with every argument checked and nothing played yet."""
    if not isinstance(problem, LowRankMDP | SmoothWalk | RichProblem):
        raise InvalidInput(f"solve takes a problem, not {problem!r}; make one with optac.make_problem")
    part, name = protocol.load_algorithm(algorithm), protocol.algorithm_name(algorithm)
    asks = protocol.traits(part)
    inputs.check_fit(problem, name, asks, settings)
    cap = None if episodes is None else whole("episodes", episodes)
    rounds = rounds_of(iterations, cap, part, asks, problem)
    seed = whole("seed", seed, least=0)
    learner_seed, environment_seed = np.random.SeedSequence(seed).spawn(2)
    chosen, class_choices = inputs.chosen_class(
        problem,
        name,
        asks,
        model_class,
        rank=None if rank is None else whole("rank", rank),
        candidates=whole("candidates", candidates),
        settings=settings,
    )
    environment = np.random.default_rng(environment_seed)
    handle: Handle
    if isinstance(problem, RichProblem):
        handle = RichHandle(problem, cast(RichClass, chosen), rng=environment, episodes=cap)
    else:
        handle = Handle(
            problem,
            chosen,
            rho=inputs.checked_distribution(rho, problem),
            rng=environment,
            episodes=cap,
            features=problem.phi if isinstance(problem, LowRankMDP) and asks.knows_features else None,
        )
    constants, own_choices = inputs.resolved_settings(part, preset, handle.sizes(rounds), settings)
    budget = {"episodes": cap, "iterations": rounds, "preset": preset}
    usual_rounds = rounds_of(None, cap, part, asks, problem)
    usual = {"episodes": None, "iterations": usual_rounds, "preset": "practical"}
    return PreparedRun(
        problem,
        part,
        name,
        seed,
        rounds,
        handle,
        constants,
        np.random.default_rng(learner_seed),
        keep_members=read("keep_members", keep_members, bool),
        choices=changed(budget, usual) | class_choices | own_choices,
        progress=progress,
    )


@runtime_checkable
class Snapshots(Protocol):
    """Where a run that may be killed leaves what it needs to go on."""

    def found(self) -> Row | None:
        """The newest snapshot; None to start at the beginning."""
        ...

    def offer(self, make: Callable[[], Row]) -> None:
        """Keep the snapshot that `make` makes, if it is time for one."""
        ...


@dataclass(frozen=True)
class PreparedRun:
    """Call it once to run it."""

    problem: Problem
    part: protocol.Algorithm
    algorithm: str
    seed: int
    rounds: int
    handle: Handle
    settings: Any
    rng: np.random.Generator
    keep_members: bool
    choices: Mapping[str, Any]
    """what determines the result beside problem, algorithm and seed, and is not the default"""
    progress: Callable[[Row], None] | None = None

    def __call__(
        self, until: Callable[[Row], bool] | None = None, snapshots: "Snapshots | None" = None
    ) -> Result:
        """The result; `until` sees every iteration's row, and the run ends with a batch whose last row it says yes of.

        With `snapshots` the run goes on from the one there is, and offers one after every iteration.
        """
        part = self.part
        accounts = Accounts(
            self.problem,
            self.handle,
            rounds=self.rounds,
            reward_free=protocol.is_reward_free(part),
            keep_members=self.keep_members,
            progress=self.progress,
            until=until,
        )
        state = protocol.checked_state(self.algorithm, part, part.init(self.settings, self.handle))
        first, found = 0, None if snapshots is None else snapshots.found()
        if found is not None:
            first, state = found["iteration"], found["state"]
            self.rng.bit_generator.state = found["learner"].bit_generator.state
            self.handle.restore(found["handle"])
            accounts.restore(found["accounts"])
        for k in range(first, self.rounds):
            started = time.perf_counter()
            try:
                answer = part.step(self.settings, state, self.handle, self.rng)
            except EpisodesSpent:
                break
            seconds = time.perf_counter() - started
            next_state, info = protocol.checked_round(self.algorithm, part, answer)
            accounts.add(k, state, next_state, info, seconds)
            state = next_state
            if accounts.stopped or state.finished:
                break
            if snapshots is not None:
                snapshots.offer(partial(self._snapshot, k + 1, state, accounts))
        identity = {"algorithm": self.algorithm, "seed": self.seed, "settings": self.settings}
        if protocol.is_reward_free(part):
            return accounts.planned_result(identity, state, part.learnt(self.settings, state))
        return accounts.result(identity, state)

    def _snapshot(self, iteration: int, state: Any, accounts: Accounts) -> Row:
        """All that the rounds from this iteration on depend on, beside what `prepare` makes."""
        return {
            "iteration": iteration,
            "state": state,
            "learner": self.rng,
            "handle": self.handle.saved(),
            "accounts": accounts.saved(),
        }


def progress_note(row: Row) -> str:
    """The note beside the bar; a reward-free algorithm has no gap before its end."""
    if row["gap"] is None:
        return f"exploring, {row['episodes']} episodes"
    return f"gap {row['gap']:.3f}, last {row['last_gap']:.3f}"


def _run_at_once(prepared: Callable[Arguments, PreparedRun]) -> Callable[Arguments, Result]:
    """`solve`, which takes what `prepare` takes: the list of arguments stands once."""

    @wraps(prepared, assigned=())
    def solve(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Run an algorithm on a problem and value what it returns exactly.

        `algorithm` is a name from `optac list`, a location `package.module`, or a module or object of one's own
        (`optac.extend.Algorithm`). `iterations` are the outer rounds, `episodes` caps what is played; `seed` is the
        learner's. `model_class`: "simplex" (rank `rank`, the problem's by default), "finite" (the truth among
        `candidates`; the default of moffle and spanrl), another name or location, a list of problems or (phi, mu), or
        an object (`optac.extend.ModelClass`). `rho`: a distribution (S, A), uniform by default. `progress` is called
        with rows of the history as they come; without it a notebook or a terminal shows a bar. Further settings are
        the algorithm's own constants, over the preset's.
        """
        run = prepared(*args, **kwargs)
        if run.progress is not None:
            return run()
        with progress(run.algorithm, run.rounds, quiet=False, lines=False) as advance:
            return replace(run, progress=lambda row: advance(row["iteration"], progress_note(row)))()

    return solve


solve = _run_at_once(prepare)
