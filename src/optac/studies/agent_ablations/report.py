"""What the variants came to: one line for each, mean over the curve and of the last three evaluations, and falls."""

from collections.abc import Sequence
from statistics import mean

from optac.report.groups import Group, short_name
from optac.report.numbers import fixed
from optac.settings import shown
from optac.studies.one_table import OneTable
from optac.studies.table2.paper import AGENTS, SCALES
from optac.studies.table2.stability import Stability, stability

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
    digits = 2 if group.environment == "optac/InvertedPendulum-v0" else 0
    fell = sum((stability(run.environment, run.curve) for run in runs), Stability())
    return [
        short_name(group.environment),
        AGENTS.get(group.agent, group.agent),
        first.preset or "",
        ", ".join(f"{name}={shown(value)}" for name, value in (first.changed or {}).items()),
        ", ".join(str(run.seed) for run in runs),
        fixed(mean(run.over_curve for run in runs), digits),
        fixed(mean(run.recent for run in runs), digits),
        fell.text,
    ]


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
