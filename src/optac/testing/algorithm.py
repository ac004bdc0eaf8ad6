"""The promises of every algorithm: it sees only its handle, repeats itself, pays its bill and stops at its cap.

The checks play on a small lock, with a budget that an algorithm can divide among its rounds.
"""

import random
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import prepare, solve
from optac.algorithms.protocol import is_reward_free, load_algorithm, traits
from optac.mdp import LowRankMDP, make_problem

EPISODES = 1999
ROUNDS = 50
ROUNDS_WATCHED = 3
SECRETS = frozenset(
    ("transitions", "phi", "mu", "optimal", "values", "value", "facts", "occupancy", "simulator")
)


def sees_only_its_handle(algorithm: Any) -> None:
    """It learns from episodes, sizes and known rewards; the truth raises when it is read."""
    lock = _lock()
    problem = _Guarded(lock.phi, lock.mu, lock.rewards, lock.initial)
    run = prepare(problem, algorithm, episodes=EPISODES)
    assert not any(held is problem for held in vars(run.handle).values())
    run.handle._simulator = SimpleNamespace(play=run.handle._simulator.play)  # type: ignore[assignment]
    problem.armed = True
    state = run.part.init(run.settings, run.handle)
    for _ in range(min(ROUNDS_WATCHED, run.rounds)):
        state, _ = run.part.step(run.settings, state, run.handle, run.rng)
    if is_reward_free(run.part):
        policy, _ = run.part.learnt(run.settings, state).policy_for(run.handle.rewards)
        assert policy.shape == lock.shape, f"learnt().policy_for gave shape {policy.shape}, not {lock.shape}"
    assert run.handle.episodes_played > 0, f"{run.algorithm} played no episode in {ROUNDS_WATCHED} rounds"


def repeats_itself(algorithm: Any) -> None:
    """One seed gives the same bits, whatever ran before and whatever Python's own generators hold."""
    runs = []
    for seed, noise in ((3, 1), (4, 2), (3, 5)):
        random.seed(noise)
        np.random.seed(noise)  # noqa: NPY002
        runs.append(_solve(algorithm, seed=seed))
    first, _, again = runs
    assert _rows(first) == _rows(again), "two runs of one seed have different histories"
    assert first.bill == again.bill and first.episodes == again.episodes
    same = np.array_equal(first.last_policy.probabilities, again.last_policy.probabilities)
    assert same, "two runs of one seed return different policies"


def pays_its_bill(algorithm: Any) -> None:
    """A bill never shrinks, ends as the result's, and holds every call inside a call and every fit of its class."""
    run = prepare(_lock(), algorithm, episodes=EPISODES, iterations=_rounds(algorithm))
    fits = _count_fits(run.handle.model_class)
    result = run()
    bills = [row["bill"] for row in result.history]
    for before, after in pairwise(bills):
        shrunk = [oracle for oracle in ("SL", "PE", "PP", "CP") if after[oracle] < before[oracle]]
        assert not shrunk, f"the bill of {shrunk[0]} shrinks from round to round"
    assert bills[-1] == result.bill.asdict(), "the last row's bill is not the result's"
    bill, horizon = result.bill, run.handle.horizon
    inside = bill.PE + horizon * bill.PP
    assert inside <= bill.SL, f"SL {bill.SL} is less than PE + H·PP = {inside}, which it must include"
    assert len(fits) <= bill.SL, f"SL {bill.SL} is less than the {len(fits)} fits made"


def stops_at_its_cap(algorithm: Any) -> None:
    """It plays at most as many episodes as it may, though more rounds are asked for, and at most as many rounds."""
    lock = _lock()
    cap = EPISODES if traits(load_algorithm(algorithm)).commits else ROUNDS * lock.horizon + 1
    played = solve(lock, algorithm, episodes=cap).episodes
    assert 0 < played <= cap, f"{played} episodes played; {cap} were allowed"
    rounds = solve(lock, algorithm, episodes=EPISODES, iterations=2).iterations
    assert rounds <= 2, f"{rounds} rounds taken; 2 were allowed"


def returns_policies(algorithm: Any) -> None:
    """Every policy is a table of distributions over actions, so that none is worth more than the optimum."""
    result, lock = _solve(algorithm, seed=1), _lock()
    for member in result.policy:
        table = member.probabilities
        assert table.shape == lock.shape, f"a policy has shape {table.shape}; here it must be {lock.shape}"
        sound = (table >= 0).all() and np.allclose(table.sum(axis=-1), 1.0)
        assert sound, "a policy has rows that are not distributions over actions"
    assert result.gap >= -1e-9 and result.last_gap >= -1e-9, "a policy is worth more than the optimum"


ALGORITHM_CHECKS: tuple[Callable[[Any], None], ...] = (
    sees_only_its_handle,
    repeats_itself,
    pays_its_bill,
    stops_at_its_cap,
    returns_policies,
)


class _Guarded(LowRankMDP):
    """A problem whose truth raises once it is armed."""

    armed = False

    def __getattribute__(self, name: str) -> Any:
        if name in SECRETS and super().__getattribute__("armed"):
            raise AssertionError(f"the algorithm read {name}, which is the problem's truth")
        return super().__getattribute__(name)


def _lock() -> LowRankMDP:
    problem: LowRankMDP = make_problem("combination-lock", horizon=3, actions=3)
    return problem


def _solve(algorithm: Any, seed: int) -> Result:
    return solve(_lock(), algorithm, episodes=EPISODES, iterations=_rounds(algorithm), seed=seed)


def _rounds(algorithm: Any) -> int | None:
    """Few, but as many as it likes where it divides its budget among them."""
    return None if traits(load_algorithm(algorithm)).commits else ROUNDS


def _rows(result: Result) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in result.history]


def _count_fits(model_class: Any) -> list[None]:
    """A list that grows by one with each fit of this object."""
    calls: list[None] = []
    fit = model_class.fit

    def counted(*arguments: Any, **keywords: Any) -> Any:
        calls.append(None)
        return fit(*arguments, **keywords)

    object.__setattr__(model_class, "fit", counted)  # the class may be a frozen dataclass
    return calls
