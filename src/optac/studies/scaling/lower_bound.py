"""N·ε²/(Hd|A|) on the instance of the lower bound: how many episodes each algorithm needs, over what it must need."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from optac.report.comparison import PALETTE, drawing, grouped, markdown_table, save

Row = Mapping[str, Any]

POINTS = ("base", "d×2", "A×2", "ε/2", "H×3")
REWARD_FREE = ("raffle", "flambe", "moffle", "spanrl")
SUCCESS = 0.75
RESAMPLES = 400
LEGEND = {
    "last policy, or the one planned": ("o", PALETTE[0]),
    "mixture": ("o", PALETTE[1]),
    "not within the ladder": ("^", "0.3"),
}


def needed(runs: Sequence[Row], which: str) -> float:
    """The smallest c = N·ε²/(Hd|A|) from which on at least three runs in four are within ε/2; infinite if none is."""
    rungs = sorted({rung["c"] for run in runs for rung in run["rungs"]}, reverse=True)
    found = inf
    for c in rungs:
        succeeded = sum(
            rung[which] <= run["within"] for run in runs for rung in run["rungs"] if rung["c"] == c
        )
        if succeeded < SUCCESS * len(runs):
            break
        found = float(c)
    return found


def needed_interval(runs: Sequence[Row], which: str) -> tuple[float, float, float]:
    """`needed` between the ends of its 95 % bootstrap interval over the seeds: low, itself, high."""
    rng = np.random.default_rng(0)
    drawn = [
        needed([runs[i] for i in rng.integers(len(runs), size=len(runs))], which) for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    return float(low), needed(runs, which), float(high)


def _by_point(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """The runs of every algorithm and point."""
    return {
        (name, point): [run for run in runs if run["point"] == point]
        for name, runs in grouped(rows).items()
        for point in POINTS
    }


def lower_bound_table(rows: Sequence[Row]) -> str:
    points = _by_point(rows)
    lines = []
    for name in grouped(rows):
        for which, label in (("last_gap", name), ("gap", f"{name}, mixture")):
            if which == "gap" and name in REWARD_FREE:
                continue
            lines.append([label, *(_cell(points[name, point], which) for point in POINTS)])
    seeds = len({row["seed"] for row in rows})
    return (
        "## N·ε²/(Hd|A|) on the lower-bound instance\n\n"
        "The smallest rung of the ladder N = 1/32, 1/16, …, 1 times Hd|A|/ε² from which on three in four of "
        f"{seeds} random secrets are found: the policy after N episodes (the last, or the mixture) is within ε/2. "
        "In brackets the 95 % bootstrap interval over the secrets. Base: H = 2, d = 6, |A| = 3, ε = 0.2.\n\n"
        + markdown_table(["algorithm", *POINTS], lines)
    )


def _cell(runs: Sequence[Row], which: str) -> str:
    if not runs:
        return "missing"
    if "refused" in runs[0]:
        return "refused (η_min = 0)"
    low, middle, high = (_share_text(value, runs) for value in needed_interval(runs, which))
    return middle if low == high else f"{middle} [{low}–{high}]"


def _share_text(c: float, runs: Sequence[Row]) -> str:
    if c == inf:
        return f">{max(rung['c'] for run in runs for rung in run['rungs']):g}"
    return f"{c:g}" if c >= 1 else f"1/{1 / c:g}"


def lower_bound_figure(rows: Sequence[Row], path: Path) -> Path:
    """A panel an algorithm: what each factor, doubled or tripled, does to N·ε²/(Hd|A|); flat is optimal."""
    pyplot = drawing()
    points = _by_point(rows)
    names = list(grouped(rows))
    columns = -(-len(names) // 2)
    size = max(9.0, 2.8 * columns), 6.4
    figure, axes = pyplot.subplots(
        2, columns, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    top = max((rung["c"] for row in rows for rung in row.get("rungs", ())), default=1.0)
    for axis, name in zip(axes.flat, names, strict=False):
        for place, point in enumerate(POINTS):
            _draw_point(axis, place, points[name, point], top, planned=name in REWARD_FREE)
        axis.axhline(1.0, color="0.5", linewidth=0.8, linestyle=":")
        axis.set_yscale("log", base=2)
        axis.set(xlim=(-0.5, len(POINTS) - 0.5), ylim=(1 / 64, 3 * top))
        axis.set_title(name, fontsize="medium")
        axis.set_xticks(range(len(POINTS)), POINTS, fontsize="small")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    for axis in list(axes.flat)[len(names) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("N · ε²/(Hd|A|)")
    marks = [axes[0, 0].plot([], [], shape, color=colour)[0] for shape, colour in LEGEND.values()]
    figure.legend(
        marks, LEGEND, frameon=False, fontsize="small", loc="outside lower center", ncols=len(LEGEND)
    )
    seeds = len({row["seed"] for row in rows})
    figure.suptitle(
        "lower-bound: episodes N until 3 of 4 secrets are found, over Hd|A|/ε²\n"
        f"{seeds} secrets a point, bars: 95 % bootstrap intervals",
        fontsize="medium",
    )
    return save(figure, path)


def _draw_point(axis: Any, place: int, runs: Sequence[Row], top: float, *, planned: bool) -> None:
    """The last policy and the mixture at one point of one algorithm, or the one policy it plans."""
    if not runs or "refused" in runs[0]:
        why = "refused" if runs else "missing"
        middle = axis.get_xaxis_transform()
        axis.text(place, 0.5, why, transform=middle, rotation=90, ha="center", va="center")
        return
    shown = [("last_gap", PALETTE[0], 0.0 if planned else -0.12)]
    if not planned:
        shown.append(("gap", PALETTE[1], 0.12))
    for which, colour, shift in shown:
        low, middle, high = (min(c, 2 * top) for c in needed_interval(runs, which))
        axis.vlines(place + shift, low, high, color=colour)
        axis.plot(place + shift, middle, "^" if middle > top else "o", color=colour)
