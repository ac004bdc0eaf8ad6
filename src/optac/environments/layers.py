"""An environment layer by layer, what each holds, and how it was made."""

import json
from collections.abc import Iterator
from types import MemberDescriptorType
from typing import Any

import gymnasium

from optac.settings import canonical

# Facts about how the environment was made; the same in every environment made in that way.
_FIXED = {"spec", "metadata", "_metadata", "_cached_spec", "_saved_kwargs", "fullpath"}
_FIXED_PREFIX = "_ezpickle"


def layers_of(env: gymnasium.Env[Any, Any]) -> Iterator[gymnasium.Env[Any, Any]]:
    """The environment with its wrappers, the outermost first."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def class_names(env: gymnasium.Env[Any, Any]) -> list[str]:
    """The class of every layer, with its module."""
    return [f"{type(layer).__module__}.{type(layer).__qualname__}" for layer in layers_of(env)]


def attributes_of(layer: gymnasium.Env[Any, Any]) -> list[tuple[str, Any]]:
    """What a layer holds beside the facts of its making, sorted by name: the order of first use may vary."""
    slots = {
        name: getattr(layer, name)
        for kind in type(layer).__mro__
        for name, member in vars(kind).items()
        if isinstance(member, MemberDescriptorType) and hasattr(layer, name)
    }
    fixed = _FIXED | {"env"} if isinstance(layer, gymnasium.Wrapper) else _FIXED
    held = sorted({**slots, **vars(layer)}.items())
    return [(name, value) for name, value in held if name not in fixed and not name.startswith(_FIXED_PREFIX)]


def made_as(env: gymnasium.Env[Any, Any]) -> str | None:
    """The id, arguments, time limit and wrappers that Gymnasium made `env` with; None where that can't be told."""
    spec = env.spec
    if spec is None:
        return None
    given = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
    wrappers = [[each.name, each.kwargs] for each in spec.additional_wrappers]
    try:
        return json.dumps(canonical([spec.id, given, spec.max_episode_steps, wrappers]))
    except (TypeError, ValueError):  # an argument that is an object
        return None
