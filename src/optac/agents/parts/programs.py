"""Compiled calls of an agent's functions, of which a process keeps those of the last few settings."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeVar

import jax

MOST_KEPT = 16
"""agents of different settings whose programs a process keeps: each takes a thousand of the 65,530 memory mappings"""


Result = TypeVar("Result")


def program(function: Callable[..., Result], settings: Any) -> Callable[..., Result]:
    """`function` with `settings` for its first argument, compiled; a plain `jax.jit` would keep every one for good."""
    return kept(function, settings)


@lru_cache(maxsize=3 * MOST_KEPT)  # an agent has up to three such functions beside its updates
def kept(function: Callable[..., Any], settings: Any) -> Callable[..., Any]:
    """The program of `program`, if it is among the last that were asked for."""
    return jax.jit(partial(function, settings))
