"""A solve as plain bytes, ended or at work: its result, and the snapshot from which a long one that is killed goes on.

No pickle, but one .npz: an object is the name of its class and its attributes. Only classes of the four rooms that a
learner's state is made of are taken, and none of their code runs, so that a file from a stranger can spoil a result and
nothing else. What is met twice is written once, and is one thing again when it comes back.

The snapshot is one file, replaced whole, every half minute at most and so seldom that writing takes a twentieth of the
time, and once more where a signal ends the solve; gone when it is finished. One that is damaged, whose rows are, or
that another version of the source made, is not used: the solve starts again. A learner of a user's own class leaves
none.
"""

import hashlib
import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from optac.errors import Interrupted, InvalidInput, RunFailed
from optac.plain_files import is_there, read_plain, remove, rename, write_plain
from optac.provenance import made_by
from optac.runs.folder import RunFolder
from optac.runs.json_files import Row
from optac.runs.sealed_config import refuse_changed, sealed_config
from optac.signals import Noted

ROOMS = ("optac.algorithms.", "optac.mdp.", "optac.models.", "optac.oracles.", __name__)
DIGEST = hashlib.sha256().digest_size
FOREIGN = (
    *(ArithmeticError, AttributeError, EOFError, ImportError, LookupError, OSError, RecursionError),
    *(TypeError, ValueError, zipfile.BadZipFile, zlib.error),
)
"""what reading somebody else's bytes, or damaged ones, may raise"""
_PLAIN = (bool, int, float, str, type(None))
SECONDS = 30.0
SHARE = 20.0
"""seconds of work for every second that a snapshot took"""


class FolderSnapshots:
    """The one snapshot of a folder."""

    def __init__(
        self, folder: RunFolder, caught: Noted | None = None, command: Callable[[], str] = lambda: ""
    ) -> None:
        """Once a signal was `caught` all is kept, and the solve ends with the `command` that continues it."""
        self._folder, self._caught, self._command = folder, caught, command
        self._path = folder.checkpoints / "solve.npz"
        self._source = f"{made_by()['commit']} {made_by()['versions']['optac']}"
        self._due = time.monotonic() + SECONDS
        self._possible = True

    def found(self) -> Row | None:
        """The snapshot, its rows kept in the metrics and no others."""
        found = unpacked(read_plain(self._path)) if is_there(self._path) else None
        if isinstance(found, dict) and found.get("source") == self._source:
            refuse_changed(self._folder, found["config"], self._folder.config)
            if self._folder.rows_seal(found["rows"]["size"]) == found["rows"]:
                number, known = count(1), found["row_count"]
                self._folder.cut(lambda row: next(number) <= known)
                return dict(found["run"])
        self._folder.cut(lambda row: False)
        return None

    def offer(self, make: Callable[[], Row]) -> None:
        """Keep it if it is time, or if a signal ends the solve."""
        ending = self._caught is not None and self._caught.heard()
        if self._possible and (ending or time.monotonic() >= self._due):
            self._keep(make)
        if self._caught is not None and ending:
            raise Interrupted(self._caught[0], self._command())

    def _keep(self, make: Callable[[], Row]) -> None:
        started = time.monotonic()
        self._folder.check()
        self._folder.flush_rows()
        try:
            data = packed({**self._about(), "run": make()})
        except NotPacked:
            self._possible = False
            return
        new = self._path.with_suffix(".tmp")
        write_plain(new, data)
        rename(new, self._path)
        took = time.monotonic() - started
        self._due = time.monotonic() + max(SECONDS, SHARE * took)

    def _about(self) -> Row:
        """The source, the configuration and the rows that a snapshot belongs to."""
        return {
            "source": self._source,
            "config": sealed_config(self._folder.config),
            "rows": self._folder.rows_seal(),
            "row_count": len(self._folder.rows()),
        }

    def remove(self) -> None:
        """The solve is finished."""
        remove(self._path)


class NotPacked(RunFailed):
    """Something that is none of these, such as an object of a user's own class."""


@dataclass(frozen=True)
class NotKept:
    """Stands for what no file holds: an object of a class that is not ours."""

    name: str

    def __call__(self, *given: Any) -> Any:
        raise InvalidInput(f"{self.name} is not in the run's files: it is no array and no class of optac's")


def packed(tree: Any) -> bytes:
    """The tree as bytes, a digest first."""
    data = as_npz(tree)
    return hashlib.sha256(data).digest() + data


