"""The table and the figure of a comparison, from its rows alone: medians and interquartile ranges over seeds.

A run that never came within ε is censored: it counts as later than every other, and a median that falls on one is
written as more than its budget.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from optac.report.curves import COLOURS
from optac.report.terminal import show_table

Row = Mapping[str, Any]
Number = int | float
MARKERS = "osD^vPX*h"
PALETTE = (*COLOURS, "#999999", "#882255")


def grouped(rows: Sequence[Row], key: str = "algorithm") -> dict[str, list[Row]]:
    """Rows by a key, in the order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row[key]), []).append(row)
    return groups


def quartiles(values: Sequence[Number]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile by order statistics, which infinite (censored) values do not upset."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    return float(low), float(middle), float(high)


def reached(row: Row, which: str, read: Callable[[Row], Number]) -> float:
    """A number at the point where the policy (`last` or `mixture`) first came within ε; infinite if it never did."""
    return inf if row[which] is None else float(read(row[which]))


def cell(values: Sequence[Number], *, limit: Number | None = None, digits: int | None = None) -> str:
    """`median [lower–upper]`, with how many were censored; a censored quartile is written as more than the limit."""
    low, middle, high = quartiles(values)
    over = ">" if limit is None else f">{limit:,.0f}"

    def spelt(value: Number) -> str:
        if value == inf:
            return over
        return f"{value:.{digits}f}" if digits is not None else f"{value:,.0f}"

    censored = sum(value == inf for value in values)
    note = f" ({len(values) - censored}/{len(values)})" if censored else ""
    if low == high:
        return spelt(middle) + note
    return f"{spelt(middle)} [{spelt(low)}–{spelt(high)}]{note}"


def comparison_table(rows: Sequence[Row], epsilon: float, episodes: int) -> tuple[list[str], list[list[str]]]:
    """Columns and lines: episodes to ε, final gap, the bill there (at the end where ε was not reached), seconds."""
    columns = [
        "algorithm",
        f"episodes to ε={epsilon:g}, last policy",
        "mixture",
        "final gap",
        "last gap",
        "SL",
        "PE",
        "PP",
        "CP",
        "seconds",
    ]
    lines = []
    for name, runs in grouped(rows).items():
        ladder = runs[0]["ladder"]
        bills = [(run["last"] or run)["bill"] for run in runs]
        seconds = [(run["last"] or run)["time/run"] for run in runs]
        lines.append(
            [
                name + (" *" if ladder else ""),
                cell([reached(run, "last", lambda at: at["episodes"]) for run in runs], limit=episodes),
                "—"
                if ladder
                else cell(
                    [reached(run, "mixture", lambda at: at["episodes"]) for run in runs], limit=episodes
                ),
                cell([run["gap"] for run in runs], digits=3),
                cell([run["last_gap"] for run in runs], digits=3),
                *(cell([bill[oracle] for bill in bills]) for oracle in ("SL", "PE", "PP", "CP")),
                cell(seconds, digits=2),
            ]
        )
    return columns, lines


LADDER_COLUMNS = ["algorithm", "rung", "episodes", "gap", "SL", "seconds", "within ε"]


def ladder_table(rows: Sequence[Row], epsilon: float) -> list[list[str]]:
    """A line a rung of every explore-then-commit algorithm: what a run of that budget returned."""
    lines = []
    for name, runs in grouped([row for row in rows if row["ladder"]]).items():
        for rung in range(max(len(run["curve"]) for run in runs)):
            points = [run["curve"][rung] for run in runs if rung < len(run["curve"])]
            episodes, gaps, _, calls, seconds = zip(*points, strict=True)
            lines.append(
                [
                    name,
                    str(rung + 1),
                    cell(episodes),
                    cell(gaps, digits=3),
                    cell(calls),
                    cell(seconds, digits=2),
                    f"{sum(gap <= epsilon for gap in gaps)}/{len(gaps)}",
                ]
            )
    return lines


TABLE_NOTES = (
    "median [interquartile range] over seeds, of two middle ones the lower; "
    "(k/n): only k of n runs came within ε, the others are censored; "
    "the bill and the seconds are those up to ε for the last policy, else of the whole run",
    "* explores, then commits: a ladder of budgets n, 2n, 4n, …; the episodes are those of the first rung within ε",
)


def markdown_table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """The table in Markdown, where a bar inside a cell has to be escaped."""
    ruler = ["---"] + ["---:"] * (len(columns) - 1)
    escaped = [[text.replace("|", "\\|") for text in line] for line in (columns, ruler, *lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped) + "\n"


def comparison_figure(rows: Sequence[Row], path: Path, *, title: str, epsilon: float) -> Path:
    """The gap against episodes, SL calls and seconds: median and interquartile band over seeds.

    Anytime algorithms are lines (solid: the mixture returned; dashed: the last policy), ladders are points.
    """
    pyplot = drawing()
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.8), sharey=True, layout="constrained")
    groups = grouped(rows)
    for index, (name, runs) in enumerate(groups.items()):
        style = {"color": PALETTE[index % len(PALETTE)], "label": name}
        for axis, column in zip(axes, (0, 3, 4), strict=True):
            if runs[0]["ladder"]:
                _draw_ladder(axis, runs, column, MARKERS[index % len(MARKERS)], **style)
            else:
                _draw_curve(axis, runs, column, **style)
    for axis, label in zip(
        axes, ("episodes played", "SL calls paid", "seconds, the learner's own"), strict=True
    ):
        axis.axhline(epsilon, color="0.5", linewidth=0.8, linestyle=":", label=f"ε = {epsilon:g}")
        axis.set(xscale="log", xlabel=label)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[0].set(ylabel="gap  V* − V(policy), exact", ylim=(-0.03, None))
    axes[2].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    seeds = max(len(runs) for runs in groups.values())
    figure.suptitle(
        f"{title}: median and interquartile range over {seeds} seeds\n"
        "lines: the mixture (solid) and the last policy (dashed); points: budgets of explore-then-commit runs",
        fontsize="medium",
    )
    return save(figure, path)


