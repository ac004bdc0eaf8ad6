"""The figures of the study of rank: episodes until solved for good against S, and against d and |A|."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from optac.figures import COLOURS, figure, own_ticks, quartile_bars
from optac.report.comparison import episodes_to
from optac.report.tables import Row, column, grouped, quartiles
from optac.studies.rank.cells import CAP, LEARNERS

FLOOR = 4.6
"""visits of a latent, over the number of its ids, after which a given id is still unseen once in a hundred"""


def floor(states: int) -> float:
    """The fewest episodes of the lock in which every live latent is met 4.6 m times at every step: two are live."""
    return 2 * FLOOR * states / 3


def against_states(rows: Sequence[Row], path: Path) -> None:
    """Both axes logarithmic, the floor beneath."""
    seeds = len({row["seed"] for row in rows})
    title = f"observed-lock horizon=5 actions=4, rank 3: median and interquartile range, up to {seeds} seeds"
    with figure(path, size=(9, 5.2), title=title) as axis:
        places = _lines(axis, rows)
        floors = [floor(place) for place in places]
        axis.plot(places, floors, ":", color="0.3", label="floor without features")
        axis.plot([], [], "^", color="0.5", markersize=8, label=f"censored at {CAP:,}")
        axis.set(xlabel="states S = 3m", ylabel="episodes until solved for good")
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def against_rank_and_actions(ranks: Sequence[Row], actions: Sequence[Row], path: Path) -> None:
    """Side by side, on the same axis of episodes."""
    panels = (
        (ranks, "rank d", "problems of one's own, S = 60, |A| = 4, H = 5"),
        (actions, "actions |A|", "observed-lock horizon=4 observations=10"),
    )
    title = "Median and interquartile range over seeds, each with an instance of its own"
    with figure(path, 1, 2, size=(9, 4), title=title, sharey=True) as axes:
        for axis, (rows, label, said) in zip(axes, panels, strict=True):
            _lines(axis, rows)
            axis.set(xlabel=label)
            axis.set_title(said, fontsize="small")
        axes[0].set(ylabel="episodes until solved for good")
        axes[1].plot([], [], "^", color="0.5", markersize=8, label=f"censored at {CAP:,}")
        axes[1].legend(loc="upper left")


def _lines(axis: Any, rows: Sequence[Row]) -> list[int]:
    """One line a learner, a censored median as a triangle at the cap; the places they stand at."""
    groups, places = grouped(rows, "learner"), sorted(set(column(rows, "at")))
    for i, name in enumerate(LEARNERS):
        if name not in groups:
            continue
        points = dict(sorted(grouped(groups[name], "at").items()))
        at = np.array(list(points))
        bars = np.array([quartiles(episodes_to(runs, "last")) for runs in points.values()]).T
        line: Any = {"color": COLOURS[i % len(COLOURS)], "linestyle": "-" if "opt-ac" in name else "--"}
        quartile_bars(axis, at, np.minimum(bars, CAP), marker="o", markersize=4, label=name, **line)
        censored = bars[1] == inf
        axis.plot(at[censored], np.full(censored.sum(), CAP), "^", color=line["color"], markersize=8)
    axis.set(xscale="log", yscale="log")
    own_ticks(axis, places)
    return places
