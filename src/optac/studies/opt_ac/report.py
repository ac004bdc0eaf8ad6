"""The tables and the figure of the study of Opt-AC, from its rows alone."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from optac.report.comparison import drawing, save
from optac.report.curves import COLOURS
from optac.report.reproduction import report_file

Row = dict[str, Any]
RESAMPLES = 20_000
FIRST_FITTED_FRACTION = 0.1


def write_report(rows: Sequence[Row], total: int, path: Path) -> Path:
    """report.md and gap-against-k.png/.svg."""
    sections = [
        "## Solved\n",
        solved_table(rows),
        "\n## The mixture's gap against K\n",
        slope_table(rows),
        "\n## The certificate\n",
        certificate_table(rows),
    ]
    if any(row["study"] == "solved" for row in rows):
        mixture_figure(rows, path / "gap-against-k.png")
        sections.append("\n![gap against K](gap-against-k.png)\n")
    return report_file(
        path,
        "Opt-AC on every family",
        sections,
        done=len(rows),
        total=total,
        command="optac reproduce opt-ac",
    )


def solved_table(rows: Sequence[Row]) -> str:
    """Episodes until the last policy's gap is at most the target and stays there, over the seeds."""
    lines = [
        "| problem | algorithm | solved | episodes, median (least–most) | budget | target gap | last gap, worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for (problem, algorithm), runs in _groups([row for row in rows if row["study"] == "solved"]).items():
        solved = sorted(run["solved_for_good"] for run in runs if run["solved_for_good"] is not None)
        episodes = f"{median(solved):,.0f} ({solved[0]:,}–{solved[-1]:,})" if solved else "—"
        worst = max(run["last_gap"] for run in runs)
        target = max(run["target_gap"] for run in runs)
        lines.append(
            f"| {problem} | {algorithm} | {len(solved)} of {len(runs)} | {episodes} | {runs[0]['episodes']:,} "
            f"| {target:.3g} | {worst:.2g} |"
        )
    return "\n".join(lines)


def slope_table(rows: Sequence[Row]) -> str:
    """The log-log slope of the mixture's gap in K from a tenth of K on, with its 95 % bootstrap interval over seeds."""
    lines = ["| problem | seeds | K | slope | 95 % interval |", "|---|---|---|---|---|"]
    chosen = [row for row in rows if row["study"] == "solved" and row["algorithm"] == "opt-ac"]
    for (problem, _), runs in _groups(chosen).items():
        slopes = [_slope(run["curve"]) for run in runs]
        low, high = _interval(slopes)
        interval = f"[{low:.2f}, {high:.2f}]" if len(slopes) > 2 else "fewer than 3 seeds"
        last = runs[0]["curve"][-1][0]
        lines.append(f"| {problem} | {len(slopes)} | {last:,} | {np.mean(slopes):.2f} | {interval} |")
    return "\n".join(lines)


def certificate_table(rows: Sequence[Row]) -> str:
    """How often the certificate spoke, how often it held when it did, and how loose it was; medians over seeds."""
    lines = [
        "| preset | problem | episodes | seeds | spoke | held | certificate | gap | certificate/gap |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["study"] == "certificate":
            parameters = {name: value for name, value in row["parameters"].items() if name != "seed"}
            changed = f" ({_words(row['settings'])})" if row["settings"] else ""
            groups[row["preset"] + changed, f"{row['problem']} {_words(parameters)}"].append(row)
    for (preset, problem), runs in groups.items():
        spoke = [run for run in runs if run["certificate"] is not None]
        held = sum(run["certificate"] >= run["gap"] for run in spoke)
        bounds = f"{median(run['certificate'] for run in spoke):.3f}" if spoke else "—"
        ratio = f"{median(run['certificate'] / run['gap'] for run in spoke):.2f}" if spoke else "—"
        gap = median(run["gap"] for run in runs)
        lines.append(
            f"| {preset} | {problem}, an instance a seed | {runs[0]['episodes']:,} | {len(runs)} | {len(spoke)} "
            f"| {held} of {len(spoke)} | {bounds} | {gap:.3f} | {ratio} |"
        )
    return "\n".join(lines)


def mixture_figure(rows: Sequence[Row], path: Path) -> None:
    """The mixture's gap against K, both axes logarithmic, a line a seed, beside the theorem's K^−½."""
    pyplot = drawing()
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    chosen = [row for row in rows if row["study"] == "solved" and row["algorithm"] == "opt-ac"]
    colours = [*COLOURS, "#882255", "#999933", "#44AA99"]
    for ((problem, _), runs), colour in zip(_groups(chosen).items(), colours, strict=False):
        for i, run in enumerate(runs):
            k, gap = np.array(run["curve"]).T
            axes.loglog(k, gap / run["uniform_gap"], color=colour, alpha=0.5, label=None if i else problem)
    guide = np.array([10.0, 5000.0])
    axes.loglog(guide, 3 * guide**-0.5, color="0.3", linestyle="--", label="K^−½, the theorem's rate")
    axes.set(xlabel="iterations K", ylabel="gap of the mixture / gap of uniform play", ylim=(1e-3, 2))
    axes.set_title("Opt-AC, practical preset: a line a seed")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, which="major")
    axes.legend(frameon=False, fontsize=7, loc="lower left")
    save(figure, path)


def _groups(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by problem and algorithm, in the order they came."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[f"{row['problem']} {_words(row['parameters'])}".strip(), row["algorithm"]].append(row)
    return groups


def _words(parameters: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def _slope(curve: Sequence[Sequence[int | float]]) -> float:
    k, gap = np.array(curve).T
    fitted = (k >= FIRST_FITTED_FRACTION * k[-1]) & (gap > 0)
    return float(np.polyfit(np.log(k[fitted]), np.log(gap[fitted]), 1)[0])


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean, seeded."""
    drawn = np.random.default_rng(0).choice(np.asarray(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
