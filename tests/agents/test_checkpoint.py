"""A checkpoint is what was written or it is corrupt; no file makes optac run code or write elsewhere."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optac.agents.training import checkpoint, checkpoints, replay_pieces, sealed_files
from optac.agents.training.sealed_files import CheckpointCorrupt
from optac.errors import InvalidInput, RunFailed

ARRAYS = {"weight": np.arange(12, dtype=np.float32).reshape(3, 4), "scalar": np.float32(3.5)}
ROWS = {"reward": np.arange(5, dtype=np.float32)}


def write(parent: Path, step: int) -> Path:
    """A small checkpoint with a piece of replay beside it."""
    piece = replay_pieces.save_piece(checkpoints.pieces_folder(parent), 0, ROWS)
    path = checkpoints.checkpoint_path(parent, step)
    checkpoint.save(path, ARRAYS, {"step": step, "text": "φ"}, [piece])
    return path


def files_of(parent: Path, path: Path) -> list[Path]:
    return sorted([*path.iterdir(), *checkpoints.pieces_folder(parent).iterdir()])


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    write(tmp_path, 7)
    found, damage = checkpoints.newest_sound(tmp_path)
    assert found is not None and not damage
    assert found.meta == {"step": 7, "text": "φ"}
    loaded = found.arrays()
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array, strict=True)
    ((piece, rows),) = found.rows()
    assert (piece.start, piece.end) == (0, 5)
    np.testing.assert_array_equal(rows["reward"], ROWS["reward"])


def test_every_flipped_bit_is_detected_in_each_file(tmp_path: Path) -> None:
    write(tmp_path, 1)
    newest = write(tmp_path, 2)
    rng = np.random.default_rng(0)
    for file in newest.iterdir():
        good = file.read_bytes()
        for place in rng.integers(0, 8 * len(good), 50):
            bad = bytearray(good)
            bad[place // 8] ^= 1 << (place % 8)
            file.write_bytes(bad)
            found, damage = checkpoints.newest_sound(tmp_path)
            assert found is not None and found.meta["step"] == 1, (file, place)
            assert file.name in str(damage[0]) and "corrupt" in str(damage[0])
        file.write_bytes(good)


def test_a_flipped_bit_in_a_shared_piece_of_replay_is_detected(tmp_path: Path) -> None:
    write(tmp_path, 1)
    (piece,) = checkpoints.pieces_folder(tmp_path).iterdir()
    good = piece.read_bytes()
    for place in np.random.default_rng(0).integers(0, 8 * len(good), 50):
        bad = bytearray(good)
        bad[place // 8] ^= 1 << (place % 8)
        piece.write_bytes(bad)
        found, damage = checkpoints.newest_sound(tmp_path)
        assert found is not None and [one.name for one in found.damaged] == [piece.name]
        assert piece.name in str(damage[0]) and not list(found.rows())


@pytest.mark.parametrize("keep", ["nothing", "one byte", "half", "all but one byte", "no file"])
def test_truncated_and_missing_files_are_corrupt(tmp_path: Path, keep: str) -> None:
    path = write(tmp_path, 1)
    for file in files_of(tmp_path, path):
        good = file.read_bytes()
        sizes = {"nothing": 0, "one byte": 1, "half": len(good) // 2, "all but one byte": len(good) - 1}
        if keep == "no file":
            file.unlink()
        else:
            file.write_bytes(good[: sizes[keep]])
        with pytest.raises(CheckpointCorrupt, match=file.name):
            checkpoint.load(path, checkpoints.pieces_folder(tmp_path))
        file.write_bytes(good)


def test_an_empty_folder_is_corrupt(tmp_path: Path) -> None:
    checkpoints.checkpoint_path(tmp_path, 3).mkdir()
    found, damage = checkpoints.newest_sound(tmp_path)
    assert found is None and len(damage) == 1


def forge(path: Path, pieces: Any = (), **content: bytes) -> None:
    """A checkpoint of an attacker's making, its manifest consistent with its files."""
    path.mkdir(parents=True)
    for name, data in content.items():
        (path / name.replace("__", ".")).write_bytes(data)
    files = {name: sealed_files.fingerprint(path / name) for name in ("arrays.safetensors", "meta.json")}
    manifest = {"files": files, "pieces": list(pieces)}
    (path / "manifest.json").write_text(json.dumps({**manifest, "sha256": sealed_files.digest(manifest)}))


