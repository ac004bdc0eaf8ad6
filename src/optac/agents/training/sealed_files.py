"""The files of a checkpoint: arrays in safetensors, JSON, hashes of both; what can't be read as that is corrupt."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes
from safetensors.numpy import save as to_bytes

from optac.errors import RunFailed
from optac.plain_files import NotPlain, opened, read_plain, write_plain

Arrays = dict[str, np.ndarray]

_MOST_JSON_BYTES: Final = 1 << 30
"""more than the rows of a run of a million evaluations take"""


class CheckpointCorrupt(RunFailed):
    """A checkpoint that is not what was written; the text names the file."""


def verify(file: Path, size: int, sha256: str) -> None:
    """CheckpointCorrupt where the file is not of this size and hash."""
    try:
        found = fingerprint(file)
    except (OSError, NotPlain) as error:
        missing = isinstance(error, FileNotFoundError)
        raise corrupt(file, "it is missing" if missing else f"it is not a plain file ({error})") from error
    if found["size"] != size:
        raise corrupt(file, f"it has {found['size']} bytes, not {size}")
    if found["sha256"] != sha256:
        raise corrupt(file, "its SHA-256 is not the manifest's")


def fingerprint(file: Path) -> dict[str, Any]:
    """A file's size and SHA-256."""
    with opened(file, os.O_RDONLY) as descriptor, open(descriptor, "rb", closefd=False) as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        return {"size": os.fstat(descriptor).st_size, "sha256": sha256}


def digest(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest's content."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def read_json(file: Path) -> dict[str, Any]:
    """The JSON object in a file, read from a plain file of sane size only."""
    try:
        if file.lstat().st_size > _MOST_JSON_BYTES:
            raise corrupt(file, "it is not a file that optac wrote")
        value = json.loads(read_plain(file))
    except (OSError, NotPlain, ValueError, RecursionError) as error:
        raise corrupt(file, str(error)) from error
    if not isinstance(value, dict):
        raise corrupt(file, "it holds no JSON object")
    return value


def write_arrays(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by their names, on disk when this returns."""
    write_plain(file, to_bytes({name: np.array(array, order="C") for name, array in arrays.items()}))


def read_arrays(file: Path) -> Arrays:
    """Every array of a file, by its name."""
    try:
        return dict(from_bytes(read_plain(file)))
    except (SafetensorError, OSError, NotPlain, ValueError) as error:
        raise corrupt(file, str(error)) from error


def corrupt(file: Path, why: str) -> CheckpointCorrupt:
    """The error that names the file and says what is wrong with it."""
    return CheckpointCorrupt(f"corrupt checkpoint file {file}: {why}")


def flush(folder: Path) -> None:
    """Wait until a folder's names are on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
