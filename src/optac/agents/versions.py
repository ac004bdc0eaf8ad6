"""The versions and the machine that a learner's bits depend on."""

import platform
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

import optac

_LIBRARIES = ("numpy", "jax", "jaxlib", "optax", "equinox", "gymnasium", "mujoco")


@cache
def numeric_versions() -> Mapping[str, str]:
    """optac's version, the libraries' (of those installed), the system and the processor's kind."""
    found = {"optac": optac.__version__, "platform": sys.platform, "machine": platform.machine()}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def drift(then: Mapping[str, Any]) -> list[str]:
    """What differs between the versions `then` and now, one entry a name."""
    now = numeric_versions()
    names = dict.fromkeys([*now, *(name for name in then if name in _LIBRARIES)])
    return [f"{n} {then.get(n)} → {now.get(n)}" for n in names if then.get(n) != now.get(n)]
