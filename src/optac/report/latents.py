"""Learnt latents beside the true ones: of a solve that sees observations only, a small grid for every step."""

from collections.abc import Sequence

from optac.report.markup import Markup, element, joined, scrolling
from optac.report.recorded_runs import Confusion, ProvableRun

CELL, GAP, TITLE = 12, 16, 14
ACROSS = 640
"""pixels after which the next step begins a new line"""


def latents_section(runs: Sequence[ProvableRun]) -> Markup:
    """A figure for every run that says how its latents lie beside the true ones."""
    about = (
        "A grid a step: a row for every true latent, a column for every learnt one. The darker a cell, the more of "
        "that latent’s observations are decoded as that column: one dark cell a row, in columns of their own, is a "
        "latent that was found. Two rows that share a column are taken for one. Steps that the "
        "learner has not reached, or whose latents differ in nothing that matters, stay together."
    )
    figures = [
        element(
            "figure",
            scrolling(confusion_svg(run.confusion), f"latents of {run.algorithm} on {run.problem}"),
            element(
                "figcaption", f"{run.algorithm} on {run.problem}, seed {run.seed}, gap {run.last_gap:.3f}"
            ),
        )
        for run in runs
    ]
    return joined(element("p", about), *figures)


def confusion_svg(steps: Confusion) -> Markup:
    """The grids of all steps, line by line."""
    drawn: list[Markup] = []
    x, y, tallest, widest = 0, 0, 0, 0
    for h, rows in enumerate(steps):
        order = sorted(range(len(rows[0])), key=lambda k: max(range(len(rows)), key=lambda z: rows[z][k]))
        width, height = CELL * len(order), TITLE + CELL * len(rows)
        if x and x + width > ACROSS:
            x, y, tallest = 0, y + tallest + GAP, 0
        drawn.append(element("text", str(h + 1), x=x, y=y + TITLE - 4, font_size=10, fill="currentColor"))
        for z, row in enumerate(rows):
            for place, k in enumerate(order):
                told = element("title", f"step {h + 1}, latent {z}: {row[k]:.2f} to {k}")
                at = {"x": x + CELL * place, "y": y + TITLE + CELL * z, "width": CELL, "height": CELL}
                drawn.append(
                    element(
                        "rect", told, **at, fill="currentColor", fill_opacity=round(0.06 + 0.94 * row[k], 3)
                    )
                )
        widest, tallest = max(widest, x + width), max(tallest, height)
        x += width + GAP
    size = {"width": widest, "height": y + tallest, "viewBox": f"0 0 {widest} {y + tallest}"}
    return element("svg", *drawn, role="img", aria_label="learnt latents beside the true ones", **size)
