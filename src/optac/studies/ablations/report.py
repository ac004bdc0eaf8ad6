"""The tables of the ablations, from their rows alone."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

from optac.report.comparison import counted, episodes_to
from optac.report.tables import Row, column, grouped, markdown_table, quartiles
from optac.studies.ablations.cells import ABLATIONS, SEEDS

WHOLE = "as it is"


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """Episodes of every ablation, and how many times those of the whole algorithm they are."""
    if not rows:
        return []
    said = (
        "Median [interquartile range] over seeds of the episodes until the last policy, and the mixture, are solved "
        "for good; (k/n): the other runs are censored at their cap.\n"
    )
    return [said, ablation_table(rows), "## Times the episodes of the whole algorithm\n", times_table(rows)]


def ablation_table(rows: Sequence[Row]) -> str:
    """Two lines an ablation, for the last policy and for the mixture, and one of first hits where they differ."""
    places, runs = list(dict.fromkeys(column(rows, "on"))), grouped(rows, "ablation", "on")
    lines = []
    for name in (name for name in ABLATIONS if name in column(rows, "ablation")):
        found = [runs.get((name, place), []) for place in places]
        for_good, first, mixture = (
            [counted(some, which, SEEDS) for some in found] for which in ("last", "first", "mixture")
        )
        lines.append([name, *for_good])
        if first != for_good:
            lines.append([f"{name}: first hit", *first])
        lines.append([f"{name}: mixture", *mixture])
    return markdown_table(["", *places], lines)


def times_table(rows: Sequence[Row]) -> str:
    """Medians over that of the whole algorithm's last policy; a censored one gives a bound from below."""
    places, runs = list(dict.fromkeys(column(rows, "on"))), grouped(rows, "ablation", "on")
    lines = []
    for which, said in (("last", ""), ("mixture", ": mixture")):
        lines += [
            [
                name + said,
                *(_times(runs.get((name, on), []), runs.get((WHOLE, on), []), which) for on in places),
            ]
            for name in ABLATIONS
            if (name, which) != (WHOLE, "last")
        ]
    return markdown_table(["", *places], lines)


def _times(changed: Sequence[Row], whole: Sequence[Row], which: str) -> str:
    """Of the seeds that both have."""
    shared = set(column(changed, "seed")) & set(column(whole, "seed"))
    if not shared:
        return "—"
    ours, theirs = (
        quartiles(episodes_to([run for run in some if run["seed"] in shared], name))[1]
        for some, name in ((changed, which), (whole, "last"))
    )
    if theirs == inf:
        return "—"
    return f">{changed[0]['cap'] / theirs:.1f}" if ours == inf else f"{ours / theirs:.1f}"
