"""A sweep never waits for ever, nor without a word, whatever the clocks say and whatever stands in a lease's place."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optac.runs import folder, lease
from optac.runs.folder import RunFolder
from optac.runs.lease import Claim, Lease, LeaseWatch, attempt_path, holder, newest_attempt
from optac.runs.lock import FencedOff
from optac.sweeps import launcher
from optac.sweeps.launcher import Watching, run_sweep
from optac.sweeps.plan import sweep_of
from optac.sweeps.standing import run_standing
from tests.sweeps.test_launcher import Here

HOUR = 3600.0
GIVEN = {
    "sweep": {
        "algorithms": ["opt-ac"],
        "problems": ["combination-lock horizon=2 actions=2"],
        "seeds": 2,
        "iterations": 2,
    }
}


def foreign(run: Path, date: float = 0.0) -> Path:
    """A lease of another machine's, dated so many seconds from now."""
    path = attempt_path(run, 1)
    path.parent.mkdir(parents=True)
    said = {"attempt": 1, "launcher": "theirs", "owner": "process 7 on far", "machine": "far", "ended": False}
    path.write_text(json.dumps(said))
    os.utime(path, (time.time() + date, time.time() + date))
    return path


def folder_for_a_lease(run: Path) -> None:
    attempt_path(run, 1).mkdir(parents=True)


def empty_lease(run: Path) -> None:
    foreign(run).write_text("")


def lease_of_a_list(run: Path) -> None:
    foreign(run).write_text("[1, 2]")


def lease_without_a_number(run: Path) -> None:
    foreign(run).rename(run / "attempts" / "9z.json")


def lease_with_a_short_number(run: Path) -> None:
    foreign(run).rename(run / "attempts" / "9.json")


def lease_with_an_odd_number(run: Path) -> None:
    foreign(run).rename(run / "attempts" / "0_1.json")


def pipe_for_a_lease(run: Path) -> None:
    foreign(run).unlink()
    os.mkfifo(attempt_path(run, 1))


def lease_of_many_levels(run: Path) -> None:
    foreign(run).write_text("[" * 100_000)


def file_for_the_attempts(run: Path) -> None:
    (run / "attempts").write_text("")


def link_for_a_lease(run: Path) -> None:
    path = foreign(run)
    path.rename(run / "elsewhere")
    path.symlink_to(run / "elsewhere")


def lease_in_the_future(run: Path) -> None:
    foreign(run, HOUR)


def lease_from_the_past(run: Path) -> None:
    foreign(run, -HOUR)


def fresh_lease(run: Path) -> None:
    foreign(run)


LEFT_ALONE = (
    *(folder_for_a_lease, empty_lease, lease_of_a_list, lease_without_a_number, link_for_a_lease),
    *(lease_with_a_short_number, lease_with_an_odd_number, pipe_for_a_lease, lease_of_many_levels),
)
FAILED = (file_for_the_attempts,)
TAKEN_OVER = (lease_in_the_future, lease_from_the_past, fresh_lease)


@pytest.mark.parametrize("put", [*LEFT_ALONE, *FAILED, *TAKEN_OVER], ids=lambda put: put.__name__)
def test_a_sweep_goes_on_and_says_what_it_found(
    put: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "SECONDS_TO_LIVE", 0.3)
    monkeypatch.setattr(launcher, "SECONDS_BETWEEN_LOOKS", 0.05)
    sweep = sweep_of("locks", GIVEN)
    first, second = (run.id for run in sweep.runs)
    launcher.lay_out(sweep, tmp_path)
    put(tmp_path / first)
    said: list[str] = []

    class Slow(Here):
        def ended(self, seconds: int | float) -> list[Any]:
            time.sleep(seconds)
            return super().ended(seconds)

    standing = run_sweep(sweep, tmp_path, Slow(), retries=0, watching=Watching(say=said.append))
    states = {run.id: run.state for run in standing.runs}
    assert states[second] == "finished"
    assert any((first in text and "attempts" in text) or "held by process 7 on far" in text for text in said)
    assert states[first] == ("finished" if put in TAKEN_OVER else "failed")


@pytest.mark.parametrize("put", [Path.touch, os.mkfifo, Path.mkdir], ids=["file", "pipe", "folder"])
def test_a_run_whose_place_is_taken_is_not_said_to_wait(put: Callable[[Path], None], tmp_path: Path) -> None:
    """Else a sweep that leaves it alone would end with 0."""
    put(tmp_path / "run")
    shown = run_standing(tmp_path / "run")
    assert shown.state == ("waiting" if put is Path.mkdir else "failed")
    assert put is Path.mkdir or "where optac keeps a folder" in str(shown.why)


def test_a_watched_lease_lives_while_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    path, watch = foreign(tmp_path, HOUR), LeaseWatch()
    attempt = newest_attempt(tmp_path)
    assert attempt is not None
    for touched in range(3):
        os.utime(path, (touched, touched))  # clocks of any age
        assert watch.is_alive(attempt)
        clock[0] += lease.SECONDS_TO_LIVE - 1
        assert watch.is_alive(attempt)
    clock[0] += 2
    assert not watch.is_alive(attempt)
    assert holder(tmp_path, watch=watch) is None
    os.utime(path, (9, 9))
    assert holder(tmp_path, watch=watch) == "process 7 on far"


@pytest.mark.parametrize(("date", "alive"), [(0.0, True), (-HOUR, False), (HOUR, False)])
def test_who_looks_once_goes_by_the_date(date: float, alive: bool, tmp_path: Path) -> None:
    foreign(tmp_path, date)
    assert (holder(tmp_path) is not None) == alive


@pytest.mark.parametrize("claim", [None, Claim(1, "mine")], ids=["lock", "lease"])
@pytest.mark.parametrize("rival", [False, True])
def test_a_lock_removed_while_held_ends_the_writing(claim: Claim | None, rival: bool, tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", {"kind": "train"})
    with RunFolder.open(tmp_path / "run", claim) as folder:
        folder.append({"step": 1})
        (attempt_path(folder.path, 1) if claim else folder.path / "lock").unlink()
        if rival and claim is None:
            RunFolder.open(folder.path).lock()
        if rival and claim is not None:
            Lease.take(folder.path, Claim(2, "other"))
        for write in (lambda: folder.append({"step": 2}), lambda: folder.set_status("finished")):
            with pytest.raises(FencedOff, match="nothing more is written"):
                write()
    assert folder.rows() == [{"step": 1}] and folder.status is None


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def no_links(*_: Any, **__: Any) -> None:
    raise PermissionError(1, "Operation not permitted")


LOST: dict[str, tuple[Any, str, Callable[..., None], Claim | None]] = {
    "a disk without hard links": (lease, "link", no_links, Claim(1, "mine")),
    "a full disk for the lease": (os, "pwrite", full_disk, Claim(1, "mine")),
    "a full disk for the lock": (os, "pwrite", full_disk, None),
    "an attempt that cannot be read": (folder, "holder", full_disk, Claim(1, "mine")),
    "a last word that cannot be written": (lease, "write_plain", full_disk, Claim(1, "mine")),
}


@pytest.mark.parametrize("case", LOST)
def test_a_lock_that_could_not_be_taken_or_given_up_leaves_nothing_open(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name, fails, claim = LOST[case]
    run = RunFolder.create(tmp_path / "run", {"kind": "train"}).path
    before = sorted(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patched, pytest.raises(OSError, match=r"No space|not permitted"):
        patched.setattr(place, name, fails)
        with RunFolder.open(run, claim):
            pass
    assert sorted(os.listdir("/proc/self/fd")) == before
