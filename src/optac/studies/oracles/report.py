"""The report of `optac reproduce oracles`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optac.report.comparison import PALETTE, drawing, markdown_table, save
from optac.report.reproduction import log_slope, report_file

Row = Mapping[str, Any]


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md with its tables, and oracles.png/.svg."""
    kinds = {
        kind: [row for row in rows if row["kind"] == kind] for kind in ("convexity", "growth", "covering")
    }
    sections = [
        _convexity(kinds["convexity"]),
        _covering(kinds["covering"]),
        _growth(kinds["growth"]),
    ]
    if all(kinds.values()):
        _figure(kinds, path / "oracles.png")
        sections.append("![The hierarchy of oracles](oracles.png)\n")
    return report_file(
        path,
        "The hierarchy of oracles, measured",
        sections,
        done=len(rows),
        total=total,
        command="optac reproduce oracles",
    )


def _by(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return dict(sorted(groups.items()))


def _convexity(rows: Sequence[Row]) -> str:
    lines = []
    for horizon, runs in _by(rows, "horizon").items():
        pairs = sum(run["pairs"] for run in runs)
        lines.append(
            [
                str(horizon),
                f"{max(run['hessian_change'] for run in runs):.0e}",
                f"{min(run['smallest_eigenvalue'] for run in runs):.3g}",
                f"{np.median([run['condition'] for run in runs]):,.0f}",
                f"{np.median([run['stage_condition'] for run in runs]):.1f}",
                f"{sum(run['violations']['PE'] for run in runs)} of {pairs:,}",
                f"{sum(run['violations']['PP'] for run in runs)} of {pairs:,}",
            ]
        )
    columns = [
        "H",
        "PE Hessian: largest relative change between two points",
        "its smallest eigenvalue",
        "its condition number (median)",
        "worst stage's condition number",
        "PE midpoint violations",
        "PP midpoint violations",
    ]
    return "## PE's joint loss is convex and smooth, PP's is not\n\n" + markdown_table(columns, lines)


def _covering(rows: Sequence[Row]) -> str:
    lines = [
        [
            str(row["dimension"]),
            f"{row['filtered']:,}",
            f"{row['passed']:,}",
            f"{row['SL']:,}",
            f"{row['time/call']:.3f}",
        ]
        for row in sorted(rows, key=lambda row: row["dimension"])
    ]
    table = markdown_table(["d", "models filtered", "models planned in", "SL calls", "seconds"], lines)
    fitted = ""
    if len(rows) > 1:
        dimension = [row["dimension"] for row in rows]
        for what, name in (("filtered", "models"), ("SL", "SL calls")):
            slope = float(np.polyfit(dimension, np.log2([row[what] for row in rows]), 1)[0])
            fitted += f"log₂({name}) against d: slope {slope:.2f}; log₂ g = {np.log2(rows[0]['grid']):.2f}. "
    return "## One CP call over a grid of g points a parameter\n\n" + table + "\n" + fitted + "\n"


def _growth(rows: Sequence[Row]) -> str:
    lines = []
    for actions, group in _by(rows, "actions").items():
        for horizon, runs in _by(group, "horizon").items():
            middle = {name: np.median([run["growth"][name] for run in runs]) for name in runs[0]["growth"]}
            bound = {name: np.median([run["bound"][name] for run in runs]) for name in ("PE", "PP")}
            lines.append(
                [
                    f"{actions}, {horizon}",
                    *(f"{middle[name]:.1f}" for name in ("PE random", "PE constant")),
                    f"{bound['PE']:.3g}",
                    *(f"{middle[name]:.1f}" for name in ("PP random", "PP constant")),
                    f"{bound['PP']:.3g}",
                ]
            )
    columns = [
        "|A|, H",
        "PE, random errors",
        "PE, constant errors",
        "PE bound",
        "PP, random errors",
        "PP, constant errors",
        "PP bound",
    ]
    return (
        "## How much an error of every stage grows: max_h E_ρ|Q̂_h − Q_h| over the stage's error\n\n"
        + markdown_table(columns, lines)
    )


def _figure(kinds: Mapping[str, Sequence[Row]], path: Path) -> Path:
    pyplot = drawing()
    figure, (conditions, calls, growth) = pyplot.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    by_horizon = _by(kinds["convexity"], "horizon")
    horizons = list(by_horizon)
    for name, label, colour in (
        ("condition", "joint loss of PE", PALETTE[0]),
        ("stage_condition", "worst single stage", PALETTE[1]),
    ):
        values = np.array([[run[name] for run in runs] for runs in by_horizon.values()])
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=1)
        conditions.errorbar(
            horizons, middle, yerr=[middle - low, high - middle], color=colour, marker="o", label=label
        )
    slope = log_slope(
        horizons, [float(np.median([run["condition"] for run in runs])) for runs in by_horizon.values()]
    )
    conditions.set(
        xscale="log",
        yscale="log",
        xlabel="horizon H",
        ylabel="condition number of the Hessian",
        title=f"PE: one convex problem, condition ∝ H^{slope:.1f}",
    )
    covering = sorted(kinds["covering"], key=lambda row: row["dimension"])
    dimension = [row["dimension"] for row in covering]
    calls.plot(
        dimension, [row["SL"] for row in covering], "o-", color=PALETTE[3], label="SL calls of one CP call"
    )
    calls.plot(
        dimension, [row["grid"] ** row["dimension"] for row in covering], "--", color="0.5", label="gᵈ, g = 4"
    )
    calls.set(yscale="log", xlabel="parameters d", ylabel="SL calls", title="CP by covering: gᵈ models")
    actions = max(row["actions"] for row in kinds["growth"])
    groups = _by([row for row in kinds["growth"] if row["actions"] == actions], "horizon")
    for name, colour, size in (("PE constant", PALETTE[0], 9), ("PP constant", PALETTE[1], 4)):
        middle = [float(np.median([run["growth"][name] for run in runs])) for runs in groups.values()]
        growth.plot(
            list(groups),
            middle,
            "o-",
            color=colour,
            markersize=size,
            linewidth=size / 3,
            label=f"{name.split()[0]}, measured (worst sign)",
        )
        bound = [
            float(np.median([run["bound"][name.split()[0]] for run in runs])) for runs in groups.values()
        ]
        growth.plot(list(groups), bound, "--", color=colour, label=f"{name.split()[0]}, bound")
    growth.set(
        xscale="log",
        yscale="log",
        xlabel="horizon H",
        ylabel="error at a step / error of a stage",
        title=f"Error growth, |A| = {actions}",
    )
    for axis in (conditions, growth):
        axis.set_xticks(horizons, [str(horizon) for horizon in horizons])
        axis.set_xticks([], minor=True)
    for axis in (conditions, calls, growth):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
        axis.legend(frameon=False, fontsize="small")
    seeds = len(next(iter(by_horizon.values())))
    figure.suptitle(
        f"Random low-rank problems (S = 10, d = 3): median over {seeds} instances; bars: interquartile range",
        fontsize="medium",
    )
    return save(figure, path)
