"""N·ε²/(Hd|A|) on the instance of the lower bound: how many episodes each algorithm needs, over what it must need."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from optac.figures import COLOURS, figure
from optac.report.statistics import bootstrap_ends
from optac.report.tables import Row, grouped, markdown_table
from optac.studies.scaling.cells import HARD_LADDER, HARD_POINTS

SUCCESS = 0.75
LOWER_BOUND = "N·ε²/(Hd|A|) on the lower-bound instance"
LEGEND = {
    "last policy, or the one planned": ("o", COLOURS[0]),
    "mixture": ("o", COLOURS[1]),
    "not within the ladder": ("^", "0.3"),
}


def needed_interval(runs: Sequence[Row], which: str) -> tuple[float, float, float]:
    """The smallest c = N·ε²/(Hd|A|) from which on at least three runs in four are within ε/2; infinite if none is.

    It stands between the ends of its 95 % bootstrap interval over the seeds: low, itself, high. A rung that a run
    does not have is a failure of that run.
    """
    ladder = sorted({rung["c"] for run in runs for rung in run["rungs"]})
    gaps = [{rung["c"]: rung[which] for rung in run["rungs"]} for run in runs]
    found = np.array(
        [[gap.get(c, inf) <= run["within"] for c in ladder] for gap, run in zip(gaps, runs, strict=True)]
    )

    def failed(chosen: Any, axis: int = -1) -> Any:
        """How many rungs are left when those from the last one down that all succeed are taken away."""
        enough = found[chosen].mean(axis=-2) >= SUCCESS
        return len(ladder) - np.cumprod(enough[..., ::-1], axis=-1).sum(axis=-1, dtype=float)

    seeds = np.arange(len(runs))
    middle = failed(seeds)
    low, high = bootstrap_ends(failed, [seeds], method="inverted_cdf") if len(runs) > 1 else (middle, middle)
    at_low, itself, at_high = ([*ladder, inf][int(rung)] for rung in (low, middle, high))
    return at_low, itself, at_high


def _policies(runs: Sequence[Row]) -> list[str]:
    """The gaps to show: of an algorithm that plans one policy at its end, the mixture is that policy."""
    rungs = [rung for run in runs for rung in run.get("rungs", ())]
    return ["last_gap"] if all(rung["gap"] == rung["last_gap"] for rung in rungs) else ["last_gap", "gap"]


def lower_bound_table(rows: Sequence[Row]) -> str:
    """One line per algorithm and policy, one column per point."""
    points = grouped(rows, "algorithm", "point")
    lines = []
    for name, runs in grouped(rows, "algorithm").items():
        for which in _policies(runs):
            label = name if which == "last_gap" else f"{name}, mixture"
            lines.append([label, *(_cell(points.get((name, point), []), which) for point in HARD_POINTS)])
    return markdown_table(["algorithm", *HARD_POINTS], lines)


def lower_bound_text(rows: Sequence[Row]) -> str:
    """What the table shows."""
    ladder = ", ".join(_share_text(c) for c in HARD_LADDER[:2])
    return (
        f"## {LOWER_BOUND}\n\n"
        f"The smallest rung of the ladder N = {ladder}, …, {HARD_LADDER[-1]:g} times Hd|A|/ε² from which on three in "
        f"four of {len({row['seed'] for row in rows})} random secrets are found: the policy after N episodes (the "
        "last, or the mixture) is within ε/2. In brackets the 95 % bootstrap interval over the secrets. Base: H = 2, "
        "d = 6, |A| = 3, ε = 0.2.\n"
    )


def _cell(runs: Sequence[Row], which: str) -> str:
    if not runs:
        return "missing"
    if "refused" in runs[0]:
        return "refused (η_min = 0)"
    last = max(rung["c"] for run in runs for rung in run["rungs"])
    low, middle, high = (f">{last:g}" if c == inf else _share_text(c) for c in needed_interval(runs, which))
    return middle if low == high else f"{middle} [{low}–{high}]"


def _share_text(c: float) -> str:
    return f"{c:g}" if c >= 1 else f"1/{1 / c:g}"


def lower_bound_figure(rows: Sequence[Row], path: Path) -> None:
    """One panel per algorithm: what each factor, doubled or tripled, does to N·ε²/(Hd|A|); flat is optimal."""
    groups, points = grouped(rows, "algorithm"), grouped(rows, "algorithm", "point")
    columns = -(-len(groups) // 2)
    top = max((rung["c"] for row in rows for rung in row.get("rungs", ())), default=1.0)
    title = (
        "lower-bound: episodes N until 3 of 4 secrets are found, over Hd|A|/ε²\n"
        f"{len({row['seed'] for row in rows})} secrets per point, bars: 95 % bootstrap intervals"
    )
    shared = {"sharex": True, "sharey": True, "squeeze": False}
    with figure(path, 2, columns, size=(max(9.0, 2.8 * columns), 6.4), title=title, **shared) as axes:
        for axis, (name, runs) in zip(axes.flat, groups.items(), strict=False):
            for place, point in enumerate(HARD_POINTS):
                _draw_point(axis, place, points.get((name, point), []), top, _policies(runs))
            axis.axhline(1.0, color="0.5", linewidth=0.8, linestyle=":")
            axis.set_yscale("log", base=2)
            axis.set(xlim=(-0.5, len(HARD_POINTS) - 0.5), ylim=(1 / 64, 3 * top))
            axis.set_title(name, fontsize="medium")
            axis.set_xticks(range(len(HARD_POINTS)), HARD_POINTS, fontsize="small")
        for axis in axes.flat[len(groups) :]:
            axis.set_visible(False)
        for axis in axes[:, 0]:
            axis.set_ylabel("N · ε²/(Hd|A|)")
        marks = [axes[0, 0].plot([], [], shape, color=colour)[0] for shape, colour in LEGEND.values()]
        axes[0, 0].figure.legend(marks, LEGEND, loc="outside lower center", ncols=len(LEGEND))


def _draw_point(axis: Any, place: int, runs: Sequence[Row], top: float, policies: Sequence[str]) -> None:
    """The last policy and the mixture at one point of one algorithm, or the one policy it plans."""
    if not runs or "refused" in runs[0]:
        why = "refused" if runs else "missing"
        axis.text(
            place, 0.5, why, transform=axis.get_xaxis_transform(), rotation=90, ha="center", va="center"
        )
        return
    shifts = (-0.12, 0.12) if len(policies) > 1 else (0.0,)
    for which, colour, shift in zip(policies, COLOURS, shifts, strict=False):
        low, middle, high = (min(c, 2 * top) for c in needed_interval(runs, which))
        axis.vlines(place + shift, low, high, color=colour)
        axis.plot(place + shift, middle, "^" if middle > top else "o", color=colour)
