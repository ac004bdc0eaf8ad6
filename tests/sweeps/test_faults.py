"""A sweep of trainings whose launcher, worker and checkpoints are destroyed ends as one left in peace."""

import json
import os
import signal
from pathlib import Path

import pytest
from disturbed_sweep import damage, half_done, launcher, plain_rows, serial, sweep_file, worker_pid

from optac.runs.lease import newest_attempt
from optac.sweeps.plan import read_sweep


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seeds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_sweep_destroyed_again_and_again_ends_as_one_left_in_peace(seeds: int, tmp_path: Path) -> None:
    file, out = sweep_file(tmp_path, seeds=seeds), tmp_path / "out"
    sweep = read_sweep(file)
    with launcher(file, out, "--jobs", "2") as first, half_done(first, out, sweep):
        os.kill(first.pid, signal.SIGKILL)
    with launcher(file, out, "--jobs", "2") as second:
        with half_done(second, out, sweep) as hit:
            worker = newest_attempt(hit)
            assert worker is not None
            os.kill(worker_pid(hit), signal.SIGKILL)
            damage(hit)  # while the next attempt still starts
        with half_done(second, out, sweep, attempt=worker.number + 1):
            os.kill(second.pid, signal.SIGKILL)
    with launcher(file, out, "--jobs", "2") as third:
        said, _ = third.communicate(timeout=600)
        assert third.returncode == 0
    assert "corrupt checkpoint file" in (hit / "stderr.log").read_text()
    answer = json.loads(said)
    assert answer["finished"] == len(answer["runs"]) == seeds
    assert sum(run["attempts"] >= 2 for run in answer["runs"]) >= 2
    undisturbed = serial(sweep, tmp_path / "serial")
    assert {run["id"]: run["parameters_sha256"] for run in answer["runs"]} == undisturbed
    for run in sweep.runs:
        assert plain_rows(out / run.id) == plain_rows(tmp_path / "serial" / run.id)
