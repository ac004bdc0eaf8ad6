"""What a comparison records of a run: when it came within ε of the optimum, what that cost, and its curve.

An anytime algorithm is read off one run, at every iteration of it, though its history holds a thousand at most. A
reward-free one returns nothing before its end, so it gets a ladder of budgets n, 2n, 4n, …, each a run of its own, and
one row at the end of each rung.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from optac.algorithms.catalogue import REWARD_FREE
from optac.algorithms.loop import prepare
from optac.algorithms.result import Result
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
    if algorithm in REWARD_FREE:
        return _ladder(
            problem,
            algorithm,
            arguments,
            episodes=episodes,
            epsilon=epsilon,
            rungs=rungs,
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


def _ladder(
    problem: Problem,
    algorithm: str,
    arguments: Mapping[str, Any],
    *,
    episodes: int,
    epsilon: float,
    rungs: int,
    stop_early: bool,
) -> Row:
    """A run a rung, from the smallest budget up; a budget too small to divide is left out."""
    rows: list[Row] = []
    summary: Row = {}
    for rung in range(rungs):
        budget = episodes // 2 ** (rungs - 1 - rung)
        try:
            result = prepare(problem, algorithm, episodes=budget, **arguments)()
        except InvalidInput:
            if rung == rungs - 1 and not rows:
                raise
            continue
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
    return [
        row["episodes"],
        round(row["gap"], 6),
        round(row["last_gap"], 6),
        row["bill"]["SL"],
        round(row["seconds"], 4),
    ]


def _thinned(history: list[Row]) -> list[Row]:
    """About sixty rows at evenly spaced logarithms, the first and the last among them."""
    picks = np.unique(np.geomspace(1, len(history), CURVE_POINTS).round().astype(int)) - 1
    return [history[i] for i in picks]
