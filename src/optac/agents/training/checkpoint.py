"""Checkpoints on disk: arrays in safetensors, the rest in JSON, a manifest of SHA-256 hashes, no pickle.

A checkpoint is written aside, flushed to disk and renamed, so that one that has its name is whole. One that it
replaces is set aside until then, and found there should a kill fall between the two renames. What happened to a
checkpoint later (a flipped bit, a lost file) the manifest tells: it is what was written, or corrupt. The replay
buffer lies beside the checkpoints in pieces that are written once and never changed; a manifest names the pieces
its checkpoint needs, and saving costs only the rows that are new.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError

from optac.agents.training.replay_pieces import Piece, advice, is_ours, piece_of, save_piece, size_and_hash
from optac.agents.training.sealed_files import (
    Arrays,
    CheckpointCorrupt,
    corrupt,
    digest,
    fingerprint,
    flush,
    read_arrays,
    read_json,
    verify,
    write_arrays,
)
from optac.errors import InvalidInput, OptacError, RunFailed
from optac.plain_files import NotPlain, is_folder, is_there, write_plain

KEPT: Final = 3
_ARRAYS: Final = "arrays.safetensors"
_META: Final = "meta.json"
_MANIFEST: Final = "manifest.json"
_PIECES: Final = "replay"
_NAME: Final = re.compile(r"ckpt_(\d{12})")
_LEFTOVER: Final = re.compile(r"ckpt_\d{12}\.(tmp|replaced|removed)")


@dataclass(frozen=True)
class Checkpoint:
    """A verified checkpoint: where it is, its JSON and its replay pieces; arrays are read on demand.

    `damaged` are pieces that it names and that are not what was written: `rows` leaves them out.
    """

    path: Path
    meta: dict[str, Any]
    pieces: tuple[Piece, ...]
    pieces_folder: Path
    damaged: tuple[Piece, ...] = ()

    def arrays(self) -> Arrays:
        """Every array of the checkpoint."""
        return read_arrays(self.path / _ARRAYS)

    def rows(self) -> Iterator[tuple[Piece, Arrays]]:
        """The replay, piece by piece in order."""
        for piece in self.pieces:
            if piece in self.damaged:
                continue
            yield piece, read_arrays(self.pieces_folder / piece.name)


def save(
    path: Path,
    arrays: Mapping[str, np.ndarray],
    meta: Mapping[str, Any],
    pieces: Sequence[Piece] = (),
    own_rows: tuple[int, Mapping[str, np.ndarray]] | None = None,
) -> None:
    """Write a checkpoint under `path`, whole or not at all; one that was there before is replaced.

    `pieces` lie beside it already; `own_rows`, numbered from their first entry, go inside it. Where `path` is
    anything but a checkpoint it is refused, and nothing is touched.
    """
    _refuse_foreign(path)
    aside = _beside(path, "tmp")
    try:
        _clear(aside)
        aside.mkdir(parents=True)
        write_arrays(aside / _ARRAYS, arrays)
        write_plain(aside / _META, json.dumps(meta).encode())
        if own_rows is not None:
            pieces = [save_piece(aside / _PIECES, *own_rows)]
        files = {name: fingerprint(aside / name) for name in (_ARRAYS, _META)}
        manifest = {"files": files, "pieces": [asdict(piece) for piece in pieces]}
        write_plain(aside / _MANIFEST, json.dumps({**manifest, "sha256": digest(manifest)}).encode())
        flush(aside)
        _put_in_place(aside, path)
    except (OSError, SafetensorError) as error:
        _clear(aside)
        raise RunFailed(
            f"cannot save the checkpoint {path}: {error}; the ones before it are whole{advice(error)}"
        ) from error


def load(path: Path, pieces_folder: Path | None = None, *, replay: bool = True) -> Checkpoint:
    """The checkpoint at `path` after every byte of it has been compared with its manifest.

    Without `replay` the pieces are neither looked at nor named: networks need none. Where a kill fell while it was
    being replaced, it is the one from before.
    """
    if is_set_aside(path):
        path = _beside(path, "replaced")
    folder = path / _PIECES if pieces_folder is None else pieces_folder
    _refuse_links(path, folder)
    manifest = read_json(path / _MANIFEST)
    said = manifest.pop("sha256", None)
    if said != digest(manifest):
        raise corrupt(path / _MANIFEST, "its hash is not its own")
    try:
        checks = [(path / name, *size_and_hash(manifest["files"][name])) for name in (_ARRAYS, _META)]
        pieces = tuple(piece_of(entry) for entry in manifest["pieces"])
    except (KeyError, TypeError) as error:
        raise corrupt(path / _MANIFEST, f"it lacks {error}") from error
    if replay:
        checks += [(folder / piece.name, piece.size, piece.sha256) for piece in pieces]
    for file, size, sha256 in checks:
        verify(file, size, sha256)
    return Checkpoint(path, read_json(path / _META), pieces if replay else (), folder)


def is_set_aside(path: Path) -> bool:
    """Whether a kill fell while the checkpoint at `path` was being replaced, so that it is found beside it."""
    return not path.exists() and _beside(path, "replaced").is_dir()


@contextmanager
def read_as_ours(found: Checkpoint) -> Iterator[None]:
    """Turn what reading sound hashes but foreign content raises into CheckpointCorrupt."""
    try:
        yield
    except OptacError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise corrupt(
            found.path / _META, f"its content is not what optac writes ({type(error).__name__}: {error})"
        ) from error


def checkpoint_path(parent: Path, step: int) -> Path:
    """Where a run's checkpoint of this step is."""
    return parent / f"ckpt_{step:012d}"


def pieces_folder(parent: Path) -> Path:
    """Where the pieces of replay are that the checkpoints under `parent` share."""
    return parent / _PIECES


