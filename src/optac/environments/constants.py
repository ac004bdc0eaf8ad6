"""Attributes of an environment that hold nothing which changes: functions, modules, classes, models, renderers.

A method of a generator, or a function that has caught one, looks like a function and is a state: it is no constant.
"""

from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium
import numpy as np

from optac.environments.mujoco_state import is_mujoco_constant

_PLAIN = (type(None), bool, int, float, complex, str, bytes, ModuleType, type, np.ufunc)


def is_constant(value: Any) -> bool:
    """Whether `value` is a part of how the environment was made, with nothing in it that stepping changes."""
    if isinstance(value, (FunctionType, BuiltinFunctionType, MethodType, partial)):
        return _catches_nothing(value)
    return isinstance(value, (ModuleType, type, np.ufunc)) or is_mujoco_constant(value)


def described(value: Any) -> str:
    """A constant in words, by which another is told from it: where it is from, and the plain values it has caught."""
    if isinstance(value, partial):
        return f"partial of {described(value.func)}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__qualname__)
    caught = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    plain = [repr(one) for one in caught if isinstance(one, (bool, int, float, complex, str, bytes))]
    return f"{getattr(value, '__module__', None)}.{name} {' '.join(plain)}".rstrip()


def _catches_nothing(value: Any) -> bool:
    """Whether what a function or method holds on to is plain."""
    if isinstance(value, (*_PLAIN, gymnasium.Env)) or is_mujoco_constant(value):
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(_catches_nothing, value))
    if isinstance(value, partial):
        return all(map(_catches_nothing, (value.func, *value.args, *value.keywords.values())))
    if isinstance(value, FunctionType):
        if value.__module__.partition(".")[0] in ("gymnasium", "optac"):
            return True
        caught = [cell.cell_contents for cell in value.__closure__ or ()]
        caught += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return all(_catches_nothing(one) for one in caught if one is not value)
    if isinstance(value, MethodType | BuiltinFunctionType):
        owner = getattr(value, "__self__", None)
        return isinstance(owner, (type(None), ModuleType, type, gymnasium.Env))
    return False
