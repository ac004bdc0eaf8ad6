"""The versions and the machine that a run's numbers depend on."""

import platform
import sys
from importlib import metadata

LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "equinox", "optax", "gymnasium", "mujoco")


def versions() -> dict[str, str]:
    """optac's version, the libraries' (of those installed), the system, the processor's kind."""
    import optac

    found = {"optac": optac.__version__, "platform": sys.platform, "machine": platform.machine()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
