"""What the variants came to: what each change does to the curve, and one line for each variant with all its numbers."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from optac.report.groups import Group, short_name
from optac.report.numbers import fixed
from optac.report.tables import markdown_table
from optac.settings import shown
from optac.studies.agent_ablations.cells import STEPS
from optac.studies.one_table import OneTable
from optac.studies.table2.paper import AGENTS, SCALES
from optac.studies.table2.stability import Stability, stability

PENDULUM = "optac/InvertedPendulum-v0"
COLUMNS = ["task", "agent", "preset", "what differs", "seeds", "over the curve", "last three", "falls"]


def lines(groups: Sequence[Group]) -> list[list[str]]:
    """The table of the finished runs: by task and agent, first the recipe, whole and then less one thing."""
    done = [group for group in groups if group.complete]
    return [_line(group) for group in sorted(done, key=_place)]


def _place(group: Group) -> tuple[str, str, bool, int]:
    first = group.runs[0]
    return group.environment, group.agent, first.preset == "plain", len(first.changed or {})


def _line(group: Group) -> list[str]:
    runs, first = group.complete, group.runs[0]
    digits = _digits(group.environment)
    fell = sum((stability(run.environment, run.curve) for run in runs), Stability())
    return [
        short_name(group.environment),
        AGENTS.get(group.agent, group.agent),
        first.preset or "",
        _changes(group),
        ", ".join(str(run.seed) for run in runs),
        fixed(mean(run.over_curve for run in runs), digits),
        fixed(mean(run.recent for run in runs), digits),
        fell.text,
    ]


class Variant(NamedTuple):
    """An agent with a preset and what is changed in it, on all tasks."""

    agent: str
    preset: str
    changes: str = ""


WITH_RECIPE, WITHOUT = Variant("crffsac", "default"), Variant("sac", "plain")
"""what things are taken out of, and what they are put into"""
WHOLESALE = {
    (WITH_RECIPE, Variant("sac", "default")): "no φ: SAC with the recipe",
    (WITH_RECIPE, Variant("crffsac", "plain")): "no recipe: preset=plain",
    (WITHOUT, Variant("sac", "default")): "the whole recipe: preset=default",
}


def effects_markdown(groups: Sequence[Group]) -> str:
    """What each change does to the mean over the curve, seed by seed, task by task; what does most harm first."""
    curves: dict[tuple[Variant, str], dict[int, float]] = {
        (Variant(group.agent, group.runs[0].preset or "", _changes(group)), group.environment): {
            run.seed: run.over_curve for run in group.complete
        }
        for group in groups
    }
    parts = []
    for whole in (WITH_RECIPE, WITHOUT):
        found = []
        for one in dict.fromkeys(variant for variant, _ in curves):
            gains = {
                task: _gains(curves.get((one, task), {}), curves.get((whole, task), {})) for task in STEPS
            }
            if (said := _change(one, whole)) and any(gains.values()):
                found.append((said, gains))
        parts += [
            [
                AGENTS[whole.agent],
                said,
                *(_mean(task, gains[task]) for task in STEPS),
                "{} of {}".format(*_worse(gains)),
            ]
            for said, gains in sorted(found, key=_harm)
        ]
    columns = ["in", "change", *(short_name(task) for task in STEPS), "worse in"]
    return markdown_table(columns, parts, left=2) if parts else "No two runs to compare are in yet.\n"


def _change(one: Variant, whole: Variant) -> str:
    """What makes the one of the other, in words; empty where they are the same, or differ in more."""
    same = (one.agent, one.preset) == (whole.agent, whole.preset)
    return one.changes if same else WHOLESALE.get((whole, one), "")


def _harm(line: tuple[str, Mapping[str, Sequence[float]]]) -> tuple[float, str]:
    worse, pairs = _worse(line[1])
    return -worse / pairs, line[0]


def _gains(ours: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    return [ours[seed] - theirs[seed] for seed in ours if seed in theirs]


def _mean(task: str, gains: Sequence[float]) -> str:
    if not gains:
        return ""
    said = fixed(mean(gains), _digits(task))
    return f"+{said}" if mean(gains) > 0 else said


def _worse(gains: Mapping[str, Sequence[float]]) -> tuple[int, int]:
    """In how many pairs of runs, and of how many."""
    every = [gain for of_task in gains.values() for gain in of_task]
    return sum(gain < 0 for gain in every), len(every)


def _changes(group: Group) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in (group.runs[0].changed or {}).items())


def _digits(task: str) -> int:
    return 2 if task == PENDULUM else 0


TABLE = OneTable(
    "agent-ablations",
    title="The recipe's ingredients",
    heading="One ingredient at a time",
    columns=COLUMNS,
    left=5,
    lines=lines,
    scales=SCALES,
    scale="random play is 0, the paper’s SAC is 1",
)
write_page, show = TABLE.write_page, TABLE.show
