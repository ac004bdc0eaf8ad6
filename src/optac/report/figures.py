"""One style for every figure, and one way to write it: as PNG and SVG, the same rows giving the same bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, told apart by colour-blind readers, then four of Tol's.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
    *("#999999", "#882255", "#999933", "#44AA99"),
)
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.fontsize": "small",
    "figure.titlesize": "medium",
    "savefig.dpi": 130,
    "svg.hashsalt": "optac",
}


@contextmanager
def figure(
    path: Path,
    rows: int = 1,
    columns: int = 1,
    *,
    size: tuple[int | float, int | float],
    title: str = "",
    **axes: Any,
) -> Iterator[Any]:
    """The axes to draw on, as `pyplot.subplots` gives them; the figure is written when the block ends."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        drawn, there = pyplot.subplots(rows, columns, figsize=size, layout="constrained", **axes)
        try:
            if title:
                drawn.suptitle(title)
            yield there
            path.parent.mkdir(parents=True, exist_ok=True)
            drawn.savefig(path, metadata={"Software": None})
            drawn.savefig(path.with_suffix(".svg"), metadata={"Date": None})
        finally:
            pyplot.close(drawn)


def own_ticks(axis: Any, values: Sequence[int | float]) -> None:
    """Ticks at these values alone: a logarithmic axis of one decade has no round ones."""
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.set_xticks([], minor=True)


def quartile_bars(axis: Any, x: Any, quartiles: Any, **style: Any) -> None:
    """Medians with bars from the lower to the upper quartile, given as lines (low, middle, high)."""
    low, middle, high = quartiles
    axis.errorbar(x, middle, yerr=[middle - low, high - middle], capsize=2, **style)
