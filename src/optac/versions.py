"""The versions and the machine that a run's numbers depend on."""

import platform
import sys
from functools import cache
from importlib import metadata

LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "equinox", "optax", "gymnasium", "mujoco")


def versions() -> dict[str, str]:
    """optac's version, the libraries' (of those installed), the system, the processor's kind."""
    import optac

    found = {"optac": optac.__version__, "platform": sys.platform, "machine": platform.machine()}
    return found | {name: version for name in LIBRARIES if (version := _installed(name)) is not None}


@cache
def _installed(library: str) -> str | None:
    """A library's version, read once: that takes milliseconds, and every checkpoint asks."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None
