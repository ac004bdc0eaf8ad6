"""Short runs of every agent and algorithm come out as recorded: a rework that changes a result fails here.

On the recorded libraries and processor they are equal to the bit. Elsewhere the last bits may differ, so that
numbers are compared to a tolerance; what is counted is equal everywhere.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "values.json").read_text())


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """The same runs now, in a process of their own: threads are set before the first array is made."""
    plain = {name: value for name, value in os.environ.items() if name not in ("NPROC", "XLA_FLAGS")}
    command = [sys.executable, str(HERE / "measure.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_agent_and_algorithm_gives_its_recorded_result(measured: dict[str, Any]) -> None:
    assert measured["agents"].keys() == RECORDED["agents"].keys()
    assert measured["algorithms"].keys() == RECORDED["algorithms"].keys()
    for name, now in measured["algorithms"].items():
        then = RECORDED["algorithms"][name]
        assert (now["episodes"], now["bill"]) == (then["episodes"], then["bill"]), name
        assert (now["gap"], now["last_gap"]) == pytest.approx((then["gap"], then["last_gap"]), abs=1e-6), name
    for name, now in measured["agents"].items():
        assert now["action"] == pytest.approx(RECORDED["agents"][name]["action"], abs=1e-2), name


def test_on_the_recorded_platform_the_results_are_equal_to_the_bit(measured: dict[str, Any]) -> None:
    if measured["platform"] == RECORDED["platform"]:
        assert measured == RECORDED
