"""What the tests of studies of trainings share."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from optac.runs.folder import RunFolder
from optac.runs.publishing import publish
from optac.sweeps.plan import SweptRun


@pytest.fixture
def published(tmp_path: Path) -> Callable[[SweptRun, Sequence[float]], Path]:
    """Puts a run with these evaluations, evenly spaced over its steps, among the published ones: their folder."""

    def put(run: SweptRun, values: Sequence[float]) -> Path:
        folder = RunFolder.create(tmp_path / "work" / run.id, {**run.config, "commit": "0123abc"})
        for i, value in enumerate(values, start=1):
            row = {"time/total_timesteps": run.total * i // len(values), "eval/mean_reward": value}
            folder.append(row)
        folder.set_status("finished")
        publish(folder.path, tmp_path / "results")
        return tmp_path / "results"

    return put
