"""The contents of a figure, apart from how it is drawn: the page and the image files draw the same panels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optac.report.groups import Group, short_name
from optac.report.provable_groups import ProvableGroup, by_problem
from optac.report.reference import Reference
from optac.report.statistics import Band, learning_curve, performance_profile
from optac.report.tables import gathered

Line = tuple[tuple[float, ...], tuple[float, ...]]
WIDE = 100


@dataclass(frozen=True)
class Series:
    """A line with its band, and thin lines behind it, one per seed; its colour goes by its name."""

    name: str
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
    """Return against steps, one panel per environment."""
    drawn = [group for group in groups if any(run.curve for run in group.runs)]
    found = gathered(drawn, lambda group: group.environment)
    return [_curve_panel(name, there) for name, there in found.items()]


def _curve_panel(environment: str, groups: Sequence[Group]) -> Panel:
    starts = sorted({group.warm_up for group in groups if group.warm_up is not None})
    series = [
        Series(
            group.name,
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
    """The last policy's exact gap against the episodes played, one panel per problem."""
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
        series.append(Series(group.name, group.label, learning_curve(list(curves.values())), threads))
    places = [x for one in series for xs, _ in one.threads.values() for x in xs]
    return Panel(
        problem,
        problem,
        "episodes played",
        "gap of the last policy, exact",
        tuple(series),
        log_x=min(places) > 0 and max(places) > WIDE * min(places),
    )


def normalised_scores(
    groups: Mapping[str, Sequence[Group]], reference: Reference
) -> dict[str, list[list[float]]]:
    """Each agent's scores on each task, on the task's own scale."""
    return {
        agent: [
            [reference.normalised(task.environment, value) for value in task.scores.values()]
            for task in tasks
        ]
        for agent, tasks in groups.items()
    }


def profile_panel(groups: Mapping[str, Sequence[Group]], reference: Reference) -> Panel:
    """The share of runs above each normalised score, over the tasks all agents share."""
    scores = normalised_scores(groups, reference)
    values = [value for tasks in scores.values() for task in tasks for value in task]
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.02 * (high - low) or 1.0
    marks = [low - room + (high - low + 2 * room) * place / 60 for place in range(61)]
    series = [
        Series(reference.name(agent), reference.name(agent), performance_profile(tasks, marks), {})
        for agent, tasks in scores.items()
    ]
    return Panel(
        "performance profile",
        "Performance profile",
        f"normalised score τ ({reference.scale})",
        "share of runs above τ",
        tuple(series),
    )
