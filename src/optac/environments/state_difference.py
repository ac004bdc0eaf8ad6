"""Two environments, or two saved states of one, compared to the bit."""

from collections.abc import Mapping
from typing import Any

import gymnasium

from optac.environments.simulator_state import UnsavableState, model_hashes, save_state


def made_difference(one: gymnasium.Env[Any, Any], other: gymnasium.Env[Any, Any]) -> str | None:
    """What differs between two environments that were made and reset alike, as far as it can be seen; None: nothing.

    Gymnasium's own wrappers, which keep an account of what was done before, are left out.
    """
    if model_hashes(one) != model_hashes(other):
        return "the MuJoCo model"
    ours, theirs = (standing(env, without="gymnasium.wrappers.") for env in (one, other))
    return None if ours is None or theirs is None else state_difference(ours, theirs)


def standing(env: gymnasium.Env[Any, Any], *, without: str | None = None) -> dict[str, Any] | None:
    """The state of `env` but for its spaces' generators, which an agent does not use; None where it can't be saved.

    Layers whose class begins with `without` are left out.
    """
    try:
        return save_state(env, spaces=False, without=without)
    except UnsavableState:
        return None


def state_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The name of an attribute in which two states of `save_state` differ; None where they are the same."""
    for first, second in zip(one["layers"], other["layers"], strict=True):
        ours, theirs = first["attributes"], second["attributes"]
        for name in sorted(ours.keys() | theirs.keys()):
            if _content(ours.get(name), one) != _content(theirs.get(name), other):
                return f"{first['class']}.{name}"
    return None


def _content(value: Any, state: Mapping[str, Any]) -> Any:
    """A value of a state with the numbers of its arrays in the place of their names."""
    if isinstance(value, dict):
        for kind in ("array", "scalar"):
            if kind in value:
                array = state[value[kind]]
                return kind, array.dtype.str, array.shape, array.tobytes()
        return {name: _content(item, state) for name, item in value.items()}
    return [_content(item, state) for item in value] if isinstance(value, list) else value
