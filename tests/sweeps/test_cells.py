"""A study that is stopped, or one of whose cells fails, ends at once with its workers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CELLS = """
import os, time
from pathlib import Path

def long(folder):
    Path(folder, f"pid-{os.getpid()}").touch()
    time.sleep(600)

def failing(folder):
    while not list(Path(folder).glob("pid-*")):
        time.sleep(0.05)
    raise ValueError("no row")
"""
STUDY = """
import sys
from pathlib import Path
from optac.registry import add_paths
from optac.signals import listen
from optac.sweeps.cells import Cell, run_study

if __name__ == "__main__":
    listen()
    folder, names = sys.argv[1], sys.argv[2:]
    add_paths([folder])
    cells = [Cell(f"{i}", f"cells_of_a_test:{name}", {"folder": folder}) for i, name in enumerate(names)]
    run_study(Path(folder, "out"), {"kind": "study"}, cells, jobs=2)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_workers_end_at_once_with_a_study_that_is_stopped_or_fails(tmp_path: Path, stopped: bool) -> None:
    (tmp_path / "cells_of_a_test.py").write_text(CELLS)
    (tmp_path / "study.py").write_text(STUDY)
    command = [sys.executable, str(tmp_path / "study.py"), str(tmp_path), "long"]
    command += ["long"] if stopped else ["failing"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            while len(workers := list(tmp_path.glob("pid-*"))) < command.count("long"):
                assert launcher.poll() is None or not stopped
                time.sleep(0.05)
            if stopped:
                launcher.send_signal(signal.SIGINT)
            _, said = launcher.communicate(timeout=120)  # a worker sleeps for 600
        finally:
            launcher.kill()
    assert launcher.returncode != 0 and ("KeyboardInterrupt" if stopped else "no row") in said
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(int(worker.name.partition("-")[2]), 0)