def as_npz(tree: Any, kept: tuple[type, ...] | None = None) -> bytes:
    """The tree as an .npz; with `kept` packed small, an object being of the first of these classes that it extends.

    One that extends none is then NotKept.
    """
    packer = _Packer(kept)
    outline = json.dumps(packer.outline(tree)).encode()
    content = io.BytesIO()
    arrays = {f"a{i}": array for i, array in enumerate(packer.arrays)}
    save: Callable[..., None] = np.savez if kept is None else np.savez_compressed
    save(content, allow_pickle=False, outline=np.frombuffer(outline, dtype=np.uint8), **arrays)
    return content.getvalue()


def unpacked(data: bytes) -> Any:
    """What was packed; None where the bytes are damaged, or are somebody else's."""
    if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        return None
    try:
        return of_npz(data[DIGEST:])
    except (*FOREIGN, NotPacked):
        return None


def of_npz(data: bytes) -> Any:
    """What `as_npz` wrote; one of FOREIGN or NotPacked where it did not."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return _Unpacker(file).tree(json.loads(file["outline"].tobytes()))


class _Packer:
    """Outlines are JSON; a list [kind, …] stands for all that JSON has not."""

    def __init__(self, kept: tuple[type, ...] | None) -> None:
        self._kept = kept
        self.arrays: list[np.ndarray] = []
        self._met: dict[int, tuple[int, Any]] = {}

    def outline(self, node: Any) -> Any:
        if isinstance(node, _PLAIN) and type(node) in _PLAIN:
            return node
        if id(node) in self._met:
            return ["same", self._met[id(node)][0]]
        made = self._outline(node)
        self._met[id(node)] = len(self._met), node  # held, so that no other object gets its id
        return made

    def _outline(self, node: Any) -> Any:
        if isinstance(node, np.ndarray | np.generic):
            return self._array(np.asarray(node), isinstance(node, np.generic))
        if isinstance(node, np.random.Generator):
            return ["generator", node.bit_generator.state]
        if isinstance(node, dict):
            return ["dict", [[self.outline(key), self.outline(value)] for key, value in node.items()]]
        if type(node) in (list, tuple):
            return [type(node).__name__, [self.outline(one) for one in node]]
        return self._object(node)

    def _array(self, array: np.ndarray, scalar: bool) -> Any:
        """With the order of its axes in memory, on which the last digit of a product may depend."""
        order = np.argsort(
            [-abs(stride) if stride else -np.inf for stride in array.strides], kind="stable"
        ).tolist()
        if array.dtype.hasobject:
            raise NotPacked("an array of objects")
        self.arrays.append(
            np.ascontiguousarray(array.transpose(order)).reshape([array.shape[i] for i in order])
        )
        return ["array", len(self.arrays) - 1, order, scalar]

    def _object(self, node: Any) -> Any:
        kind = type(node)
        if self._kept is not None:
            # One of a kind of its own is kept as what it extends: a model as the factors it is.
            own = next((one for one in kind.__mro__ if one in self._kept), None)
            if own is None:
                node = NotKept(getattr(node, "__qualname__", kind.__qualname__))
            kind = own or NotKept
        if not kind.__module__.startswith(ROOMS):
            raise NotPacked(f"an object of {kind.__module__}.{kind.__qualname__}")
        where = f"{kind.__module__}:{kind.__qualname__}"
        if isinstance(node, tuple):
            return ["named", where, [self.outline(one) for one in node]]
        names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(vars(node))
        return ["object", where, {name: self.outline(getattr(node, name)) for name in names}]


class _Unpacker:
    def __init__(self, file: Any) -> None:
        self._file = file
        self._met: list[Any] = []

    def tree(self, outline: Any) -> Any:
        if not isinstance(outline, list):
            return outline
        if outline[0] == "same":
            return self._met[outline[1]]
        made = self._made(*outline)
        self._met.append(made)
        return made

    def _made(self, kind: str, *parts: Any) -> Any:
        if kind == "array":
            number, order, scalar = parts
            array = self._file[f"a{number}"].transpose(np.argsort(order))
            return array[()] if scalar else array
        if kind == "generator":
            generator = np.random.default_rng(0)
            generator.bit_generator.state = parts[0]
            return generator
        if kind == "dict":
            return {self.tree(key): self.tree(value) for key, value in parts[0]}
        if kind in ("list", "tuple"):
            items = [self.tree(one) for one in parts[0]]
            return items if kind == "list" else tuple(items)
        where, content = parts
        module, _, name = where.partition(":")
        if not module.startswith(ROOMS):
            raise NotPacked(f"an object of {where}")
        found = getattr(import_module(module), name)
        if kind == "named":
            return found._make([self.tree(one) for one in content])
        made = object.__new__(found)
        vars(made).update({key: self.tree(value) for key, value in content.items()})
        return made
