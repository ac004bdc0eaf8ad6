"""Who solved what: one line for each task and variant, how many seeds, how soon, and how many still do at the end."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from optac.report.groups import Group, short_name
from optac.report.numbers import fixed, mean_std
from optac.report.recorded_runs import TrainingRun
from optac.report.statistics import SEEDS_NEEDED
from optac.report.tables import markdown_table
from optac.settings import shown
from optac.studies.exploration.cells import SOLVED
from optac.studies.one_table import OneTable
from optac.studies.table2.paper import AGENTS
from optac.studies.table2.report import against

COLUMNS = [
    "task",
    "agent",
    "what differs",
    "seeds",
    "solved",
    "first, median steps",
    "at the end",
    "last returns",
]

WITH, WITHOUT = "crffsac-bonus", "crffsac"
DENSE = "optac/HalfCheetah-v0"
"""where every step pays"""
DENSE_STEPS = (50_000, 100_000, 150_000, 200_000)


def lines(groups: Sequence[Group]) -> list[list[str]]:
    """The table of the finished runs: task by task, with the bonus first."""
    order = list(AGENTS)[::-1]
    done = [group for group in groups if group.complete and group.environment in SOLVED]
    return [
        _line(group)
        for group in sorted(
            done, key=lambda group: (group.environment, order.index(group.agent), group.label)
        )
    ]


def first_solved(run: TrainingRun) -> int | None:
    """The step of the first evaluation that reached the task's threshold, once something had been learnt."""
    enough, start = SOLVED[run.environment], run.config["settings"]["learning_starts"]
    return next((step for step, value in sorted(run.curve.items()) if value >= enough and step > start), None)


def _line(group: Group) -> list[str]:
    runs = group.complete
    firsts = [step for run in runs if (step := first_solved(run)) is not None]
    still = sum(run.score >= SOLVED[group.environment] for run in runs)
    return [
        short_name(group.environment),
        AGENTS[group.agent],
        ", ".join(f"{name}={shown(value)}" for name, value in (runs[0].changed or {}).items()),
        ", ".join(str(run.seed) for run in runs),
        f"{len(firsts)} of {len(runs)}",
        f"{median(firsts):,.0f}" if firsts else "—",
        f"{still} of {len(runs)}",
        ", ".join(fixed(run.score, 1) for run in runs),
    ]


def short_markdown(groups: Sequence[Group]) -> str:
    """One line for each task: how many seeds of each agent solved it, of SAC those of its best variant."""
    lines = []
    for task, enough in SOLVED.items():
        there = [group for group in groups if group.environment == task and group.complete]
        solved = [
            _best([group for group in there if group.agent == agent and group.has_usual_settings])
            for agent in (WITH, WITHOUT)
        ]
        solved.append(_best([group for group in there if group.agent == "sac"]))
        lines.append([short_name(task), f"{enough:g}", *solved])
    return markdown_table(
        ["task", "solved at", AGENTS[WITH], AGENTS[WITHOUT], f"{AGENTS['sac']}, best variant"], lines
    )


def _best(groups: Sequence[Group]) -> str:
    """`4 of 5`: of the variant with the largest share, the one with the most seeds where several have it.

    One whose seeds are too few to tell stands back behind those that have enough.
    """
    counts = [
        (sum(first_solved(run) is not None for run in group.complete), len(group.complete))
        for group in groups
    ]
    if not counts:
        return "missing"
    return "{} of {}".format(
        *max(counts, key=lambda count: (count[1] >= SEEDS_NEEDED, count[0] / count[1], count[1]))
    )


def dense_markdown(groups: Sequence[Group]) -> str:
    """What the bonus does where rewards are dense, of Table 2's runs: with and without it at several steps."""
    there = {
        group.agent: group
        for group in groups
        if group.environment == DENSE and group.has_usual_settings and group.complete
    }
    if WITH not in there or WITHOUT not in there:
        return f"{short_name(DENSE)} has no runs of both yet.\n"
    lines = []
    for step in DENSE_STEPS:
        ours, theirs = _up_to(there[WITH], step), _up_to(there[WITHOUT], step)
        if ours.summary and theirs.summary:
            lines.append(
                [f"{step:,}", mean_std(ours.summary), mean_std(theirs.summary), *against(ours, theirs)]
            )
    columns = ["at step", AGENTS[WITH], AGENTS[WITHOUT], "with it minus without", "seeds ahead with it"]
    return markdown_table(columns, lines)


def _up_to(group: Group, step: int) -> Group:
    return replace(group, steps=step, runs=tuple(run.up_to(step) for run in group.complete))


TABLE = OneTable(
    "exploration",
    title="What the bonus is for",
    heading="Who finds the reward",
    columns=COLUMNS,
    left=3,
    lines=lines,
    scales={task: (0.0, enough) for task, enough in SOLVED.items()},
    scale="0 is 0, the threshold is 1",
)
write_page, show = TABLE.write_page, TABLE.show