class Bomb:
    """Unpickling it would leave a file behind."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (self.mark,)


def test_a_pickle_in_place_of_arrays_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    forge(tmp_path / "c", arrays__safetensors=pickle.dumps(Bomb(str(mark))), meta__json=b"{}")
    with pytest.raises(CheckpointCorrupt, match=r"arrays\.safetensors"):
        checkpoint.load(tmp_path / "c").arrays()
    assert not mark.exists()


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 10**8])
def test_a_header_of_absurd_length_is_refused(tmp_path: Path, length: int) -> None:
    forge(tmp_path / "c", arrays__safetensors=length.to_bytes(8, "little") + b"{}", meta__json=b"{}")
    with pytest.raises(CheckpointCorrupt, match=r"arrays\.safetensors"):
        checkpoint.load(tmp_path / "c").arrays()


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    forge(tmp_path / "c", arrays__safetensors=b"", meta__json=b"[" * 10**5 + b"]" * 10**5)
    with pytest.raises(CheckpointCorrupt, match=r"meta\.json"):
        checkpoint.load(tmp_path / "c")


@pytest.mark.parametrize("name", ["../outside.safetensors", "/etc/hostname", "rows.safetensors", "", 7, None])
def test_a_manifest_cannot_name_other_files(tmp_path: Path, name: Any) -> None:
    piece = {"name": name, "start": 0, "end": 1, "size": 1, "sha256": "0"}
    forge(tmp_path / "c", [piece], arrays__safetensors=b"", meta__json=b"{}")
    with pytest.raises(CheckpointCorrupt, match="right name"):
        checkpoint.load(tmp_path / "c")


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    elsewhere = tmp_path / "elsewhere"
    (path / "arrays.safetensors").rename(elsewhere)
    (path / "arrays.safetensors").symlink_to(elsewhere)
    with pytest.raises(CheckpointCorrupt, match="not a plain file"):
        checkpoint.load(path, checkpoints.pieces_folder(tmp_path))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_as_a_manifest_give_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("c")
    (path / "manifest.json").write_bytes(data)
    with pytest.raises(CheckpointCorrupt):
        checkpoint.load(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["files", "pieces", "x"]), json_values))
def test_any_json_as_a_manifest_gives_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, manifest: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("c")
    sealed = {**manifest, "sha256": sealed_files.digest(manifest)}
    (path / "manifest.json").write_text(json.dumps(sealed))
    with pytest.raises(CheckpointCorrupt):
        checkpoint.load(path)


def test_the_last_three_are_kept_with_the_rows_they_need(tmp_path: Path) -> None:
    folder, pieces = checkpoints.pieces_folder(tmp_path), []
    for step in range(5):
        pieces = [*pieces[-1:], replay_pieces.save_piece(folder, 5 * step, ROWS)]
        checkpoint.save(checkpoints.checkpoint_path(tmp_path, step), ARRAYS, {}, pieces)
        checkpoints.prune(tmp_path)
    assert [int(path.name[5:]) for path in checkpoints.listed(tmp_path)] == [4, 3, 2]
    assert sorted(int(file.name[5:17]) for file in folder.iterdir()) == [5, 10, 15, 20]


KILLED_SAVES = """
import os, signal, sys
from pathlib import Path
import numpy as np
from optac.agents.training import checkpoint, checkpoints, replay_pieces

arrays, rows = {"weight": np.ones(9, np.float32)}, {"reward": np.ones(5, np.float32)}

def write(parent, step, version=1):
    piece = replay_pieces.save_piece(checkpoints.pieces_folder(parent), 0, rows)
    meta = {"step": step, "version": version}
    checkpoint.save(checkpoints.checkpoint_path(parent, step), arrays, meta, [piece])
    checkpoints.prune(parent)

def killed_at(fatal, parent, step):
    count = 0
    opening = os.open

    def counted(call):
        def wrapped(*arguments, **named):
            nonlocal count
            count += call is not opening or bool(arguments[1] & os.O_CREAT)  # to look changes nothing
            if count == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)
        return wrapped
    for name in ("fsync", "rename", "mkdir", "open", "unlink", "rmdir"):
        setattr(os, name, counted(getattr(os, name)))
    write(parent, step, version=2)

step, fatal = int(sys.argv[2]), 0
while True:
    fatal += 1
    parent = Path(sys.argv[1]) / str(fatal)
    for before in (1, 2, 3, 4):
        write(parent, before)
    child = os.fork()
    if child == 0:
        killed_at(fatal, parent, step)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found, damage = checkpoints.newest_sound(parent)
    assert found is not None and not damage, (fatal, damage)
    assert found.meta["step"] in (4, step), fatal
    write(parent, step, version=3)
    assert checkpoints.newest_sound(parent)[0].meta == {"step": step, "version": 3}, fatal
    assert all(p.name == "replay" or p.name[5:].isdigit() for p in parent.iterdir()), fatal
    if os.WIFEXITED(status):
        break
print(fatal)
"""


@pytest.mark.parametrize("step", [5, 4], ids=["a new name", "a name that exists"])
def test_a_kill_between_any_two_steps_of_a_save_leaves_a_sound_checkpoint(step: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_SAVES, str(tmp_path), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_a_save_without_room_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 1)

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFailed, match=r"No space left.*make room"):
        write(tmp_path, 2)
    monkeypatch.undo()
    found, damage = checkpoints.newest_sound(tmp_path)
    assert found is not None and found.meta["step"] == 1 and not damage
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("place", ["mine", "mine.tmp", "mine.replaced"])
@pytest.mark.parametrize("file", ["notes.txt", "replay/notes.txt", None])
def test_a_save_removes_no_file_that_is_not_a_checkpoints(
    place: str, file: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "mine"
    precious = tmp_path / place if file is None else tmp_path / place / file
    if place == "mine" and file is not None:
        checkpoint.save(path, ARRAYS, {})
    precious.parent.mkdir(parents=True, exist_ok=True)
    precious.write_text("a year's work")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput, match=f"not a saved agent.*{precious.name}"):
        checkpoint.save(path, ARRAYS, {})
    assert precious.read_text() == "a year's work"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_without_a_manifest_is_not_replaced_by_a_save(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("somebody else's")
    with pytest.raises(InvalidInput, match=r"not a saved agent.*meta\.json"):
        checkpoint.save(tmp_path, ARRAYS, {})
    assert (tmp_path / "meta.json").read_text() == "somebody else's"


def test_a_rename_that_fails_leaves_the_replaced_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rename = tmp_path / "mine", os.rename
    checkpoint.save(path, ARRAYS, {"version": 1})

    def refuse(name: str, to: str, **folders: int) -> None:
        if name == "mine.tmp":
            raise OSError(13, "Permission denied")
        rename(name, to, **folders)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(RunFailed, match="Permission denied") as caught:
        checkpoint.save(path, ARRAYS, {"version": 2})
    assert "make room" not in str(caught.value)
    assert checkpoint.load(path).meta == {"version": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
