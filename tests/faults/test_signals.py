"""A signal ends a command wherever it arrives: in its code, in a callback of the collector, in a destructor."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import probe_environments  # noqa: F401  (registers its environments)
import pytest

from optac.agents.training import deadline
from optac.errors import RunFailed, Terminated
from optac.runs.folder import RunFolder
from optac.runs.training import Interrupted, resume, train
from optac.signals import noted
from tests.faults.test_configuration import SETTINGS

COMMAND = """
import gc, os, signal, sys, time
from optac import cli
from optac.commands import list as command

def here(*arguments):
    if here in gc.callbacks:
        gc.callbacks.remove(here)
    os.kill(os.getpid(), signal.{name})
    time.sleep(0.01)
    {then}

class Doomed:
    def __del__(self):
        here()

def run(arguments):
    {place}
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        time.sleep(0.01)
    return 0

command.run = run
sys.exit(cli.main(["list"]))
"""
PLACES = {
    "in a callback of the collector": "gc.callbacks.append(here); gc.collect()",
    "in a destructor": "Doomed()",
    "in the command": "here()",
}
ENDINGS = {"SIGTERM": 143, "SIGINT": 130}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ENDINGS)
def test_a_signal_ends_a_command(place: str, name: str) -> None:
    script = COMMAND.format(name=name, place=PLACES[place], then="pass")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (ENDINGS[name], "optac: interrupted\n")


def test_a_signal_beside_another_error_in_a_callback_ends_the_command() -> None:
    """What the callback itself raises is shown, and does not take the signal's place."""
    guarded = "try:\n        gc.callbacks.append(here); gc.collect()\n    finally:\n        pass"
    script = COMMAND.format(name="SIGTERM", place=guarded, then="raise ValueError('mine')")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 143


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_training_ends_and_saves_where_the_collector_hears_the_signal(number: int, tmp_path: Path) -> None:
    def hear(phase: str, info: dict[str, Any]) -> None:
        gc.callbacks.remove(hear)
        os.kill(os.getpid(), number)
        time.sleep(0.01)

    def collect(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 40:
            gc.callbacks.append(hear)
            gc.collect()

    def trained(out: Path, **more: Any) -> Any:
        return train("probe/Drifting-v0", "sac", steps=80, seed=1, settings=SETTINGS, out=out, **more)

    with pytest.raises(Interrupted) as caught:
        trained(tmp_path / "run", on_row=collect)
    assert caught.value.exit_code == 128 + number
    assert (tmp_path / "run" / "checkpoints" / "ckpt_000000000040").is_dir()
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "interrupted"
    assert resume(tmp_path / "run").parameters_sha256 == trained(tmp_path / "whole").parameters_sha256


def test_a_first_signal_is_noted_and_a_second_raises() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), noted() as caught:
        os.kill(os.getpid(), signal.SIGTERM)
        assert caught == [signal.SIGTERM]
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_time_limit_that_rings_where_python_drops_it_rings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_SECONDS_TO_RING_AGAIN", 0.1)
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)

    def ring(phase: str, info: dict[str, Any]) -> None:
        gc.callbacks.remove(ring)
        time.sleep(0.2)

    with pytest.raises(RunFailed, match=r"the step took longer"), deadline.deadline(0.1, "the step"):
        gc.callbacks.append(ring)
        gc.collect()
        time.sleep(20)
