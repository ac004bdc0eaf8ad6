"""Replay on disk, in pieces that are written once and never changed."""

import errno
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError

from optac.agents.training.sealed_files import fingerprint, flush, write_arrays
from optac.errors import RunFailed
from optac.plain_files import make_folder, remove, rename

_ASIDE: Final = "rows.tmp"
_NAME: Final = re.compile(r"rows-\d{12}-\d{12}-[0-9a-f]{16}\.safetensors")


@dataclass(frozen=True)
class Piece:
    """Rows start … end − 1 of the run's replay, in a file of their own."""

    name: str
    start: int
    end: int
    size: int
    sha256: str


def save_piece(folder: Path, start: int, rows: Mapping[str, np.ndarray]) -> Piece:
    """Write rows of replay, numbered from `start`, as a piece that is never changed again."""
    count = len(next(iter(rows.values())))
    aside = folder / _ASIDE
    try:
        make_folder(folder)
        write_arrays(aside, rows)
        found = fingerprint(aside)
        name = f"rows-{start:012d}-{start + count:012d}-{found['sha256'][:16]}.safetensors"
        rename(aside, folder / name)
        flush(folder)
    except (OSError, SafetensorError) as error:
        remove(aside)
        raise RunFailed(
            f"cannot save replay rows in {folder}: {error}; earlier checkpoints are whole{advice(error)}"
        ) from error
    return Piece(name, start, start + count, found["size"], found["sha256"])


def piece_of(entry: Any) -> Piece:
    """The manifest's words about a piece; a KeyError or TypeError where they are not ours."""
    name, start, end = entry["name"], entry["start"], entry["end"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise TypeError(f"a right name for a piece: {name!r}")
    if type(start) is not int or type(end) is not int:
        raise TypeError(f"the numbers of the rows in {name}")
    return Piece(name, start, end, *size_and_hash(entry))


def is_ours(name: str) -> bool:
    """Whether a file of this name is a piece, or one that a kill left half-written."""
    return name == _ASIDE or _NAME.fullmatch(name) is not None


def size_and_hash(entry: Any) -> tuple[int, str]:
    """A manifest's entry for a file; a KeyError or TypeError where it does not."""
    size, sha256 = entry["size"], entry["sha256"]
    if type(size) is not int or not isinstance(sha256, str):
        raise TypeError("a size and a hash")
    return size, sha256


def advice(error: Exception) -> str:
    """Advice about a failed write."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    return ", so make room and resume" if full else ""
