"""JSON objects in files: written whole or not at all; a damaged file is an error that names it."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optac.errors import RunFailed
from optac.plain_files import is_there, link, read_plain, remove, rename, write_plain

Row = dict[str, Any]


def write_json(path: Path, value: Mapping[str, Any], *, new: bool = False) -> None:
    """Write a JSON object so that a reader sees the old file or the new one, never a part.

    With `new`, a FileExistsError where the file is there already, whoever was quicker.
    """
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        write_plain(aside, f"{json.dumps(value, indent=2, default=plain)}\n".encode())
        if new:
            _publish(aside, path)
        else:
            rename(aside, path)
    finally:
        remove(aside)


def read_json_object(path: Path) -> Row:
    """The JSON object in a file; a damaged file is a RunFailed that names it."""
    try:
        value = json.loads(read_plain(path))
    except (ValueError, RecursionError) as error:
        raise RunFailed(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise RunFailed(f"{path} is damaged: it holds a {type(value).__name__}, not an object")
    return value


def write_sealed(path: Path, value: Mapping[str, Any]) -> None:
    """The same as `write_json`, with a hash of all the rest as `sha256`."""
    write_json(path, {**value, "sha256": _digest(value)})


def read_sealed(path: Path) -> Row:
    """What `write_sealed` wrote; a RunFailed where one letter of it is another."""
    value = read_json_object(path)
    if value.pop("sha256", None) != _digest(value):
        raise RunFailed(f"{path} is damaged: it is not what its sha256 says")
    return value


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=plain).encode()).hexdigest()


def parsed_row(line: bytes) -> Row | None:
    """The JSON object of a line; None where it holds none, such as a line torn by a kill."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def plain(value: object) -> object:
    """NumPy scalars and paths as JSON's own types."""
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)
    if item is None:
        raise TypeError(f"{type(value).__name__} cannot be written as JSON")
    return item()


def _publish(aside: Path, path: Path) -> None:
    """Give `aside` its name, unless that is taken."""
    try:
        link(aside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if is_there(path):
            raise FileExistsError(path) from None
        rename(aside, path)
