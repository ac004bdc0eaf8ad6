"""What the variants came to: one line for each, mean over the curve and of the last three evaluations, and falls."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from optac.report.evidence import gather
from optac.report.files import Written, write_report
from optac.report.groups import Group, group_runs, short_name
from optac.report.latex import latex_table
from optac.report.markup import table
from optac.report.reference import Reference, Section
from optac.report.tables import markdown_table
from optac.settings import shown
from optac.studies.table2.paper import AGENTS, SCALES
from optac.studies.table2.stability import Stability, stability
from optac.terminal import show_table

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
    curves = [mean(run.curve.values()) for run in runs]
    fell = sum((stability(run.environment, run.curve) for run in runs), Stability())
    return [
        short_name(group.environment),
        AGENTS.get(group.agent, group.agent),
        first.preset or "",
        ", ".join(f"{name}={shown(value)}" for name, value in (first.changed or {}).items()),
        ", ".join(str(run.seed) for run in runs),
        f"{mean(curves):,.{digits}f}",
        f"{mean(run.recent for run in runs):,.{digits}f}",
        fell.text,
    ]


def sections(groups: Sequence[Group]) -> list[Section]:
    """The table on the page, and as files; the curves are the report's own."""
    found = lines(groups)
    files = {
        "agent-ablations.md": markdown_table(COLUMNS, found, left=5),
        "agent-ablations.tex": latex_table(COLUMNS, found, left=5),
    }
    return [Section("ablations", "One ingredient at a time", lambda commands: table(COLUMNS, found), files)]


REFERENCE = Reference(AGENTS, SCALES, "random play is 0, the paper’s SAC is 1", sections)


def write_page(results: Path, steps: int | None = None) -> Written | None:
    """report.html and report/ among the published runs; None while there are none."""
    if not any(results.glob("*/config.json")):
        return None
    return write_report(
        [results], results / "report.html", title="The recipe's ingredients", reference=REFERENCE
    )


def show(results: Path, steps: int | None = None) -> None:
    """The table on the terminal."""
    training = gather([results]).training if any(results.glob("*/config.json")) else ()
    show_table("the recipe, one ingredient at a time", COLUMNS, lines(group_runs(training, REFERENCE)))
