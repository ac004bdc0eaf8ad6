"""An environment layer by layer, and what each holds."""

from collections.abc import Iterator
from types import MemberDescriptorType
from typing import Any

import gymnasium

# Facts about how the environment was made; the same in every environment made in that way.
_FIXED = {"spec", "metadata", "_metadata", "_cached_spec", "_saved_kwargs", "fullpath"}
_FIXED_PREFIX = "_ezpickle"


def layers_of(env: gymnasium.Env[Any, Any]) -> Iterator[gymnasium.Env[Any, Any]]:
    """The environment with its wrappers, the outermost first."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


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
