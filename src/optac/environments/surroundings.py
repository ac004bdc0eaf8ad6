"""What an environment depends on beside its own attributes: its classes, their modules, its code.

None of it is saved. Where it changes while the environment is stepped, or its code is another than it was, a resumed
run can't be called exact, and the names here say why.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium

from optac.environments.constants import is_constant
from optac.environments.layers import layers_of
from optac.environments.simulator_state import UnsavableState, encoded

_VERSIONED = ("builtins", "gymnasium", "numpy", "optac", "mujoco", "typing", "abc")
"""packages whose code a checkpoint knows by their versions"""


def surroundings(env: gymnasium.Env[Any, Any]) -> dict[str, str]:
    """A hash of each value beside the environment's own that stepping it could change."""
    found = {name: _hash(value) for name, value in _values(env)}
    return {name: value for name, value in found.items() if value is not None}


def changed_surroundings(before: Mapping[str, str], env: gymnasium.Env[Any, Any]) -> list[str]:
    """The names of those that are not what they were."""
    now = surroundings(env)
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def code_hashes(env: gymnasium.Env[Any, Any]) -> dict[str, str]:
    """A hash of each file with a class of the environment, of those that no version tells."""
    files = {
        kind.__module__: getattr(sys.modules.get(kind.__module__), "__file__", None) for kind in _classes(env)
    }
    return {name: _file_hash(Path(file)) for name, file in sorted(files.items()) if file is not None}


def _values(env: gymnasium.Env[Any, Any]) -> Iterator[tuple[str, Any]]:
    for kind in _classes(env):
        for name, value in list(vars(kind).items()):
            if not name.startswith("__"):
                yield f"the attribute {name} of the class {kind.__qualname__}", value
    for module in {kind.__module__: None for kind in _classes(env)}:
        for name, value in list(vars(sys.modules[module]).items()) if module in sys.modules else ():
            if not name.startswith("__"):
                yield f"the variable {name} of the module {module}", value


def _classes(env: gymnasium.Env[Any, Any]) -> list[type]:
    kinds = [kind for layer in layers_of(env) for kind in type(layer).__mro__]
    return [kind for kind in dict.fromkeys(kinds) if kind.__module__.partition(".")[0] not in _VERSIONED]


def _hash(value: Any) -> str | None:
    """A hash of a value that can be written down; None of any other, such as a function."""
    if is_constant(value):
        return None
    try:
        form, arrays = encoded(value)
    except (UnsavableState, RecursionError):
        return None
    digest = hashlib.sha256(json.dumps(form, sort_keys=True).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _file_hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"
