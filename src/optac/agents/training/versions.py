"""The versions, the machine and the threads that a learner's bits depend on."""

import os
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import optac

_LIBRARIES = ("numpy", "jax", "jaxlib", "optax", "equinox", "gymnasium", "mujoco")


def numeric_versions() -> Mapping[str, str]:
    """optac's version, the libraries' (of those installed), the system, the processor's kind, XLA's threads."""
    found = {"optac": optac.__version__, "platform": sys.platform, "machine": platform.machine()}
    found["threads"] = os.environ.get("NPROC", "all")
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
