"""What a comparison records of a run: when it came within ε of the optimum, what that cost, and its curve.

An anytime algorithm is read off one run, at every iteration of it, though its history holds a thousand at most. A
reward-free one returns nothing before its end, so it gets a ladder of budgets n, 2n, 4n, …, each a run of its own, and
one row at the end of each rung.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import prepare
from optac.algorithms.protocol import is_reward_free, load_algorithm
from optac.errors import InvalidInput
from optac.mdp import Problem

CURVE_POINTS = 60

Row = dict[str, Any]
Stop = Literal["end", "last", "both"]


def measured(
    problem: Problem,
    algorithm: str,
    *,
    seed: int,
    episodes: int,
    epsilon: float,
    rungs: int = 6,
    stop_at: Stop = "end",
    **settings: Any,
) -> Row:
    """One algorithm, one seed, up to `episodes` episodes: what came of it.

    `last` and `mixture` say at which point the last policy and the mixture were first within ε (None: not
    within the budget), with the bill there. `stop_at` ends a run once the last policy, or both, are.
    """
    arguments = {"seed": seed, "keep_members": False, **settings}
    if is_reward_free(load_algorithm(algorithm)):
        return _ladder(
            problem,
            algorithm,
            arguments,
            budgets=[episodes // 2 ** (rungs - 1 - rung) for rung in range(rungs)],
            epsilon=epsilon,
            stop_early=stop_at != "end",
        )
    run = prepare(problem, algorithm, episodes=episodes, **arguments)
    first: dict[str, Row] = {}
    needed = {"last_gap"} if stop_at == "last" else {"last_gap", "gap"}

    def done(row: Row) -> bool:
        for name in ("gap", "last_gap"):
            if row[name] <= epsilon:
                first.setdefault(name, _cost(row))
        return stop_at != "end" and first.keys() >= needed

    result = run(until=done)
    return {
        **_summary(result),
        "ladder": False,
        "last": first.get("last_gap"),
        "mixture": first.get("gap"),
        "curve": [_point(row) for row in _thinned(result.history)],
    }


def at_budgets(
    problem: Problem, algorithm: str, budgets: Sequence[int], *, seed: int, **settings: Any
) -> list[Row]:
    """What an algorithm would return after each of the budgets, smallest first; too small a budget has no row.

    One run read at every budget, or a run a budget for an algorithm that returns nothing before its end.
    """
    arguments = {"seed": seed, "keep_members": False, **settings}
    if is_reward_free(load_algorithm(algorithm)):
        found = {
            budget: result.history[-1] for budget, result in _rungs(problem, algorithm, arguments, budgets)
        }
    else:
        found = {}

        def look(row: Row) -> bool:
            found.update({budget: row for budget in budgets if row["episodes"] <= budget})
            return False

        prepare(problem, algorithm, episodes=budgets[-1], **arguments)(until=look)
    return [{"budget": budget, **_standing(row)} for budget, row in sorted(found.items())]


def _rungs(
    problem: Problem, algorithm: str, arguments: Mapping[str, Any], budgets: Sequence[int]
) -> Iterator[tuple[int, Result]]:
    """A run a budget, from the smallest up; a budget too small to divide is left out, unless all are."""
    divided = False
    for budget in budgets:
        try:
            result = prepare(problem, algorithm, episodes=budget, **arguments)()
        except InvalidInput:
            if budget == budgets[-1] and not divided:
                raise
            continue
        divided = True
        yield budget, result


def _ladder(
    problem: Problem,
    algorithm: str,
    arguments: Mapping[str, Any],
    *,
    budgets: Sequence[int],
    epsilon: float,
    stop_early: bool,
) -> Row:
    """One row a rung, up to the first within ε where the rest is not asked for."""
    rows: list[Row] = []
    summary: Row = {}
    for _, result in _rungs(problem, algorithm, arguments, budgets):
        summary = _summary(result)
        rows.append(result.history[-1])
        if stop_early and result.gap <= epsilon:
            break
    first = next((_cost(row) for row in rows if row["gap"] <= epsilon), None)
    return {
        **summary,
        "ladder": True,
        "last": first,
        "mixture": first,
        "curve": [_point(row) for row in rows],
    }


def _summary(result: Result) -> Row:
    return {
        "episodes": result.episodes,
        "gap": result.gap,
        "last_gap": result.last_gap,
        "optimal_value": result.optimal_value,
        "bill": result.bill.asdict(),
        "time/run": result.seconds,
    }


def _cost(row: Row) -> Row:
    """What was paid up to an iteration: episodes, bill, seconds."""
    return {"episodes": row["episodes"], "bill": row["bill"], "time/run": row["seconds"]}


def _point(row: Mapping[str, Any]) -> list[int | float]:
    """[episodes, gap, last gap, SL calls, seconds]."""
    return list(_standing(row).values())


def _standing(row: Mapping[str, Any]) -> dict[str, int | float]:
    """Where a run stood at a row of its history."""
    return {
        "episodes": row["episodes"],
        "gap": round(row["gap"], 6),
        "last_gap": round(row["last_gap"], 6),
        "SL": row["bill"]["SL"],
        "time/run": round(row["seconds"], 4),
    }


def _thinned(history: list[Row]) -> list[Row]:
    """About sixty rows at evenly spaced logarithms, the first and the last among them."""
    picks = np.unique(np.geomspace(1, len(history), CURVE_POINTS).round().astype(int)) - 1
    return [history[i] for i in picks]
