"""How fast a run is expected to be, from those that have finished."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from optac.runs.json_files import read_json_object
from optac.runs.kinds import KINDS
from optac.sweeps.standing import run_standing


def expected_speed(config: Mapping[str, Any], runs: Iterable[Path]) -> float | None:
    """The usual speed of finished runs of the same learner on the same task; else of the learner; else of any."""
    kind = KINDS[config["kind"]]
    like: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for path in runs:
        found = run_standing(path)
        if found.state != "finished" or not found.speed or found.kind is not kind:
            continue
        other = read_json_object(path / "config.json")
        same = (*(other[name] == config[name] for name in (kind.learner, kind.task)),)
        like[0 if all(same) else 1 if same[0] else 2].append(found.speed)
    return next((median(speeds) for _, speeds in sorted(like.items()) if speeds), None)
