"""The one loop that runs every algorithm, and the exact accounts kept of it.

The algorithm sees a handle; the loop alone holds the truth, with which it values every policy played.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, cast

import numpy as np

from optac.algorithms.catalogue import REWARD_FREE, RewardFreeAlgorithm, load_algorithm, traits
from optac.algorithms.loop.accounts import Accounts, Row, Watch
from optac.algorithms.loop.handle import EpisodesSpent, Handle
from optac.algorithms.loop.inputs import (
    check_reachability,
    checked_distribution,
    chosen_class,
    fourier_choice,
    rounds_of,
)
from optac.algorithms.loop.result import Result
from optac.algorithms.loop.settings import resolved_settings
from optac.algorithms.loop.states import PlayingState
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, Problem, SmoothWalk
from optac.mdp.parameters import whole_number

Arguments = ParamSpec("Arguments")


def prepare(
    problem: Problem,
    algorithm: str = "opt-ac",
    *,
    iterations: int | None = None,
    episodes: int | None = None,
    seed: int = 0,
    preset: str = "practical",
    model_class: str | Sequence[Any] | None = None,
    rank: int | None = None,
    candidates: int = 64,
    rho: Any = None,
    keep_members: bool = True,
    progress: Callable[[Row], None] | None = None,
    **settings: Any,
) -> "PreparedRun":
    """A run of `solve` with every argument checked and nothing played yet."""
    if not isinstance(problem, LowRankMDP | SmoothWalk):
        raise InvalidInput(f"solve takes a problem, not {problem!r}; make one with optac.make_problem")
    module = load_algorithm(algorithm)
    check_reachability(problem, algorithm)
    fourier = fourier_choice(problem, algorithm, settings)
    rounds = rounds_of(iterations, episodes, module, algorithm, problem.horizon)
    learner_seed, environment_seed = np.random.SeedSequence(whole_number("seed", seed, least=0)).spawn(2)
    handle = Handle(
        problem,
        chosen_class(problem, algorithm, model_class, rank, candidates, fourier),
        rho=checked_distribution(rho, problem),
        rng=np.random.default_rng(environment_seed),
        episodes=None if episodes is None else int(episodes),
        features=problem.phi
        if isinstance(problem, LowRankMDP) and traits(algorithm).knows_features
        else None,
    )
    chosen = resolved_settings(module, preset, handle.sizes(rounds), settings)
    rng = np.random.default_rng(learner_seed)
    return PreparedRun(problem, algorithm, seed, rounds, handle, chosen, rng, keep_members, progress)


@dataclass(frozen=True)
class PreparedRun:
    """Call it once to run it."""

    problem: Problem
    algorithm: str
    seed: int
    rounds: int
    handle: Handle
    settings: Any
    rng: np.random.Generator
    keep_members: bool
    progress: Callable[[Row], None] | None = None

    def __call__(self, until: Callable[[Row], bool] | None = None) -> Result:
        """The result; `until` sees every iteration's row, and the run ends with the batch in which it says yes."""
        module = load_algorithm(self.algorithm)
        accounts = Accounts(
            self.problem,
            self.handle,
            rounds=self.rounds,
            reward_free=self.algorithm in REWARD_FREE,
            keep_members=self.keep_members,
            watch=Watch(self.progress, until),
        )
        state = module.init(self.settings, self.handle)
        for k in range(self.rounds):
            started = time.perf_counter()
            try:
                next_state, info = module.step(self.settings, state, self.handle, self.rng)
            except EpisodesSpent:
                break
            accounts.add(k, state, next_state, info, time.perf_counter() - started)
            state = next_state
            if accounts.stopped or state.finished:
                break
        identity = {"algorithm": self.algorithm, "seed": self.seed, "settings": self.settings}
        if self.algorithm in REWARD_FREE:
            learnt = cast(RewardFreeAlgorithm, module).learnt(self.settings, state)
            return accounts.planned_result(identity, state, learnt)
        return accounts.result(identity, cast(PlayingState, state))


def _run_at_once(prepared: Callable[Arguments, PreparedRun]) -> Callable[Arguments, Result]:
    """`solve`, which takes what `prepare` takes: the list of arguments stands once."""

    @wraps(prepared, assigned=())
    def solve(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Run an algorithm on a problem and value what it returns exactly.

        `iterations` are the outer rounds, `episodes` caps what is played; `seed` is the learner's. `model_class`:
        "simplex" (rank `rank`, the problem's by default), "finite" (the truth among `candidates`; the default of
        moffle and spanrl), or a list of problems or (phi, mu). `rho`: a distribution (S, A), uniform by default.
        `progress` is called with rows of the history as they come. Further settings are the
        algorithm's own constants, over the preset's.
        """
        return prepared(*args, **kwargs)()

    return solve


solve = _run_at_once(prepare)
