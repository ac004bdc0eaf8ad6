"""A checkpoint on disk: arrays in safetensors, the rest in JSON, a manifest of SHA-256 hashes, no pickle.

A checkpoint is written aside, flushed to disk and renamed, so that one that has its name is whole. One that it
replaces is set aside until then, and found there should a kill fall between the two renames. What happened to a
checkpoint later (a flipped bit, a lost file) the manifest tells: it is what was written, or corrupt. The replay
buffer lies beside the checkpoints in pieces that are written once and never changed; a manifest names the pieces
its checkpoint needs, and saving costs only the rows that are new.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError

from optac.agents.training.replay_pieces import Piece, advice, is_ours, piece_of, save_piece, size_and_hash
from optac.agents.training.sealed_files import (
    Arrays,
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
from optac.plain_files import (
    is_plain_folder,
    is_there,
    make_folder,
    names_in,
    remove,
    remove_if_empty,
    rename,
    write_plain,
)

_ARRAYS: Final = "arrays.safetensors"
_META: Final = "meta.json"
_MANIFEST: Final = "manifest.json"
PIECES: Final = "replay"


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
    aside = beside(path, "tmp")
    try:
        clear(aside)
        make_folder(aside)
        write_arrays(aside / _ARRAYS, arrays)
        write_plain(aside / _META, json.dumps(meta).encode())
        if own_rows is not None:
            pieces = [save_piece(aside / PIECES, *own_rows)]
        files = {name: fingerprint(aside / name) for name in (_ARRAYS, _META)}
        manifest = {"files": files, "pieces": [asdict(piece) for piece in pieces]}
        write_plain(aside / _MANIFEST, json.dumps({**manifest, "sha256": digest(manifest)}).encode())
        flush(aside)
        _put_in_place(aside, path)
    except (TypeError, ValueError):  # a value that is no JSON: a fault of ours or of an agent's
        clear(aside)
        raise
    except (OSError, SafetensorError) as error:
        clear(aside)
        raise RunFailed(
            f"cannot save the checkpoint {path}: {error}; the ones before it are whole{advice(error)}"
        ) from error


def load(path: Path, pieces_folder: Path | None = None, *, replay: bool = True) -> Checkpoint:
    """The checkpoint at `path` after every byte of it has been compared with its manifest.

    Without `replay` the pieces are neither looked at nor named: networks need none. Where a kill fell while it was
    being replaced, it is the one from before.
    """
    if is_set_aside(path):
        path = beside(path, "replaced")
    folder = path / PIECES if pieces_folder is None else pieces_folder
    manifest = read_json(path / _MANIFEST)
    said = manifest.pop("sha256", None)
    if said != digest(manifest):
        raise corrupt(path / _MANIFEST, "its hash is not its own")
    try:
        checks = [(path / name, *size_and_hash(manifest["files"][name])) for name in (_ARRAYS, _META)]
    except (KeyError, TypeError) as error:
        raise corrupt(path / _MANIFEST, f"it lacks {error}") from error
    pieces = named_pieces(path)
    if replay:
        checks += [(folder / piece.name, piece.size, piece.sha256) for piece in pieces]
    for file, size, sha256 in checks:
        verify(file, size, sha256)
    return Checkpoint(path, read_json(path / _META), pieces if replay else (), folder)


def is_begun(path: Path) -> bool:
    """Whether anything of a checkpoint is at `path`, be it damaged."""
    files = (path / name for name in (_ARRAYS, _META, _MANIFEST))
    return is_set_aside(path) or (is_plain_folder(path) and any(map(is_there, files)))


def is_set_aside(path: Path) -> bool:
    """Whether a kill fell while the checkpoint at `path` was being replaced, so that it is found beside it."""
    return not is_there(path) and is_plain_folder(beside(path, "replaced"))


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


def named_pieces(path: Path) -> tuple[Piece, ...]:
    """The pieces of replay that a checkpoint's manifest names."""
    manifest = read_json(path / _MANIFEST)
    try:
        return tuple(piece_of(entry) for entry in manifest["pieces"])
    except (KeyError, TypeError) as error:
        raise corrupt(path / _MANIFEST, f"it lacks {error}") from error


def clear(place: Path) -> None:
    """Remove a checkpoint's own files, its manifest last, and the folder once nothing else is in it."""
    if not is_plain_folder(place):
        return
    pieces = place / PIECES
    if is_plain_folder(pieces):
        for name in filter(is_ours, names_in(pieces)):
            remove(pieces / name)
        remove_if_empty(pieces)
    for name in (_ARRAYS, _META, _MANIFEST):
        remove(place / name)
    remove_if_empty(place)


def beside(path: Path, suffix: str) -> Path:
    """Where a checkpoint is before it has its name, once it is replaced, or when it is on its way out."""
    return path.with_name(f"{path.name}.{suffix}")


def _put_in_place(aside: Path, path: Path) -> None:
    """Give a whole checkpoint its name; at every moment either it or the one it replaces can be loaded."""
    replaced = beside(path, "replaced")
    if is_there(path):
        clear(replaced)
        rename(path, replaced)
    try:
        rename(aside, path)
    except OSError:
        if is_there(replaced):
            rename(replaced, path)
        raise
    flush(path.parent)
    clear(replaced)


def _refuse_foreign(path: Path) -> None:
    """InvalidInput where saving to `path` would remove a file that no checkpoint holds."""
    for place in (path, beside(path, "tmp"), beside(path, "replaced")):
        stranger = _stranger(place)
        if stranger is None and place == path and is_there(place) and not is_there(place / _MANIFEST):
            stranger = next((place / name for name in names_in(place)), None)
        if stranger is not None:
            raise InvalidInput(
                f"{place} exists and is not a saved agent: saving there would remove {stranger}; "
                "give another path, or move it away"
            )


def _stranger(place: Path) -> Path | None:
    """The first file under `place` that no checkpoint holds; `place` itself where it is no folder."""
    if not is_plain_folder(place):
        return place if is_there(place) else None
    pieces = place / PIECES
    others = [place / name for name in names_in(place) if name not in (_ARRAYS, _META, _MANIFEST, PIECES)]
    if is_plain_folder(pieces):
        others += [pieces / name for name in names_in(pieces) if not is_ours(name)]
    elif is_there(pieces):
        others.append(pieces)
    return min(others, default=None)
