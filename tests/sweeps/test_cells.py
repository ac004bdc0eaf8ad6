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
    Path(folder, "pid").write_text(str(os.getpid()))
    time.sleep(600)

def failing(folder):
    while not Path(folder, "pid").exists() or not Path(folder, "pid").read_text():
        time.sleep(0.05)
    raise ValueError("no row")
"""
STUDY = """
import sys
from pathlib import Path
from optac.registry import add_paths
from optac.sweeps.cells import Cell, run_study

if __name__ == "__main__":
    folder, names = sys.argv[1], sys.argv[2:]
    add_paths([folder])
    cells = [Cell(name, f"cells_of_a_test:{name}", {"folder": folder}) for name in names]
    run_study(Path(folder, "out"), {"kind": "study"}, cells, jobs=2)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_workers_end_at_once_with_a_study_that_is_stopped_or_fails(tmp_path: Path, stopped: bool) -> None:
    (tmp_path / "cells_of_a_test.py").write_text(CELLS)
    (tmp_path / "study.py").write_text(STUDY)
    command = [sys.executable, str(tmp_path / "study.py"), str(tmp_path), "long"]
    command += ["long"] if stopped else ["failing"]
    written = tmp_path / "pid"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            while not (written.exists() and written.read_text()):
                assert launcher.poll() is None
                time.sleep(0.05)
            if stopped:
                launcher.send_signal(signal.SIGINT)
            _, said = launcher.communicate(timeout=120)  # a worker sleeps for 600
        finally:
            launcher.kill()
    assert launcher.returncode != 0 and ("KeyboardInterrupt" if stopped else "no row") in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)
