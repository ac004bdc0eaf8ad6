"""The table and the figure of a comparison, from its rows alone: medians and interquartile ranges over seeds.

A run that did not stay within ε is censored: it counts as later than every other, and a median that falls on one is
written as more than its budget.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from optac.figures import COLOURS, Picture, picture, quartile_bars
from optac.report.tables import ORACLES, Number, Row, bill_cells, cell, column, grouped

MARKERS = "osD^vPX*h"
NOTES = (
    "median [interquartile range] over seeds, of two middle ones the lower; "
    "for good: within ε from there to the end of the run; (k/n): only k of n runs came so, the others are censored; "
    "the bill and the seconds are those up to ε for the last policy, else of the whole run",
)
LADDER_NOTE = (
    "* explores, then commits: a ladder of budgets n, 2n, 4n, …; "
    "the episodes are those of the first rung from which on it is within ε"
)


def reached(row: Row, which: str, read: Callable[[Row], Number]) -> float:
    """A number at the point from which a policy (`last`, `mixture`) stays within ε, or `first` was; infinite if not."""
    return inf if row[which] is None else float(read(row[which]))


def episodes_to(runs: Sequence[Row], which: str) -> list[float]:
    """The episodes of every run until a policy (`last`, `mixture`) is within ε for good, or the last one `first` is."""
    return [reached(run, which, lambda at: at["episodes"]) for run in runs]


def counted(runs: Sequence[Row], which: str, seeds: int) -> str:
    """Those episodes as a cell, censored at the runs' `cap`, with the number of runs where it is less than `seeds`."""
    if not runs:
        return "—"
    episodes = episodes_to(runs, which)
    few = len(runs) < seeds and inf not in episodes
    return cell(episodes, limit=runs[0]["cap"]) + (f" (n = {len(runs)})" if few else "")


def bills_to(runs: Sequence[Row]) -> list[Mapping[str, int]]:
    """Every run's bill up to ε for the last policy, else its whole bill."""
    return [(run["last"] or run)["bill"] for run in runs]


def seconds_to(runs: Sequence[Row]) -> list[float]:
    """Every run's seconds up to ε for the last policy, else all of them."""
    return [(run["last"] or run)["time/seconds"] for run in runs]


@dataclass(frozen=True)
class ComparisonTables:
    """A comparison's table, and the table of its ladders, one line per rung."""

    columns: list[str]
    lines: list[list[str]]
    ladders: list[list[str]]
    ladder_columns: ClassVar = ["algorithm", "rung", "episodes", "gap", "SL", "seconds", "within ε"]


def comparison_tables(rows: Sequence[Row], epsilon: float, episodes: int) -> ComparisonTables:
    """Episodes to ε, final gap, the bill there (at the end where ε was not reached), seconds."""
    columns = ["algorithm", f"episodes to ε={epsilon:g} for good, last policy", "first hit", "mixture"]
    columns += ["final gap", "last gap", *ORACLES, "seconds"]
    lines, ladders = [], []
    for name, runs in grouped(rows, "algorithm").items():
        ladder = runs[0]["ladder"]
        lines.append(
            [
                name + (" *" if ladder else ""),
                cell(episodes_to(runs, "last"), limit=episodes),
                cell(episodes_to(runs, "first"), limit=episodes),
                "—" if ladder else cell(episodes_to(runs, "mixture"), limit=episodes),
                cell(column(runs, "gap"), digits=3),
                cell(column(runs, "last_gap"), digits=3),
                *bill_cells(bills_to(runs)),
                cell(seconds_to(runs), digits=2),
            ]
        )
        if ladder:
            ladders += _rungs(name, runs, epsilon)
    return ComparisonTables(columns, lines, ladders)


def _rungs(name: str, runs: Sequence[Row], epsilon: float) -> list[list[str]]:
    """The results at each budget, of an algorithm that explores, then commits."""
    lines = []
    curves = [run["curve"] for run in runs]
    for rung in range(max(len(curve["episodes"]) for curve in curves)):
        there = [curve for curve in curves if rung < len(curve["episodes"])]
        names = ("episodes", "gap", "SL", "time/seconds")
        episodes, gaps, calls, seconds = ([curve[name][rung] for curve in there] for name in names)
        within = f"{sum(gap <= epsilon for gap in gaps)}/{len(gaps)}"
        numbers = [cell(episodes), cell(gaps, digits=3), cell(calls), cell(seconds, digits=2)]
        lines.append([name, str(rung + 1), *numbers, within])
    return lines


def comparison_picture(rows: Sequence[Row], *, title: str, epsilon: float) -> Picture:
    """The gap against episodes, SL calls and seconds: median and interquartile band over seeds.

    Anytime algorithms are lines (solid: the mixture returned; dashed: the last policy), ladders are points.
    """
    groups = grouped(rows, "algorithm")
    title = (
        f"{title}: median and interquartile range over {max(map(len, groups.values()))} seeds\n"
        "lines: the mixture (solid) and the last policy (dashed); points: budgets of explore-then-commit runs"
    )
    panels = {
        "episodes": "episodes played",
        "SL": "SL calls paid",
        "time/seconds": "seconds, the learner's own",
    }
    with picture(1, 3, size=(14, 4.8), title=title, sharey=True) as (drawn, axes):
        for axis, (cost, label) in zip(axes, panels.items(), strict=True):
            for i, (name, runs) in enumerate(groups.items()):
                style = {"color": COLOURS[i % len(COLOURS)], "label": name}
                if runs[0]["ladder"]:
                    _draw_ladder(axis, runs, cost, fmt=MARKERS[i % len(MARKERS)], **style)
                else:
                    _draw_curve(axis, runs, cost, **style)
            axis.axhline(epsilon, color="0.5", linewidth=0.8, linestyle=":", label=f"ε = {epsilon:g}")
            axis.set(xscale="log", xlabel=label)
        axes[0].set(ylabel="gap  V* − V(policy), exact", ylim=(-0.03, None))
        axes[2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return drawn


def _draw_curve(axis: Any, runs: Sequence[Row], cost: str, *, color: str, label: str) -> None:
    """Stepwise medians on a common grid: at x, a run stands where its last point at or before x stood.

    A run stands at its first point before it, and stays at its last: nothing more is played.
    """
    curves = [
        {name: np.asarray(values, dtype=float) for name, values in run["curve"].items()} for run in runs
    ]
    start = min(curve[cost][0] for curve in curves)
    end = max(curve[cost][-1] for curve in curves)
    grid = np.geomspace(max(start, 1e-3), max(end, start, 1e-3) * (1 + 1e-9), 120)
    at = [np.searchsorted(curve[cost], grid, side="right").clip(1) - 1 for curve in curves]
    for policy, line, width in (("gap", "-", 1.6), ("last_gap", "--", 0.9)):
        values = np.stack([curve[policy][there] for curve, there in zip(curves, at, strict=True)])
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        axis.plot(grid, middle, line, color=color, linewidth=width, label=label if line == "-" else None)
        if line == "-":
            axis.fill_between(grid, low, high, color=color, alpha=0.15, linewidth=0)


def _draw_ladder(axis: Any, runs: Sequence[Row], cost: str, **style: Any) -> None:
    """Median and interquartile bar of every rung."""
    rungs = min(len(run["curve"][cost]) for run in runs)
    costs, gaps = (np.array([run["curve"][name][:rungs] for run in runs], float) for name in (cost, "gap"))
    bars = np.quantile(gaps, [0.25, 0.5, 0.75], axis=0)
    hollow = {"markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.4}
    quartile_bars(axis, np.median(costs, axis=0), bars, **hollow, **style)
