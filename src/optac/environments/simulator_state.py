"""The whole state of an environment, so that a run can be resumed in the middle of an episode, to the bit.

The state of an environment is what its attributes hold, layer by layer through its wrappers: numbers, text,
arrays, containers of them, random generators, and MuJoCo's data. `save_state` writes all of these down as
arrays and JSON values; `restore_state` puts them back into another environment made in the same way. An
environment that holds anything else (a handle to an outside simulator, say) cannot be saved: `unsaved_part`
names what stands in the way, and its runs resume at an episode's boundary instead.
"""

import copy
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Space
from gymnasium.wrappers.utils import RunningMeanStd

from optac.environments import mujoco_state
from optac.environments.constants import described, is_constant
from optac.environments.layers import attributes_of, class_names, layers_of
from optac.errors import InvalidInput

Generator = np.random.Generator

_CONSTANT = "constant"


@dataclass
class _Written:
    """What is being written down: arrays by name, and every object that can be shared, by its identity.

    Objects are numbered as they end; one that is met again is written as its number.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    known: dict[int, tuple[int, Any]] = field(default_factory=dict)


@dataclass
class _Restored:
    """What is being put back: the arrays, and the objects that are there again, in the order of their numbers."""

    arrays: dict[str, Any]
    known: list[Any] = field(default_factory=list)


class UnsavableState(InvalidInput):
    """An environment that holds something which cannot be written down."""


def save_state(
    env: gymnasium.Env[Any, Any], *, spaces: bool = True, without: str | None = None
) -> dict[str, Any]:
    """Everything that determines what `env` does next: {"layers": JSON values, name: array, …}.

    "layers" refers to the arrays by name. Raises `UnsavableState` where `can_save` is False. To compare states, the
    `spaces` with their generators may be left out, and layers whose class begins with `without`.
    """
    written = _Written()
    layers = [
        {"class": name, "attributes": _encode_layer(layer, name, written, spaces=spaces)}
        for layer, name in zip(layers_of(env), class_names(env), strict=True)
        if without is None or not name.startswith(without)
    ]
    return {"layers": layers, **written.arrays}


def restore_state(env: gymnasium.Env[Any, Any], state: dict[str, Any]) -> None:
    """Put a saved state into `env`, which must have been made as the saved one was, wrappers included."""
    layers, saved, restored = list(layers_of(env)), state["layers"], _Restored(state)
    given, wanted = class_names(env), [layer["class"] for layer in saved]
    if given != wanted:
        raise InvalidInput(
            f"the saved state is of {' around '.join(wanted)}, the environment is {' around '.join(given)}; "
            "make the environment as it was made for the saved run."
        )
    for layer, record in zip(layers, saved, strict=True):
        for name, value in attributes_of(layer):
            # A state that was saved before constants were named has none of them.
            if name not in record["attributes"] and not is_constant(value):
                delattr(layer, name)
        for name, value in record["attributes"].items():
            try:
                _restore_attribute(layer, name, value, restored)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise InvalidInput(
                    f"the saved state of {record['class']}.{name} does not fit this environment: {error}"
                ) from error


def can_save(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether `save_state` can write `env` down."""
    return unsaved_part(env) is None


def unsaved_part(env: gymnasium.Env[Any, Any]) -> str | None:
    """The obstacle to saving `env`, in words; None where nothing does."""
    try:
        save_state(env)
    except UnsavableState as error:
        return str(error)
    return None


def model_hashes(env: gymnasium.Env[Any, Any]) -> list[str]:
    """A hash of each MuJoCo model that `env` holds; `save_state` leaves models out, as stepping changes none."""
    held = (value for layer in layers_of(env) for value in vars(layer).values())
    return [mujoco_state.model_sha256(value) for value in held if mujoco_state.is_mujoco_model(value)]


def _encode_layer(
    layer: gymnasium.Env[Any, Any], name_of_class: str, written: _Written, *, spaces: bool
) -> dict[str, Any]:
    attributes = {}
    for name, value in attributes_of(layer):
        if isinstance(value, Space) and not spaces:
            continue
        try:
            attributes[name] = (
                {_CONSTANT: described(value)} if is_constant(value) else _encode(value, written)
            )
        except UnsavableState as error:
            raise UnsavableState(f"{name_of_class}.{name} {error}") from None
        except RecursionError:
            raise UnsavableState(f"{name_of_class}.{name} holds itself") from None
    return attributes


def _restore_attribute(layer: gymnasium.Env[Any, Any], name: str, value: Any, restored: _Restored) -> None:
    if isinstance(value, dict) and _CONSTANT in value:
        return  # as it was made; who retraces the steps before sees whether it is the saved one
    # A file must not be able to replace a method.
    if callable(getattr(type(layer), name, None)):
        raise InvalidInput(f"{name!r} is a method, and no saved state holds one")
    setattr(layer, name, _decode(value, getattr(layer, name, None), restored))


