"""One row for a run of an algorithm to ε: when it came within ε of the optimum for good, what that cost, and its curve.

For good means from there to the end of the run; the first time is kept beside it. An anytime algorithm is read off one
run, at every iteration of it, of which its history holds a thousand and the last. A reward-free one returns nothing
before its end, so it gets a ladder of budgets n, 2n, 4n, …, each a run of its own, and one row at the end of each rung.
Keys are those of a solve's history.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import prepare
from optac.algorithms.protocol import is_reward_free, load_algorithm
from optac.errors import InvalidInput
from optac.mdp import Problem
from optac.runs.json_files import Row
from optac.runs.solving import recorded

CURVE_POINTS = 60
STAYING = 3
"""a run that may end early plays at least so many times the episodes after which its last policy stays within ε"""

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
    """One algorithm, one seed, up to `episodes` episodes.

    `last` and `mixture` are the points from which on the last policy and the mixture stay within ε to the end (None:
    not within the budget), `first` the one at which the last policy first was. `stop_at` ends a run once the last
    policy, or both, are within ε and the last policy has stayed there for twice the episodes that took; a ladder ends
    with its first rung within ε, which is a whole run.
    """
    arguments = {"seed": seed, "keep_members": False, **settings}
    ladder = is_reward_free(load_algorithm(algorithm))
    first: list[Row] = []
    since: dict[str, Row] = {}
    needed = {"last_gap"} if stop_at == "last" else {"last_gap", "gap"}

    def within(row: Row) -> bool:
        for name in ("gap", "last_gap"):
            if row[name] > epsilon:
                since.pop(name, None)
            elif name not in since:
                since[name] = {key: recorded(row)[key] for key in ("episodes", "bill", "time/seconds")}
        if not first and "last_gap" in since:
            first.append(since["last_gap"])
        if stop_at == "end" or not since.keys() >= needed:
            return False
        return ladder or row["episodes"] >= STAYING * since["last_gap"]["episodes"]

    if ladder:
        budgets = [episodes // 2 ** (rungs - 1 - rung) for rung in range(rungs)]
        rows = []
        for _, result in _rungs(problem, algorithm, arguments, budgets):
            rows.append(result.history[-1])
            if within(rows[-1]):
                break
    else:
        result = prepare(problem, algorithm, episodes=episodes, **arguments)(until=within)
        rows = _thinned(result.history)
    return {
        "episodes": result.episodes,
        "gap": result.gap,
        "last_gap": result.last_gap,
        "optimal_value": result.optimal_value,
        "bill": result.bill.asdict(),
        "time/seconds": result.seconds,
        "ladder": ladder,
        "first": first[0] if first else None,
        "last": since.get("last_gap"),
        "mixture": since.get("gap"),
        "curve": columns([_rounded(row) for row in rows]),
    }


def at_budgets(
    problem: Problem, algorithm: str, budgets: Sequence[int], *, seed: int, **settings: Any
) -> list[Row]:
    """A row for each budget, smallest first: what an algorithm would return after it; too small a one has no row.

    One run read at every budget, or one run per budget for an algorithm that returns nothing before its end.
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
    return [{"budget": budget, **_rounded(row)} for budget, row in sorted(found.items())]


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows of the same keys as one list per key, which takes less room in a file."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def _rungs(
    problem: Problem, algorithm: str, arguments: Mapping[str, Any], budgets: Sequence[int]
) -> Iterator[tuple[int, Result]]:
    """One run per budget, from the smallest up; a budget too small to divide is left out, unless all are."""
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


def _rounded(row: Row) -> Row:
    """A row of a history for a curve: of the bill the SL calls alone, and fewer digits."""
    return {
        "episodes": row["episodes"],
        "gap": round(row["gap"], 6),
        "last_gap": round(row["last_gap"], 6),
        "SL": row["bill"]["SL"],
        "time/seconds": round(row["seconds"], 4),
    }


def _thinned(history: list[Row]) -> list[Row]:
    """About sixty rows at evenly spaced logarithms, the first and the last among them."""
    picks = np.unique(np.geomspace(1, len(history), CURVE_POINTS).round().astype(int)) - 1
    return [history[i] for i in picks]
