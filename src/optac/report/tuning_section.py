"""A search over settings on the page: how its best score grew, which settings matter, and every trial."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from optac.errors import RunFailed
from optac.report.colours import Look
from optac.report.markup import Markup, element, joined, table
from optac.report.numbers import number
from optac.report.page_sections import curves_section
from optac.report.panels import Panel, Series
from optac.report.recorded_runs import finite
from optac.report.statistics import Band
from optac.runs.json_files import Row, read_json_object
from optac.settings import shown

TUNE_FILE: Final = "tune.json"
MOST_TRIALS: Final = 1_000_000


@dataclass(frozen=True)
class RecordedTuning:
    """A search as its folder records it."""

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
            said = read_json_object(file)
            trials = tuple(
                {**one, "number": int(one["number"]), "settings": dict(one["settings"])}
                for one in said["trials"]
            )
            if any(one["number"] not in range(MOST_TRIALS) for one in trials):
                raise ValueError("a trial has an impossible number")
            shares = {str(name): float(share) for name, share in said["importances"].items()}
            yield RecordedTuning(str(said["name"]), trials, shares)
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


def history_panels(tunings: Sequence[RecordedTuning]) -> list[Panel]:
    """The score of each trial, and the best of those that finished so far."""
    panels = []
    for tuning in tunings:
        scored = [(one["number"], finite(one.get("score")), one.get("state")) for one in tuning.trials]
        there = [(float(place), score, state) for place, score, state in scored if score is not None]
        best = list(accumulate((s if state == "finished" else -math.inf for _, s, state in there), max))
        line = [(place, value) for (place, _, _), value in zip(there, best, strict=True) if value > -math.inf]
        if not line:
            continue
        xs, ys = tuple(place for place, _ in line), tuple(value for _, value in line)
        each = tuple(place for place, _, _ in there), tuple(score for _, score, _ in there)
        series = (
            Series("best so far", "best so far", Band(xs, ys, None, None), {}),
            Series("each trial", "each trial", Band(*each, None, None), {}),
        )
        panels.append(Panel(tuning.name, f"{tuning.name}: trials", "trial", "return", series))
    return panels


def tuning_section(
    tunings: Sequence[RecordedTuning], panels: Sequence[Panel], first: int, styles: Mapping[str, Look]
) -> Markup:
    """Histories, importances and trials."""
    parts = [curves_section(panels, first, styles, "searches")] if panels else []
    for tuning in tunings:
        shares = sorted(tuning.importances.items(), key=lambda pair: -pair[1])
        if shares:
            lines = [[name, f"{share:.0%}"] for name, share in shares]
            caption = f"{tuning.name}: each setting’s share in the spread of the finished trials’ scores (PED-ANOVA)."
            parts.append(table(["setting", "importance"], lines, caption=caption))
        else:
            parts.append(
                element("p", f"{tuning.name}: too few finished trials to say which settings matter.")
            )
        parts.append(_trials(tuning))
    return joined(*parts)


def _trials(tuning: RecordedTuning) -> Markup:
    names = list(dict.fromkeys(name for one in tuning.trials for name in one["settings"]))
    lines = [
        [
            str(one["number"]),
            *(shown(one["settings"].get(name)) for name in names),
            "—" if finite(one.get("score")) is None else number(float(one["score"])),
            str(one.get("state")),
            str(one.get("why") or ""),
        ]
        for one in tuning.trials
    ]
    head = ["trial", *names, "return", "state", "why"]
    return table(
        head, lines, caption=f"{tuning.name}: every trial. A pruned one’s return is of its last evaluation."
    )
