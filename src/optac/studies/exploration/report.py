"""Who solved what: one line for each task and variant, how many seeds, how soon, and how many still do at the end."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from optac.report.evidence import gather
from optac.report.files import Written, write_report
from optac.report.groups import Group, group_runs, short_name
from optac.report.latex import latex_table
from optac.report.markup import table
from optac.report.recorded_runs import TrainingRun
from optac.report.reference import Reference, Section
from optac.report.tables import markdown_table
from optac.settings import shown
from optac.studies.exploration.cells import SOLVED
from optac.studies.table2.paper import AGENTS
from optac.terminal import show_table

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


def sections(groups: Sequence[Group]) -> list[Section]:
    """The table on the page, and as files; the curves are the report's own."""
    found = lines(groups)
    files = {
        "exploration.md": markdown_table(COLUMNS, found, left=3),
        "exploration.tex": latex_table(COLUMNS, found, left=3),
    }
    return [Section("exploration", "Who finds the reward", lambda commands: table(COLUMNS, found), files)]


REFERENCE = Reference(
    AGENTS,
    {task: (0.0, enough) for task, enough in SOLVED.items()},
    "0 is 0, the threshold is 1",
    sections,
)


def write_page(results: Path, steps: int | None = None) -> Written | None:
    """report.html and report/ among the published runs; None while there are none."""
    if not any(results.glob("*/config.json")):
        return None
    return write_report(
        [results], results / "report.html", title="What the bonus is for", reference=REFERENCE
    )


def show(results: Path, steps: int | None = None) -> None:
    """The table on the terminal."""
    training = gather([results]).training if any(results.glob("*/config.json")) else ()
    show_table("who finds the reward", COLUMNS, lines(group_runs(training, REFERENCE)))
