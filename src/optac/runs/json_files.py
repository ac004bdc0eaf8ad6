"""JSON objects and trees of arrays in files: written whole or not at all; a damaged file is an error that names it."""

import dataclasses
import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from optac.errors import InvalidInput, RunFailed
from optac.plain_files import is_there, link, read_plain, remove, rename, write_plain

Row = dict[str, Any]
Classes = Mapping[type, Sequence[str] | None]
"""what a tree may hold beside plain values: each with the names it is made of, None where they are its fields"""

_JSON: Final = "structure"
_UNREADABLE: Final = (EOFError, RecursionError, zipfile.BadZipFile, zlib.error)


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


@dataclasses.dataclass(frozen=True)
class NotKept:
    """Stands for what no file holds: an object of a class that is not ours."""

    name: str

    def __call__(self, *given: Any) -> Any:
        raise InvalidInput(f"{self.name} is not in the run's files: it is no array and no class of optac's")


def write_tree(file: Path, value: Any, classes: Classes) -> None:
    """Write a tree of plain values, lists, tuples, arrays and these classes as one .npz, without pickle.

    It holds the arrays, each once, and a JSON text that says how they hang together; the same tree, the same bytes.
    """
    arrays: dict[str, np.ndarray] = {}
    structure = json.dumps(_flat(value, arrays, {}, classes))
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **{_JSON: np.array(structure)}, **arrays)
    write_plain(file, content.getvalue())


def read_tree(file: Path, classes: Classes) -> Any:
    """The tree of a file, of which nothing but these classes is made; one that is damaged is named."""
    try:
        with np.load(io.BytesIO(read_plain(file)), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return _built(json.loads(str(arrays[_JSON])), arrays, {kind.__name__: kind for kind in classes})
    except (*_UNREADABLE, OSError, ValueError, LookupError, TypeError) as error:
        raise RunFailed(f"{file} is damaged: {error}; solve again") from error


def _flat(value: Any, arrays: dict[str, np.ndarray], known: dict[int, Any], classes: Classes) -> Any:
    """The JSON that stands for a value, its arrays put into `arrays`; `known` has what is in there already."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if id(value) in known:
        return known[id(value)][0]
    if isinstance(value, np.ndarray):
        said: Any = _put(value, arrays)
    elif isinstance(value, Mapping):
        said = {"map": {name: _flat(one, arrays, known, classes) for name, one in value.items()}}
    elif isinstance(value, list) and _alike(value):
        said = {"list of": _put(np.stack(value), arrays)}
    elif isinstance(value, list | tuple):
        said = {type(value).__name__: [_flat(one, arrays, known, classes) for one in value]}
    else:
        said = _flat_object(value, arrays, known, classes)
    known[id(value)] = said, value  # the value is kept, so that no other gets its id
    return said


def _flat_object(value: Any, arrays: dict[str, np.ndarray], known: dict[int, Any], classes: Classes) -> Any:
    # One of a kind of its own is kept as what it extends: a model as the factors it is.
    kind = next((one for one in type(value).__mro__ if one in classes), None)
    if kind is None:
        return {"not kept": getattr(value, "__qualname__", type(value).__qualname__)}
    names = classes[kind] or [field.name for field in dataclasses.fields(kind)]
    return {
        "class": kind.__name__,
        "fields": {name: _flat(getattr(value, name), arrays, known, classes) for name in names},
    }


def _alike(values: list[Any]) -> bool:
    """Whether these are arrays that one array can hold."""
    first = values[0] if values else None
    return isinstance(first, np.ndarray) and all(
        isinstance(one, np.ndarray) and (one.shape, one.dtype) == (first.shape, first.dtype) for one in values
    )


def _put(array: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    name = f"array_{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _built(said: Any, arrays: Mapping[str, np.ndarray], kinds: Mapping[str, Any]) -> Any:
    if not isinstance(said, dict):
        return said
    if "array" in said:
        return arrays[said["array"]]
    if "list of" in said:
        return list(_built(said["list of"], arrays, kinds))
    if "list" in said:
        return [_built(one, arrays, kinds) for one in said["list"]]
    if "tuple" in said:
        return tuple(_built(one, arrays, kinds) for one in said["tuple"])
    if "map" in said:
        return {name: _built(one, arrays, kinds) for name, one in said["map"].items()}
    if "not kept" in said:
        return NotKept(said["not kept"])
    return kinds[said["class"]](**{name: _built(one, arrays, kinds) for name, one in said["fields"].items()})
