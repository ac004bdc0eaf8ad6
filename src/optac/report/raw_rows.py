"""The rows of runs as CSV, as they were written, with what tells the runs apart in front.

A text stands as it is, everything else as the JSON it was: so nothing is lost where a row holds a bill or a curve.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from optac.report.evidence import Evidence
from optac.report.recorded_runs import ProvableRun, TrainingRun


def raw_rows(evidence: Evidence) -> dict[str, str]:
    """File name → one line per row of metrics.jsonl: an iteration of a solve, a whole run of a comparison."""
    files: dict[str, str] = {}
    if evidence.training:
        files["training-rows.csv"] = _csv(evidence.training, "agent", "environment")
    if evidence.provable:
        files["provable-rows.csv"] = _csv(evidence.provable, "problem", "algorithm")
    return files


def _csv(runs: Sequence[TrainingRun | ProvableRun], *names: str) -> str:
    lines = [
        {"run": run.path.name, **{name: getattr(run, name) for name in names}, "seed": run.seed, **row}
        for run in runs
        for row in run.rows
    ]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writerow({name: _harmless(name) for name in columns})
    writer.writerows({name: _text(value) for name, value in line.items()} for line in lines)
    return text.getvalue()


def _text(value: Any) -> str:
    return _harmless(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