def listed(parent: Path) -> list[Path]:
    """The checkpoints under `parent`, newest first."""
    if not is_folder(parent):
        return []
    replaced = (p.with_suffix("") for p in parent.iterdir() if p.suffix == ".replaced")
    return sorted({p for p in (*parent.iterdir(), *replaced) if _NAME.fullmatch(p.name)}, reverse=True)


def newest_sound(parent: Path, *, replay: bool = True) -> tuple[Checkpoint | None, list[CheckpointCorrupt]]:
    """The newest checkpoint that is what was written, and what is wrong with the newer ones.

    Where each lacks a piece of its replay, it is the newest without the pieces that are damaged.
    """
    damage: list[CheckpointCorrupt] = []
    for path in listed(parent):
        try:
            return load(path, pieces_folder(parent), replay=replay), damage
        except CheckpointCorrupt as error:
            damage.append(error)
    for path in listed(parent) if replay else ():
        with suppress(CheckpointCorrupt):
            return _without_damaged_pieces(load(path, pieces_folder(parent), replay=False), damage)
    return None, damage


def _without_damaged_pieces(
    found: Checkpoint, damage: list[CheckpointCorrupt]
) -> tuple[Checkpoint, list[CheckpointCorrupt]]:
    """The checkpoint with the pieces that are sound, and what is wrong with the others."""
    pieces = tuple(piece_of(entry) for entry in read_json(found.path / _MANIFEST)["pieces"])
    damaged = []
    for piece in pieces:
        try:
            verify(found.pieces_folder / piece.name, piece.size, piece.sha256)
        except CheckpointCorrupt as error:
            damaged.append(piece)
            if str(error) not in map(str, damage):
                damage.append(error)
    return replace(found, pieces=pieces, damaged=tuple(damaged)), damage


def prune(parent: Path) -> None:
    """Remove all but the newest checkpoints and what kills left, with the pieces of replay that only they name.

    Whatever else lies there is somebody's own, and stays.
    """
    for path in listed(parent)[KEPT:]:
        remove(path)
    kept = [p if p.exists() else _beside(p, "replaced") for p in listed(parent)]
    gone = [p for p in parent.iterdir() if _LEFTOVER.fullmatch(p.name) and p not in kept]
    needed = [_named_pieces(path) for path in kept]
    if None not in needed:
        still = {name for names in needed for name in names or ()}
        for name in {name for path in gone for name in _named_pieces(path) or ()} - still:
            (pieces_folder(parent) / name).unlink(missing_ok=True)
    for path in gone:
        _clear(path)


def remove(path: Path) -> None:
    """Put a checkpoint out of the way for the next `prune`; a kill leaves nothing that looks like one."""
    for place in (_beside(path, "replaced"), path):
        if place.is_symlink() or not place.is_dir():
            continue
        doomed = _beside(path, "removed")
        _clear(doomed)
        if is_there(doomed):  # with a file in it that is not ours
            _clear(place)
        else:
            place.rename(doomed)


def _named_pieces(path: Path) -> set[str] | None:
    """The pieces that a checkpoint's manifest names; None where it can't be read."""
    try:
        return {piece_of(piece).name for piece in read_json(path / _MANIFEST)["pieces"]}
    except (CheckpointCorrupt, KeyError, TypeError):
        return None


def _clear(place: Path) -> None:
    """Remove a checkpoint's own files, its manifest last, and the folder once nothing else is in it."""
    if place.is_symlink() or not place.is_dir():
        return
    pieces = place / _PIECES
    if pieces.is_dir() and not pieces.is_symlink():
        for file in pieces.iterdir():
            if is_ours(file.name):
                file.unlink()
        _remove_if_empty(pieces)
    for name in (_ARRAYS, _META, _MANIFEST):
        (place / name).unlink(missing_ok=True)
    _remove_if_empty(place)


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()


def _refuse_links(*folders: Path) -> None:
    for folder in folders:
        try:
            is_folder(folder)
        except NotPlain as error:
            raise corrupt(folder, str(error)) from error


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _put_in_place(aside: Path, path: Path) -> None:
    """Give a whole checkpoint its name; at every moment either it or the one it replaces can be loaded."""
    replaced = _beside(path, "replaced")
    if path.exists():
        _clear(replaced)
        path.rename(replaced)
    try:
        aside.rename(path)
    except OSError:
        if replaced.exists():
            replaced.rename(path)
        raise
    flush(path.parent)
    _clear(replaced)


def _refuse_foreign(path: Path) -> None:
    """InvalidInput where saving to `path` would remove a file that no checkpoint holds."""
    for place in (path, _beside(path, "tmp"), _beside(path, "replaced")):
        stranger = _stranger(place)
        if stranger is None and place == path and place.exists() and not (place / _MANIFEST).is_file():
            stranger = next(place.iterdir(), None)
        if stranger is not None:
            raise InvalidInput(
                f"{place} exists and is not a saved agent: saving there would remove {stranger}; "
                "give another path, or move it away"
            )


def _stranger(place: Path) -> Path | None:
    """The first file under `place` that no checkpoint holds; `place` itself where it is no folder."""
    if not os.path.lexists(place):
        return None
    if place.is_symlink() or not place.is_dir():
        return place
    ours = {place / name for name in (_ARRAYS, _META, _MANIFEST)}
    pieces = place / _PIECES
    others = [file for file in place.iterdir() if file not in ours and file != pieces]
    if pieces.is_symlink() or (pieces.exists() and not pieces.is_dir()):
        others.append(pieces)
    elif pieces.is_dir():
        others += [f for f in pieces.iterdir() if not is_ours(f.name)]
    return min(others, default=None)
