"""The rows of runs as CSV, as they were written, with what tells the runs apart in front."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from optac.reports.evidence import ProvableRun, TrainingRun

Line = dict[str, Any]


def training_csv(runs: Sequence[TrainingRun]) -> str:
    """A line a row of metrics.jsonl."""
    lines = [
        {"run": run.path.name, "agent": run.agent, "environment": run.environment, "seed": run.seed, **row}
        for run in runs
        for row in run.rows
    ]
    return _csv(lines)


def provable_csv(runs: Sequence[ProvableRun]) -> str:
    """A line a point of a run's curve; the bill and the seconds, which are of the whole run, on its last."""
    lines: list[Line] = []
    for run in runs:
        who = {"run": run.path.name, "problem": run.problem, "algorithm": run.algorithm, "seed": run.seed}
        points = [{"episodes": e, "gap": gap, "last_gap": last} for e, gap, last in run.curve]
        whole = {"episodes": run.episodes, "gap": run.gap, "last_gap": run.last_gap}
        ended = {**whole, **run.bill, "seconds": run.seconds}
        lines += [{**who, **point} for point in points] + [{**who, **ended}]
    return _csv(lines)


def _csv(lines: Sequence[Line]) -> str:
    columns = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
