"""The rows of runs as CSV, as they were written, with what tells the runs apart in front.

A text stands as it is, everything else as the JSON it was: so nothing is lost where a row holds a bill or a curve.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from optac.report.recorded_runs import ProvableRun, TrainingRun

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
    """A line a row of metrics.jsonl: an iteration of a solve, a whole run of a comparison."""
    lines = [
        {
            "run": run.path.name,
            "problem": run.problem,
            "algorithm": run.algorithm,
            "seed": run.seed,
            **row,
        }
        for run in runs
        for row in run.rows
    ]
    return _csv(lines)


def _csv(lines: Sequence[Line]) -> str:
    columns = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in line.items()} for line in lines)
    return text.getvalue()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
