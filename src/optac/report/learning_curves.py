"""Figures of return against steps, from the rows of training runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optac.report.curves import COLOURS

Rows = Sequence[Mapping[str, Any]]

_MOST_IN_AXES = 3
"""A longer legend stands below the axes, where it hides no curve."""


def learning_curves(runs: Mapping[str, Sequence[Rows]], path: Path, *, title: str) -> Path:
    """The evaluations of each agent's seeds as thin lines, their mean thick where all have come so far.

    `runs` maps an agent to the rows of its runs, one a seed. Writes PNG and SVG.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for (name, seeds), colour in zip(runs.items(), COLOURS, strict=False):
        curves = [evaluations(rows) for rows in seeds]
        for curve in curves:
            axes.plot(list(curve), list(curve.values()), color=colour, linewidth=0.8, alpha=0.6)
        shared = sorted(set.intersection(*(set(curve) for curve in curves)))
        mean = [sum(curve[step] for curve in curves) / len(curves) for step in shared]
        axes.plot(shared, mean, color=colour, linewidth=2.2, label=f"{name} ({_seeds(len(curves))})")
    axes.set(xlabel="steps", ylabel="return of an episode, deterministic policy", title=title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    if len(runs) > _MOST_IN_AXES:
        figure.legend(loc="outside lower center", frameon=False, ncols=2, fontsize="small")
    else:
        axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"))
    pyplot.close(figure)
    return path


def _seeds(count: int) -> str:
    return f"{count} seed" if count == 1 else f"{count} seeds"


def evaluations(rows: Rows) -> dict[int, float]:
    """Step → mean return, of the rows that hold an evaluation."""
    return {
        int(row["time/total_timesteps"]): float(row["eval/mean_reward"])
        for row in rows
        if "eval/mean_reward" in row
    }


def last_evaluations(rows: Rows, count: int = 3) -> float:
    """The mean of the last `count` evaluations: what a run came to, with less of one evaluation's luck."""
    last = list(evaluations(rows).values())[-count:]
    return sum(last) / len(last)
