"""Who solved what: one line for each task and variant, how many seeds, how soon, and how many still do at the end."""

from collections.abc import Sequence
from statistics import median

from optac.report.groups import Group, short_name
from optac.report.recorded_runs import TrainingRun
from optac.settings import shown
from optac.studies.exploration.cells import SOLVED
from optac.studies.one_table import OneTable
from optac.studies.table2.paper import AGENTS

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
    """The step of the first evaluation that reached the task's threshold."""
    enough = SOLVED[run.environment]
    return next((step for step, value in sorted(run.curve.items()) if value >= enough), None)


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
        ", ".join(f"{run.score:,.1f}" for run in runs),
    ]


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
