"""One style for every figure, and one way to write it: as PNG and SVG, the same rows giving the same bytes."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

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


class Picture(Figure):
    """A figure of matplotlib's that a notebook shows by itself; pyplot has no part in it, nor has its backend."""

    def svg(self) -> str:
        """The figure as SVG."""
        text = io.StringIO()
        with matplotlib.rc_context(STYLE):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()[text.getvalue().index("<svg") :]

    _repr_svg_ = svg

    def write(self, path: Path) -> None:
        """The figure as PNG and, beside it, as SVG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(STYLE):
            self.savefig(path, metadata={"Software": None})
            self.savefig(path.with_suffix(".svg"), metadata={"Date": None})


@contextmanager
def picture(
    rows: int = 1, columns: int = 1, *, size: tuple[int | float, int | float], title: str = "", **axes: Any
) -> Iterator[tuple[Picture, Any]]:
    """A figure in our style and its axes, as `subplots` gives them, to draw on while the block runs."""
    with matplotlib.rc_context(STYLE):
        drawn = Picture(figsize=size, layout="constrained")
        if title:
            drawn.suptitle(title)
        yield drawn, drawn.subplots(rows, columns, **axes)


@contextmanager
def figure(path: Path, rows: int = 1, columns: int = 1, **how: Any) -> Iterator[Any]:
    """The axes of a picture to draw on; it is written when the block ends."""
    with picture(rows, columns, **how) as (drawn, axes):
        yield axes
        drawn.write(path)


def own_ticks(axis: Any, values: Sequence[int | float]) -> None:
    """Ticks at these values alone: a logarithmic axis of one decade has no round ones."""
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.set_xticks([], minor=True)


def quartile_bars(axis: Any, x: Any, quartiles: Any, **style: Any) -> None:
    """Medians with bars from the lower to the upper quartile, given as lines (low, middle, high)."""
    low, middle, high = quartiles
    axis.errorbar(x, middle, yerr=[middle - low, high - middle], capsize=2, **style)