def encoded(value: Any) -> Any:
    """A value as JSON and arrays; `UnsavableState` where it can't be written down."""
    written = _Written()
    return _encode(value, written), written.arrays


def _encode(value: Any, written: _Written) -> Any:
    """`value` as JSON, arrays put aside: a bare int, bool, str or null is itself, the rest is {kind: …}."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, (tuple, np.generic)):
        return _encode_kind(value, written)
    identity = id(value.bit_generator if isinstance(value, Generator) else value)
    if identity in written.known:
        return {"same": written.known[identity][0]}
    form = _encode_kind(value, written)
    written.known[identity] = len(written.known), value
    return form


def _encode_kind(value: Any, written: _Written) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return _encode_array(value, written.arrays)
    if type(value) in (list, tuple, set, deque):
        items = [_encode_item(item, written) for item in (_in_order(value) if type(value) is set else value)]
        return {type(value).__name__: items, **({"maxlen": value.maxlen} if type(value) is deque else {})}
    if type(value) is dict:
        return {"dict": [[_encode(key, written), _encode_item(item, written)] for key, item in value.items()]}
    if isinstance(value, Generator):
        return {"generator": _encode(value.bit_generator.state, written)}
    if isinstance(value, Space):
        return {"space": None if value._np_random is None else _encode(value.np_random, written)}
    if isinstance(value, RunningMeanStd):
        return {"running": _encode(vars(value), written)}
    if mujoco_state.is_mujoco_data(value):
        return {"mujoco": _encode(mujoco_state.read_physics(value), written)}
    raise UnsavableState(
        f"is a {type(value).__module__}.{type(value).__qualname__}, which cannot be written down"
    )


def _encode_item(value: Any, written: _Written) -> Any:
    """The same of what is in a container, which is made anew: none of what is only put into the one that is there."""
    if isinstance(value, (Space, RunningMeanStd)) or mujoco_state.is_mujoco_data(value):
        raise UnsavableState(f"holds a {type(value).__qualname__}, which cannot be written down there")
    return _encode(value, written)


def _in_order(items: set[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        raise UnsavableState("is a set without an order, which cannot be written down") from None


def _encode_array(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    plain = type(value) is np.ndarray or isinstance(value, np.generic)
    if not plain or value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise UnsavableState(f"is a {type(value).__name__} of {value.dtype}, which cannot be written down")
    name = f"array-{len(arrays)}"
    arrays[name] = np.array(value)
    return {"array" if isinstance(value, np.ndarray) else "scalar": name}


def _decode(value: Any, present: Any, restored: _Restored) -> Any:
    """The value that `_encode` wrote down; `present` is what stands in its place now."""
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    match kind:
        case "same":
            return restored.known[content]
        case "float":
            return float.fromhex(content)
        case "scalar":
            return restored.arrays[content][()]
        case "tuple":
            return tuple(_decode(item, None, restored) for item in content)
    if any(present is one for one in restored.known):  # it holds what was put back there already
        present = copy.copy(present) if isinstance(present, np.ndarray) else None
    made = _decode_kind(kind, value, present, restored)
    restored.known.append(made)
    return made


def _decode_kind(kind: str, value: dict[str, Any], present: Any, restored: _Restored) -> Any:
    content = value[kind]
    match kind:
        case "array":
            return _restored_array(restored.arrays[content], present)
        case "list" | "set" | "deque":
            items = [_decode(item, None, restored) for item in content]
            if kind == "deque":
                return deque(items, maxlen=value["maxlen"])
            return {"list": list, "set": set}[kind](items)
        case "dict":
            return {_decode(key, None, restored): _decode(item, None, restored) for key, item in content}
        case "generator":
            return _restored_generator(_decode(content, None, restored), present)
        case "space":
            present._np_random = None if content is None else _decode(content, present._np_random, restored)
            return present
        case "running":
            vars(present).update(_decode(content, None, restored))
            return present
        case "mujoco":
            mujoco_state.write_physics(present, _decode(content, None, restored))
            return present
    raise InvalidInput(
        f"a saved environment state holds a value of unknown kind {kind!r}; it was not written by optac."
    )


def _restored_array(saved: np.ndarray, present: Any) -> np.ndarray:
    # In place where possible: the attribute may be a view into another array, MuJoCo's own for instance.
    if not isinstance(present, np.ndarray) or not present.flags.writeable:
        return saved.copy()
    if (present.shape, present.dtype) != (saved.shape, saved.dtype):
        return saved.copy()
    present[...] = saved
    return present


def _restored_generator(saved: dict[str, Any], present: Any) -> Generator:
    if (
        isinstance(present, Generator)
        and present.bit_generator.state["bit_generator"] == saved["bit_generator"]
    ):
        present.bit_generator.state = saved
        return present
    kinds = {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}
    if saved["bit_generator"] not in kinds:
        raise InvalidInput(
            f"unknown random generator {saved['bit_generator']!r} in a saved environment state"
        )
    bit_generator = getattr(np.random, saved["bit_generator"])()
    bit_generator.state = saved
    return Generator(bit_generator)
