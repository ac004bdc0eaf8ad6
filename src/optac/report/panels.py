"""What a figure shows, apart from how it is drawn: the page and the image files draw the same panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optac.report.groups import Group, short_name
from optac.report.provable_groups import ProvableGroup, by_problem
from optac.report.statistics import Band, learning_curve, performance_profile
from optac.studies.table2.paper import AGENTS, normalised

Line = tuple[tuple[float, ...], tuple[float, ...]]
WIDE = 100


@dataclass(frozen=True)
class Series:
    """A line with its band, and thin lines behind it, one a seed."""

    label: str
    band: Band
    threads: Mapping[int, Line]


@dataclass(frozen=True)
class Panel:
    """Axes with their series; `marks` are dashed vertical lines, each with what it says."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[tuple[float, str], ...] = ()
    log_x: bool = False


def curve_panels(groups: Sequence[Group]) -> list[Panel]:
    """Return against steps, a panel an environment."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        if any(run.curve for run in group.runs):
            found.setdefault(group.environment, []).append(group)
    return [_curve_panel(name, there) for name, there in found.items()]


def _curve_panel(environment: str, groups: Sequence[Group]) -> Panel:
    starts = sorted({group.warm_up for group in groups if group.warm_up is not None})
    series = [
        Series(
            group.label,
            group.band,
            {run.seed: (tuple(map(float, run.curve)), tuple(run.curve.values())) for run in group.runs},
        )
        for group in groups
    ]
    marks = tuple((float(start), f"learning starts at {start:,}") for start in starts)
    return Panel(
        environment, short_name(environment), "steps", "return of an episode", tuple(series), marks=marks
    )


def gap_panels(groups: Sequence[ProvableGroup]) -> list[Panel]:
    """The last policy's exact gap against the episodes played, a panel a problem."""
    drawn = [group for group in groups if any(run.curve for run in group.runs)]
    return [_gap_panel(problem, there) for problem, there in by_problem(drawn).items()]


def _gap_panel(problem: str, groups: Sequence[ProvableGroup]) -> Panel:
    series = []
    for group in groups:
        curves = {
            run.seed: {int(episodes): last for episodes, _, last in run.curve}
            for run in group.runs
            if run.curve
        }
        threads = {seed: (tuple(map(float, curve)), tuple(curve.values())) for seed, curve in curves.items()}
        series.append(Series(group.label, learning_curve(list(curves.values())), threads))
    places = [x for one in series for xs, _ in one.threads.values() for x in xs]
    return Panel(
        problem,
        problem,
        "episodes played",
        "gap of the last policy, exact",
        tuple(series),
        log_x=min(places) > 0 and max(places) > WIDE * min(places),
    )


def profile_panel(groups: Mapping[str, Sequence[Group]]) -> Panel:
    """The share of runs above each normalised score, over the tasks all agents share."""
    scores = {
        agent: [[normalised(group.environment, value) for value in group.scores.values()] for group in tasks]
        for agent, tasks in groups.items()
    }
    values = [value for tasks in scores.values() for task in tasks for value in task]
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.02 * (high - low) or 1.0
    marks = [low - room + (high - low + 2 * room) * place / 60 for place in range(61)]
    series = [Series(AGENTS[agent], performance_profile(tasks, marks), {}) for agent, tasks in scores.items()]
    return Panel(
        "performance profile",
        "Performance profile",
        "normalised score τ (random play 0, the paper’s SAC 1)",
        "share of runs above τ",
        tuple(series),
    )
