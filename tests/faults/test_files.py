"""Nothing outside a run's folder is read for it, written or removed, whatever stands in the place of its files."""

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optac import numpy_policy
from optac.agents.training import checkpoint, checkpoints, replay_pieces
from optac.agents.training.sealed_files import CheckpointCorrupt
from optac.errors import OptacError
from optac.plain_files import NotPlain, append_plain, read_plain
from optac.runs import training
from optac.runs.folder import RunFolder
from optac.runs.lease import Claim
from optac.sweeps.local_executor import Worker
from optac.sweeps.standing import run_standing
from optac.sweeps.worker import Task

PRECIOUS = "a year's work"
ARRAYS = {"weight": np.ones(3, np.float32)}
ROWS = {"reward": np.arange(5, dtype=np.float32)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that was stopped: two rows, two checkpoints, one shared piece of replay."""
    folder = RunFolder.create(tmp_path / "run", {"kind": "train"})
    with folder:
        for step in (1, 2):
            folder.append({"step": step})
            piece = replay_pieces.save_piece(checkpoints.pieces_folder(folder.checkpoints), 0, ROWS)
            checkpoint.save(
                checkpoints.checkpoint_path(folder.checkpoints, step), ARRAYS, {"step": step}, [piece]
            )
        folder.set_status("interrupted")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text(PRECIOUS)
    return folder.path


def go_on(run: Path, claim: Claim | None = None) -> None:
    """What resuming does to a folder, without the training: read, lock, cut, write, save, prune."""
    with RunFolder.open(run, claim) as folder:
        assert folder.config["kind"] == "train" and folder.status is not None
        found, damage = checkpoints.newest_sound(folder.checkpoints)
        if found is None:
            raise damage[0]
        folder.set_status("running")
        folder.cut(lambda row: row["step"] <= 1)
        folder.append({"step": 3})
        for step in (3, 4, 5, 6):
            piece = replay_pieces.save_piece(checkpoints.pieces_folder(folder.checkpoints), step, ROWS)
            checkpoint.save(checkpoints.checkpoint_path(folder.checkpoints, step), ARRAYS, {}, [piece])
            checkpoints.prune(folder.checkpoints)


def link_to_file(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "precious")


def link_to_folder(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


def link_to_nothing(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "new")


def hard_link(path: Path, outside: Path) -> None:
    path.hardlink_to(outside / "precious")


def pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def folder_there(path: Path, outside: Path) -> None:
    path.mkdir()


def listening_socket(path: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        here = os.open(path.parent, os.O_RDONLY)
        opened.bind(f"/proc/self/fd/{here}/{path.name}")  # a socket's whole name may have 107 letters only
        os.close(here)


IN_ITS_PLACE: list[tuple[str, Callable[[Path, Path], None]]] = [
    ("lock", link_to_file),
    ("lock", link_to_nothing),
    ("lock", hard_link),
    ("lock", pipe),
    ("lock", folder_there),
    ("lock", listening_socket),
    ("metrics.jsonl", link_to_file),
    ("metrics.jsonl", link_to_nothing),
    ("metrics.jsonl", hard_link),
    ("metrics.jsonl", pipe),
    ("metrics.jsonl", folder_there),
    ("status.json", link_to_file),
    ("status.json", pipe),
    ("status.json", folder_there),
    ("checkpoints", link_to_folder),
    ("checkpoints", pipe),
    ("checkpoints/replay", link_to_folder),
    ("checkpoints/replay", link_to_nothing),
    ("attempts", link_to_folder),
    ("tensorboard", link_to_folder),
]


@pytest.mark.parametrize(
    ("name", "put"), IN_ITS_PLACE, ids=[f"{name} is a {put.__name__}" for name, put in IN_ITS_PLACE]
)
def test_a_run_with_something_else_in_a_files_place_is_refused(
    name: str, put: Callable[[Path, Path], None], run: Path
) -> None:
    outside, place = run.parent / "outside", run / name
    if os.path.lexists(place):
        place.rename(run.parent / "moved away")
    put(place, outside)
    with pytest.raises(NotPlain, match=name):
        go_on(run)
    assert sorted(path.name for path in outside.iterdir()) == ["precious"]
    assert (outside / "precious").read_text() == PRECIOUS


@pytest.mark.parametrize("put", [link_to_file, pipe, hard_link])
def test_a_workers_errors_are_not_written_elsewhere(put: Callable[[Path, Path], None], run: Path) -> None:
    put(run / "stderr.log", run.parent / "outside")
    with pytest.raises(NotPlain, match=r"stderr\.log"):
        Worker.start(Task(str(run), 1, "launcher", str(run)))
    assert (run.parent / "outside" / "precious").read_text() == PRECIOUS


def test_a_run_of_a_sweep_with_a_pipe_for_its_rows_is_shown_as_failed(run: Path) -> None:
    (run / "metrics.jsonl").unlink()
    os.mkfifo(run / "metrics.jsonl")
    shown = run_standing(run)
    assert shown.state == "failed" and "is a pipe" in str(shown.why)


@pytest.mark.parametrize("name", ["manifest.json", "arrays.safetensors", "meta.json", ""])
@pytest.mark.parametrize("put", [link_to_file, link_to_folder, pipe, folder_there])
def test_a_checkpoint_with_something_else_in_a_files_place_is_corrupt(
    name: str, put: Callable[[Path, Path], None], run: Path
) -> None:
    place = run / "checkpoints" / "ckpt_000000000002" / name
    place.rename(run.parent / "moved away")
    put(place, run.parent / "outside")
    found, damage = checkpoints.newest_sound(run / "checkpoints")
    assert found is not None and found.meta == {"step": 1}
    assert isinstance(damage[0], CheckpointCorrupt) and str(place) in str(damage[0])


OWN_FILES = [
    "notes.txt",
    "checkpoints/notes.txt",
    "checkpoints/replay/notes.txt",
    "checkpoints/replay/rows-000000000000-000000000009-0123456789abcdef.safetensors",
    "checkpoints/ckpt_000000000001/notes.txt",
    "checkpoints/ckpt_000000000001/replay/notes.txt",
]


@pytest.mark.parametrize("name", OWN_FILES)
def test_a_file_of_the_users_own_survives(name: str, run: Path) -> None:
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).write_text(PRECIOUS)
    go_on(run)
    kept = [path for path in run.rglob(Path(name).name) if path.read_text() == PRECIOUS]
    assert len(kept) == 1
    assert sorted(checkpoints.listed(run / "checkpoints"))[-1].name == "ckpt_000000000006"


def test_pieces_that_no_checkpoint_needs_any_more_are_removed(run: Path) -> None:
    go_on(run)
    left = sorted(int(file.name[5:17]) for file in (run / "checkpoints" / "replay").iterdir())
    assert left == [4, 5, 6]


@pytest.mark.parametrize("name", ["checkpoints", "checkpoints/replay", "checkpoints/ckpt_000000000001"])
def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    name: str, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just before every third file is opened, moved or removed: what is outside has the same names, and stays."""
    outside = run.parent / "outside"
    shutil.copytree(run / name, outside / "same")
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    monkeypatch.setattr(os, "fsync", lambda file: None)
    swapped, at = True, 0
    while swapped:
        copy, at = run.parent / f"run-{at}", at + 3
        shutil.copytree(run, copy)
        with monkeypatch.context() as patched, contextlib.suppress(OptacError, OSError):
            swap_at(at, copy / name, outside / "same", patched)
            go_on(copy)
        swapped = (copy / name).is_symlink()
        assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before, at
    assert at > 30


def swap_at(at: int, place: Path, target: Path, patched: pytest.MonkeyPatch) -> None:
    """Before the call of this number that changes or reads a file, put a link to the target in a folder's place."""
    count, opening = 0, os.open

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += call is not opening or not arguments[1] & os.O_PATH
            if count == at and place.is_dir():
                place.rename(place.with_name("moved"))
                place.symlink_to(target)
            return call(*arguments, **named)

        return made

    for name in ("open", "unlink", "rename", "mkdir", "rmdir"):
        patched.setattr(os, name, counted(getattr(os, name)))


def test_a_file_made_aside_does_not_write_through_a_link(run: Path) -> None:
    outside = run.parent / "outside" / "precious"
    (run / f"status.json.{os.getpid()}.tmp").symlink_to(outside)
    (run / "checkpoints" / "replay" / "rows.tmp").symlink_to(outside)
    go_on(run)
    assert outside.read_text() == PRECIOUS


def test_an_attempt_does_not_write_through_a_link(run: Path) -> None:
    outside = run.parent / "outside" / "precious"
    (run / "attempts").mkdir()
    (run / "attempts" / "000001.tmp").symlink_to(outside)
    go_on(run, Claim(1, "mine"))
    assert outside.read_text() == PRECIOUS
    assert json.loads((run / "attempts" / "000001.json").read_text())["ended"] is True


def test_a_file_is_added_to_and_read(tmp_path: Path) -> None:
    for part in (b"one", b"two"):
        append_plain(tmp_path / "file", part)
    assert read_plain(tmp_path / "file") == b"onetwo"
    with pytest.raises(OptacError, match="is a folder"):
        append_plain(tmp_path, b"three")


@pytest.mark.parametrize("place", ["best.npz", ".best.npz.{}.part"])
def test_the_best_policy_is_not_written_through_a_link(place: str, run: Path) -> None:
    outside = run.parent / "outside" / "precious"
    (run / place.format(os.getpid())).symlink_to(outside)
    layers = [(np.ones((1, 2), np.float32), np.zeros(2, np.float32))]
    numpy_policy.save(run / "best.npz", layers=layers, activation="relu", action_low=[-1], action_high=[1])
    assert outside.read_text() == PRECIOUS and not (run / "best.npz").is_symlink()
    assert numpy_policy.load(run / "best.npz")(np.ones(1)) == np.tanh(np.float32(1))


@pytest.mark.parametrize("put", [link_to_file, pipe, folder_there])
def test_a_best_policy_is_read_from_a_plain_file_alone(put: Callable[[Path, Path], None], run: Path) -> None:
    put(run / "best.npz", run.parent / "outside")
    with RunFolder.open(run) as folder:
        folder.append({"time/total_timesteps": 3, "eval/mean_reward": 1.0})
        with pytest.raises(NotPlain, match=r"best\.npz"):
            training._best_policy(folder, {})
