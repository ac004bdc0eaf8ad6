"""The report of `optac reproduce oracles`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from optac.figures import COLOURS, figure, own_ticks, quartile_bars
from optac.report.statistics import log_slope
from optac.report.tables import Row, column, grouped, markdown_table
from optac.studies.study import drawn


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """Three tables, and oracles.png/.svg."""
    names = ("convexity", "covering", "growth")
    kinds = {name: [row for row in rows if row["kind"] == name] for name in names}
    return [
        _convexity(kinds["convexity"]),
        _covering(kinds["covering"]),
        _growth(kinds["growth"]),
        *drawn(_figure, all(kinds.values()) and kinds, path / "oracles.png", "The hierarchy of oracles"),
    ]


def _by(rows: Sequence[Row], *keys: str) -> dict[Any, list[Row]]:
    return dict(sorted(grouped(rows, *keys).items()))


def _convexity(rows: Sequence[Row]) -> str:
    lines = []
    for horizon, runs in _by(rows, "horizon").items():
        pairs = sum(column(runs, "pairs"))
        violations = [sum(run["violations"][oracle] for run in runs) for oracle in ("PE", "PP")]
        lines.append(
            [
                horizon,
                f"{max(column(runs, 'hessian_change')):.0e}",
                f"{min(column(runs, 'smallest_eigenvalue')):.3g}",
                f"{median(column(runs, 'condition')):,.0f}",
                f"{median(column(runs, 'stage_condition')):.1f}",
                *(f"{count} of {pairs:,}" for count in violations),
            ]
        )
    columns = ["H", "PE Hessian: largest relative change between two points", "its smallest eigenvalue"]
    columns += ["its condition number (median)", "worst stage's condition number"]
    columns += ["PE midpoint violations", "PP midpoint violations"]
    return "## PE's joint loss is convex and smooth, PP's is not\n\n" + markdown_table(columns, lines)


def _covering(rows: Sequence[Row]) -> str:
    rows = sorted(rows, key=lambda row: row["dimension"])
    lines = []
    for row in rows:
        counts = [f"{row[name]:,}" for name in ("filtered", "passed", "SL")]
        lines.append([row["dimension"], *counts, f"{row['time/call']:.3f}"])
    table = markdown_table(["d", "models filtered", "models planned in", "SL calls", "seconds"], lines)
    fitted = ""
    if len(rows) > 1:
        for what, name in (("filtered", "models"), ("SL", "SL calls")):
            slope = log_slope(2.0 ** np.array(column(rows, "dimension")), column(rows, what))
            fitted += f"log₂({name}) against d: slope {slope:.2f}; log₂ g = {np.log2(rows[0]['grid']):.2f}. "
    return f"## One CP call over a grid of g points per parameter\n\n{table}\n{fitted}\n"


def _growth(rows: Sequence[Row]) -> str:
    lines = []
    for (actions, horizon), runs in _by(rows, "actions", "horizon").items():
        line = [f"{actions}, {horizon}"]
        for oracle in ("PE", "PP"):
            for kind in ("random", "constant"):
                grown = [run["growth"][f"{oracle} {kind}"] for run in runs]
                line.append(f"{median(grown):.1f}")
            line.append(f"{median(run['bound'][oracle] for run in runs):.3g}")
        lines.append(line)
    kinds = ("random errors", "constant errors", "bound")
    columns = [
        f"{oracle}{' ' if kind == 'bound' else ', '}{kind}" for oracle in ("PE", "PP") for kind in kinds
    ]
    return (
        "## How much an error of every stage grows: max_h E_ρ|Q̂_h − Q_h| over the stage's error\n\n"
        + markdown_table(["|A|, H", *columns], lines)
    )


def _figure(kinds: Mapping[str, Sequence[Row]], path: Path) -> None:
    horizons = _by(kinds["convexity"], "horizon")
    title = (
        f"Random low-rank problems (S = 10, d = 3): median over {len(next(iter(horizons.values())))} instances; "
        "bars: interquartile range"
    )
    with figure(path, 1, 3, size=(14, 4.4), title=title) as axes:
        _draw_conditions(axes[0], horizons)
        _draw_calls(axes[1], sorted(kinds["covering"], key=lambda row: row["dimension"]))
        _draw_growth(axes[2], kinds["growth"])
        for axis in (axes[0], axes[2]):
            axis.set(xscale="log", yscale="log", xlabel="horizon H")
            own_ticks(axis, list(horizons))
        for axis in axes:
            axis.legend()


def _draw_conditions(axis: Any, horizons: Mapping[int, Sequence[Row]]) -> None:
    labels = {"condition": "joint loss of PE", "stage_condition": "worst single stage"}
    for (name, label), colour in zip(labels.items(), COLOURS, strict=False):
        values = np.array([column(runs, name) for runs in horizons.values()])
        bars = np.quantile(values, [0.25, 0.5, 0.75], axis=1)
        quartile_bars(axis, list(horizons), bars, color=colour, marker="o", label=label)
    medians = [median(column(runs, "condition")) for runs in horizons.values()]
    slope = log_slope(list(horizons), medians)
    title = f"PE: one convex problem, condition ∝ H^{slope:.1f}"
    axis.set(ylabel="condition number of the Hessian", title=title)


def _draw_calls(axis: Any, rows: Sequence[Row]) -> None:
    d, grid = column(rows, "dimension"), rows[0]["grid"]
    axis.plot(d, column(rows, "SL"), "o-", color=COLOURS[3], label="SL calls of one CP call")
    axis.plot(d, [grid**size for size in d], "--", color="0.5", label=f"gᵈ, g = {grid}")
    axis.set(yscale="log", xlabel="parameters d", ylabel="SL calls", title="CP by covering: gᵈ models")


def _draw_growth(axis: Any, rows: Sequence[Row]) -> None:
    actions = max(column(rows, "actions"))
    groups = _by([row for row in rows if row["actions"] == actions], "horizon")
    for oracle, colour, size in (("PE", COLOURS[0], 9), ("PP", COLOURS[1], 4)):
        middle = [median(run["growth"][f"{oracle} constant"] for run in runs) for runs in groups.values()]
        bound = [median(run["bound"][oracle] for run in runs) for runs in groups.values()]
        style = {"color": colour, "markersize": size, "linewidth": size / 3}
        axis.plot(list(groups), middle, "o-", label=f"{oracle}, measured (worst sign)", **style)
        axis.plot(list(groups), bound, "--", color=colour, label=f"{oracle}, bound")
    axis.set(ylabel="error at a step / error of a stage", title=f"Error growth, |A| = {actions}")
