"""The tables of the study of rank, from its rows alone."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from optac.report.comparison import counted, episodes_to
from optac.report.tables import Row, column, grouped, markdown_table, quartiles
from optac.studies.rank.cells import CAP, SEEDS
from optac.studies.rank.pictures import against_rank_and_actions, against_states, floor

TABLES = ("opt-ac, table", "opt-ac, table, ties")
RATIOS: Sequence[tuple[str, str, Sequence[str], int | None]] = (
    ("opt-ac, decoder", "ucbvi", ("ucbvi",), None),
    ("opt-ac, decoder", "the better of the two tables", TABLES, None),
    ("opt-ac, decoder", "rep-ucb, decoder", ("rep-ucb, decoder",), None),
    ("opt-ac, linear", "ucbvi", ("ucbvi",), None),
    ("opt-ac, linear", "itself at S = 15", ("opt-ac, linear",), 15),
)
"""learner, over what, the learners of which the better counts, and at which S if not at its own"""
PARTS = {
    "S": "## Episodes until solved for good, against S\n",
    "own": "## Random problems of one's own, H = 10, |A| = 5\n",
    "d": "## Against d: random problems of one's own, S = 60, |A| = 4, H = 5\n",
    "A": "## Against |A|: observed-lock horizon=4 observations=10\n",
    "alpha": "## The choice of α, on instances of no table\n",
}


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """One table a part, and the figures."""
    said = [
        f"Median [interquartile range] over seeds; (k/n): the other runs are censored at their cap, here {CAP:,}; "
        "(n = …) where fewer seeds are in than the study asks for elsewhere in the table.\n"
    ]
    for part, title in PARTS.items():
        there = [row for row in rows if row["part"] == part]
        if there:
            said += [title, part_table(there, part)]
            if part == "alpha":
                said.append(choice_table(there))
    states = [row for row in rows if row["part"] == "S"]
    if states:
        against_states(states, path / "episodes-against-states.png")
        said += [
            "## Ratios of medians, over the seeds that both have\n",
            ratio_table(states),
            "![Episodes until solved against S](episodes-against-states.png)\n",
        ]
    ranks, actions = ([row for row in rows if row["part"] == part] for part in ("d", "A"))
    if ranks and actions:
        against_rank_and_actions(ranks, actions, path / "episodes-against-d-and-actions.png")
        said.append("![Episodes until solved against d and |A|](episodes-against-d-and-actions.png)\n")
    return said


def part_table(rows: Sequence[Row], part: str) -> str:
    """One line a learner, one column a place; under the line of those solved for good one of the first hits."""
    places = list(dict.fromkeys(column(rows, "at")))
    if part == "S":
        places = sorted(places)
    lines = []
    for learner, there in grouped(rows, "learner").items():
        by_place = grouped(there, "at")
        found = [by_place.get(place, []) for place in places]
        for_good, hits = (
            [counted(runs, which, SEEDS[part]) for runs in found] for which in ("last", "first")
        )
        lines.append([learner, *for_good])
        if hits != for_good:
            lines.append([f"{learner}: first hit", *hits])
    if part == "S":
        lines.append(["floor of a learner without features", *(f"{floor(place):,.0f}" for place in places)])
    heads = [
        f"S = {place:,}" if part == "S" else f"{part} = {place}" if part in "dA" else str(place)
        for place in places
    ]
    return markdown_table(["", *heads], lines)


def ratio_table(rows: Sequence[Row]) -> str:
    """What the classes that take states together save at every S, and how flat `linear` is."""
    places = sorted(set(column(rows, "at")))
    runs = grouped(rows, "learner", "at")
    lines = [
        [f"{ours} / {said}", *(_ratio(runs, ours, place, others, base or place) for place in places)]
        for ours, said, others, base in RATIOS
    ]
    return markdown_table(["", *(f"S = {place:,}" for place in places)], lines)


def choice_table(rows: Sequence[Row]) -> str:
    """What α is chosen by: the geometric mean of medians where every α solves, and the gap left where none does."""
    runs = grouped(rows, "learner", "at")
    alphas, places = dict.fromkeys(column(rows, "learner")), dict.fromkeys(column(rows, "at"))
    medians = {key: quartiles(episodes_to(some, "last"))[1] for key, some in runs.items()}
    solved = [at for at in places if all(medians.get((alpha, at), inf) < inf for alpha in alphas)]
    shut = [at for at in places if all(medians.get((alpha, at), inf) == inf for alpha in alphas)]
    lines = []
    for alpha in alphas:
        episodes = f"{geometric_mean(medians[alpha, at] for at in solved):,.0f}" if solved else "—"
        gaps = (median(column(runs.get((alpha, at), []), "last_gap") or [inf]) for at in shut)
        lines.append([alpha, episodes, *(f"{gap:.4f}" for gap in gaps)])
    heads = [f"episodes, geometric mean over {len(solved)} instances", *(f"last gap, {at}" for at in shut)]
    return markdown_table(["", *heads], lines)


def _ratio(runs: Mapping[Any, Sequence[Row]], ours: str, place: int, others: Sequence[str], base: int) -> str:
    """One learner's median over the smallest of others', of the seeds that all have."""
    compared = [runs.get((ours, place), []), *(runs.get((other, base), []) for other in others)]
    shared = set.intersection(*(set(column(some, "seed")) for some in compared))
    if not shared:
        return "—"
    mine, *theirs = (
        quartiles(episodes_to([run for run in some if run["seed"] in shared], "last"))[1] for some in compared
    )
    if mine == inf:
        return "not solved"
    return f"<{mine / CAP:.2f}" if min(theirs) == inf else f"{mine / min(theirs):.2f}"
