"""Give the committed results the names that they have now: folders their runs' ids, rows their keys.

A run's id covers what determines its result and differs from its preset. When that rule changes, so do the names of the
folders under results/ that are ids; names given by hand stay. Rows of studies and comparisons take the keys of a
solve's history. Run it from the clone's root, then commit.

    python scripts/rename_results.py results
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from optac.runs.json_files import read_json_object
from optac.runs.kinds import TRAIN, kind_of
from optac.runs.training_config import training_id

ID = re.compile(r"-[0-9a-f]{8}-s\d+$")
CURVES = {5: ("episodes", "gap", "last_gap", "SL", "time/seconds"), 2: ("iteration", "gap")}


def renamed(results: Path) -> dict[Path, Path]:
    """Folders that have another name now, and which."""
    found = {}
    for file in sorted(results.rglob("config.json")):
        config = read_json_object(file)
        if kind_of(config) is TRAIN and ID.search(file.parent.name):
            found[file.parent] = file.parent.with_name(training_id(config))
    return {old: new for old, new in found.items() if old != new}


def with_new_keys(row: dict[str, Any]) -> dict[str, Any]:
    """A cell's row: the cell's own time apart, the learner's seconds under one key, the curve as columns."""
    if "time/cell" in row:
        return row
    new = _seconds({("time/cell" if key == "time/seconds" else key): value for key, value in row.items()})
    for name in ("last", "mixture"):
        if isinstance(new.get(name), dict):
            new[name] = _seconds(new[name])
    if "rungs" in new:
        new["rungs"] = [_seconds(rung) for rung in new["rungs"]]
    if "curve" in new:
        names = CURVES[len(new["curve"][0])]
        new["curve"] = dict(zip(names, map(list, zip(*new["curve"], strict=True)), strict=True))
    return new


def _seconds(row: dict[str, Any]) -> dict[str, Any]:
    return {("time/seconds" if key == "time/run" else key): value for key, value in row.items()}


def main() -> None:
    """Rename what has another name now."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, metavar="DIR")
    results = parser.parse_args().results
    for old, new in renamed(results).items():
        old.rename(new)
        print(f"{old} -> {new.name}")
    for metrics in sorted(results.rglob("metrics.jsonl")):
        if kind_of(read_json_object(metrics.with_name("config.json"))) is None:
            rows = map(json.loads, metrics.read_text(encoding="utf-8").splitlines())
            lines = [json.dumps(with_new_keys(row)) + "\n" for row in rows]
            metrics.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