def show_comparison(
    rows: Sequence[Row],
    path: Path,
    *,
    title: str,
    epsilon: float,
    episodes: int,
    left_out: Mapping[str, str],
    quiet: bool,
) -> dict[str, Any]:
    """Write table.md and gaps.png/.svg beside the rows and, unless quiet, print the table."""
    columns, lines = comparison_table(rows, epsilon, episodes)
    notes = [*TABLE_NOTES, *(f"{name} is left out: {why}" for name, why in left_out.items())]
    text = (
        f"# {title}\n\n{markdown_table(columns, lines)}\n" + "\n".join(f"- {note}" for note in notes) + "\n"
    )
    ladders = ladder_table(rows, epsilon)
    if ladders:
        text += f"\n## Explore, then commit: one row a rung\n\n{markdown_table(LADDER_COLUMNS, ladders)}"
    (path / "table.md").write_text(text, encoding="utf-8")
    figure = comparison_figure(rows, path / "gaps.png", title=title, epsilon=epsilon)
    if not quiet:
        show_table(title, columns, lines)
        if ladders:
            show_table("explore, then commit: one row a rung", LADDER_COLUMNS, ladders)
        print("\n".join(notes))
        print(f"written to {path}: table.md, {figure.name}, {figure.with_suffix('.svg').name}")
    return {
        "table": [dict(zip(columns, line, strict=True)) for line in lines],
        "ladders": [dict(zip(LADDER_COLUMNS, line, strict=True)) for line in ladders],
        "left_out": dict(left_out),
        "figure": str(figure),
    }


def drawing() -> Any:
    """matplotlib's pyplot without a display."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "optac"
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path) -> Path:
    """The figure as PNG and SVG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    drawing().close(figure)
    return path


def _draw_curve(axis: Any, runs: Sequence[Row], column: int, *, color: str, label: str) -> None:
    """Stepwise medians on a common grid: at x, a run stands where its last point at or before x stood.

    A run stands at its first point before it, and stays at its last: nothing more is played.
    """
    curves = [np.asarray(run["curve"], dtype=float) for run in runs]
    start = min(curve[0, column] for curve in curves)
    end = max(curve[-1, column] for curve in curves)
    grid = np.geomspace(max(start, 1e-3), max(end, start, 1e-3) * (1 + 1e-9), 120)
    for gap_column, line in ((1, "-"), (2, "--")):
        values = np.stack(
            [
                curve[np.searchsorted(curve[:, column], grid, side="right").clip(1) - 1, gap_column]
                for curve in curves
            ]
        )
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        axis.plot(
            grid,
            middle,
            line,
            color=color,
            label=label if line == "-" else None,
            linewidth=1.6 if line == "-" else 0.9,
        )
        if line == "-":
            axis.fill_between(grid, low, high, color=color, alpha=0.15, linewidth=0)


def _draw_ladder(axis: Any, runs: Sequence[Row], column: int, marker: str, *, color: str, label: str) -> None:
    """Median and interquartile bar of every rung."""
    rungs = min(len(run["curve"]) for run in runs)
    points = np.array([run["curve"][:rungs] for run in runs], dtype=float)
    low, middle, high = np.quantile(points[..., 1], [0.25, 0.5, 0.75], axis=0)
    where = np.median(points[..., column], axis=0)
    axis.errorbar(
        where,
        middle,
        yerr=[middle - low, high - middle],
        fmt=marker,
        markersize=7,
        markerfacecolor="none",
        markeredgewidth=1.4,
        color=color,
        label=label,
        capsize=2,
    )
