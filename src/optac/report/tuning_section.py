"""A search over settings on the page: how its best score grew, which settings matter, and every trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from optac.errors import RunFailed
from optac.report.colours import Look
from optac.report.commands_section import Commands
from optac.report.markup import Markup, element, joined, table
from optac.report.numbers import number
from optac.report.page_sections import curves_section
from optac.report.panels import Line, Panel, Series
from optac.report.recorded_runs import TrainingRun, finite
from optac.report.statistics import Band
from optac.report.tables import markdown_table
from optac.runs.json_files import Row, read_sealed
from optac.runs.kinds import TUNE_FILE
from optac.settings import shown

MOST_TRIALS: Final = 1_000_000


@dataclass(frozen=True)
class RecordedTuning:
    """A search as its folder records it."""

    folder: Path
    name: str
    trials: tuple[Row, ...]
    importances: Mapping[str, float]


def recorded_tunings(folders: Sequence[Path], notes: list[str]) -> Iterator[RecordedTuning]:
    """The searches in the folders or one below; a damaged one is noted."""
    files = [
        file for folder in folders for file in (folder / TUNE_FILE, *sorted(folder.glob(f"*/{TUNE_FILE}")))
    ]
    for file in dict.fromkeys(file.resolve() for file in files if file.is_file()):
        try:
            said = read_sealed(file)
            trials = tuple(
                {
                    **one,
                    "number": int(one["number"]),
                    "settings": dict(one["settings"]),
                    "curve": _line(one["curve"]),
                    "runs": [str(name) for name in one["runs"]],
                }
                for one in said["trials"]
            )
            if any(one["number"] not in range(MOST_TRIALS) for one in trials):
                raise ValueError("a trial has an impossible number")
            shares = {str(name): float(share) for name, share in said["importances"].items()}
            yield RecordedTuning(file.parent, str(said["name"]), trials, shares)
        except (
            RunFailed,
            OSError,
            KeyError,
            TypeError,
            ArithmeticError,
            ValueError,
            AttributeError,
        ) as error:
            notes.append(f"left out: {file} is damaged: {type(error).__name__} {error}")


def _line(curve: Mapping[str, float]) -> Line:
    """Steps and returns, those that are numbers."""
    points = [(finite(int(step)), finite(value)) for step, value in curve.items()]
    there = [(step, value) for step, value in points if step is not None and value is not None]
    return tuple(step for step, _ in there), tuple(value for _, value in there)


def trial_runs(
    tunings: Sequence[RecordedTuning], training: Sequence[TrainingRun]
) -> dict[str, tuple[TrainingRun, ...]]:
    """Each trial, and those of the runs that are its; one that repeats an earlier one has none of its own."""
    left = {run.path: run for run in training}
    found: dict[str, tuple[TrainingRun, ...]] = {}
    for tuning in tunings:
        for trial in tuning.trials:
            paths = [tuning.folder / name for name in trial["runs"]]
            runs = tuple(left.pop(path) for path in dict.fromkeys(paths) if path in left)
            found |= {_title(tuning, trial): runs} if runs else {}
    return found


def _title(tuning: RecordedTuning, trial: Row) -> str:
    return f"{tuning.name}, trial {trial['number']}"


def history_panels(tunings: Sequence[RecordedTuning]) -> list[Panel]:
    """The score of each trial with the best so far, and the curve of each trial with the best one's."""
    return [panel for tuning in tunings for panel in (*_history(tuning), *_curves(tuning))]


def _history(tuning: RecordedTuning) -> Iterator[Panel]:
    """Of the finished trials alone: a pruned one's return is of an earlier step."""
    ended = [one for one in tuning.trials if one.get("state") == "finished"]
    there = [
        (float(one["number"]), score) for one in ended if (score := finite(one.get("score"))) is not None
    ]
    if there:
        places, scores = (tuple(values) for values in zip(*there, strict=True))
        best = Band(places, tuple(accumulate(scores, max)), None, None)
        each = Band(places, scores, None, None)
        series = (
            Series("best so far", "best so far", best, {}),
            Series("each trial", "each finished trial", each, {}),
        )
        yield Panel(tuning.name, f"{tuning.name}: trials", "trial", "return", series)


