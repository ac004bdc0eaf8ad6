"""A run has one writer: attempts are numbered, a newer one fences the older off, a dead owner's is taken over."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from optac.runs import lease
from optac.runs.folder import RunFolder
from optac.runs.lease import Claim, Lease, holder, newest_attempt
from optac.runs.lock import FencedOff, RunFolderBusy

OWNER = """
import sys, time
from optac.runs.lease import Claim
from optac.runs.folder import RunFolder
RunFolder.open(sys.argv[1], Claim(int(sys.argv[2]), "theirs")).lock()
print("locked", flush=True)
time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return RunFolder.create(tmp_path / "run", {"kind": "train"}).path


def owner(run: Path, number: int) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", OWNER, str(run), str(number)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "locked\n"
    return process


def test_an_attempts_number_has_one_owner(run: Path) -> None:
    taken = Lease.take(run, Claim(1, "a"))
    with pytest.raises(RunFolderBusy, match=r"attempt 1 at .* is another worker's"):
        Lease.take(run, Claim(1, "b"))
    assert [path.name for path in (run / "attempts").iterdir()] == ["000001.json"]
    taken.release()


def test_a_late_writer_is_fenced_off_and_changes_nothing(run: Path) -> None:
    late = RunFolder.open(run, Claim(1, "a")).lock()
    late.append({"step": 1})
    late.set_status("running")
    with RunFolder.open(run, Claim(2, "a")) as retry:
        before = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
        for write in (
            lambda: late.append({"step": 2}),
            lambda: late.set_status("finished"),
            lambda: late.cut(lambda row: False),
            late.check,
        ):
            with pytest.raises(
                FencedOff, match=r"attempt 1 at .* a newer one has begun; nothing more is written"
            ):
                write()
        assert {path: path.read_bytes() for path in run.iterdir() if path.is_file()} == before
        retry.append({"step": 2})
        retry.set_status("finished")
    assert [row["step"] for row in retry.rows()] == [1, 2]


def test_who_only_looks_does_not_keep_a_run_from_its_owner(run: Path) -> None:
    (run / "lock").touch()
    looker = os.open(run / "lock", os.O_RDONLY)
    fcntl.flock(looker, fcntl.LOCK_SH)
    threading.Timer(0.1, os.close, [looker]).start()
    with RunFolder.open(run):
        assert holder(run) is not None


def test_a_living_owner_is_named_and_a_dead_ones_run_is_free_at_once(run: Path) -> None:
    process = owner(run, 1)
    with process:
        assert holder(run, besides="mine") == f"process {process.pid} on {os.uname().nodename}"
        assert holder(run, besides="theirs") is None  # a launcher may begin its own run anew
        with pytest.raises(RunFolderBusy, match=f"in use by process {process.pid}"):
            RunFolder.open(run).lock()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert holder(run, besides="mine") is None
    with RunFolder.open(run, Claim(2, "mine")):
        attempt = newest_attempt(run)
        assert attempt is not None and attempt.number == 2 and attempt.is_alive()
    assert not newest_attempt(run).is_alive()  # type: ignore[union-attr]


def test_an_attempt_is_given_back_where_a_plain_run_has_the_folder(run: Path) -> None:
    with RunFolder.open(run), pytest.raises(RunFolderBusy, match="in use by process"):
        RunFolder.open(run, Claim(1, "a")).lock()
    assert newest_attempt(run).ended  # type: ignore[union-attr]


def test_an_owner_elsewhere_lives_while_it_touches_its_file(run: Path, monkeypatch) -> None:
    monkeypatch.setattr(lease, "SECONDS_BETWEEN_TOUCHES", 0.02)
    others = threading.enumerate()
    taken = Lease.take(run, Claim(1, "a"))
    (touching,) = (thread for thread in threading.enumerate() if thread not in others)
    elsewhere = {**json.loads(taken.path.read_text()), "machine": "another"}
    taken.path.write_text(json.dumps(elsewhere))
    os.utime(taken.path, (0, 0))
    while taken.path.stat().st_mtime == 0:
        time.sleep(0.01)
    assert newest_attempt(run).is_alive()  # type: ignore[union-attr]
    taken._released.set()
    touching.join()
    long_ago = time.time() - lease.SECONDS_TO_LIVE - 1
    os.utime(taken.path, (long_ago, long_ago))
    assert not newest_attempt(run).is_alive()  # type: ignore[union-attr]
    os.close(taken._file)
