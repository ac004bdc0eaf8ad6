"""Figures of gaps against what they cost. Takes rows, draws with matplotlib, writes PNG and SVG."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def gap_figure(
    histories: Mapping[str, Sequence[Mapping[str, Any]]],
    path: Path,
    *,
    title: str,
    trivial_gap: float,
    trivial_label: str,
) -> Path:
    """The gap against episodes, one colour an algorithm: the last policy solid, the mixture dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for (name, rows), colour in zip(histories.items(), COLOURS, strict=False):
        episodes = [row["episodes"] for row in rows]
        axes.plot(episodes, [row["last_gap"] for row in rows], color=colour, label=f"{name}, last policy")
        mixture = [row["gap"] for row in rows]
        axes.plot(episodes, mixture, color=colour, linestyle="--", alpha=0.7, label=f"{name}, mixture")
    axes.axhline(trivial_gap, color="0.5", linewidth=0.8, linestyle=":", label=trivial_label)
    axes.set(xlabel="episodes played", ylabel="gap  V* − V(policy), exact", ylim=(-0.03, None), title=title)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    figure.savefig(path.with_suffix(".svg"))
    pyplot.close(figure)
    return path