def _curves(tuning: RecordedTuning) -> Iterator[Panel]:
    lines = {one["number"]: one["curve"] for one in tuning.trials if one["curve"][0]}
    ended = [
        one
        for one in tuning.trials
        if one["number"] in lines and one.get("state") == "finished" and finite(one.get("score")) is not None
    ]
    best = max(ended, key=lambda one: float(one["score"]), default=None)
    if best is not None:
        name, (steps, returns) = f"trial {best['number']}, the best", best["curve"]
        series = Series("best trial", name, Band(steps, returns, None, None), lines)
        yield Panel(
            f"{tuning.name} curves", f"{tuning.name}: curves", "steps", "return of an episode", (series,)
        )


def tuning_section(
    tunings: Sequence[RecordedTuning],
    runs: Mapping[str, Sequence[TrainingRun]],
    panels: Sequence[Panel],
    first: int,
    styles: Mapping[str, Look],
    commands: Commands,
) -> Markup:
    """Histories, importances and trials."""
    parts = [curves_section(panels, first, styles, "searches")] if panels else []
    for tuning in tunings:
        shares = _shares(tuning)
        if shares:
            lines = [[name, f"{share:.0%}"] for name, share in shares]
            caption = f"{tuning.name}: each setting’s share in the spread of the finished trials’ scores (PED-ANOVA)."
            parts.append(table(["setting", "importance"], lines, caption=caption))
        else:
            parts.append(
                element("p", f"{tuning.name}: too few finished trials to say which settings matter.")
            )
        parts.append(_trials(tuning, runs, commands))
    return joined(*parts)


def tuning_tables(tuning: RecordedTuning) -> str:
    """The trials and the importances as Markdown; why one was pruned is on the page alone."""
    *head, _ = _lines(tuning)[0]
    lines = [line[:-1] for line in _lines(tuning)[1]]
    shares = [[name, f"{share:.0%}"] for name, share in _shares(tuning)]
    parts = [f"## {tuning.name}: every trial\n\n{markdown_table(head, lines)}"]
    if shares:
        parts.append(f"## {tuning.name}: importances\n\n{markdown_table(['setting', 'importance'], shares)}")
    return "\n".join(parts)


def _shares(tuning: RecordedTuning) -> list[tuple[str, float]]:
    return sorted(tuning.importances.items(), key=lambda pair: -pair[1])


def _lines(tuning: RecordedTuning) -> tuple[list[str], list[list[str]]]:
    """The columns of the trials, and a line for each."""
    names = list(dict.fromkeys(name for one in tuning.trials for name in one["settings"]))
    lines = [
        [
            str(one["number"]),
            *(shown(one["settings"].get(name)) for name in names),
            "—" if (score := finite(one.get("score"))) is None else number(score),
            str(one.get("state")),
            str(one.get("why") or ""),
        ]
        for one in tuning.trials
    ]
    return ["trial", *names, "return", "state", "why"], lines


def _trials(tuning: RecordedTuning, runs: Mapping[str, Sequence[TrainingRun]], commands: Commands) -> Markup:
    """Every trial; its return links to the commands that make it."""
    head, lines = _lines(tuning)
    for one, line in zip(tuning.trials, lines, strict=True):
        title, place = _title(tuning, one), head.index("return")
        if title in runs and finite(one.get("score")) is not None:
            anchor = commands.add(title, [run.command for run in runs[title]])
            line[place] = element("a", line[place], href=f"#{anchor}", title="the commands that make it")
    return table(
        head, lines, caption=f"{tuning.name}: every trial. A pruned one’s return is of its last evaluation."
    )
