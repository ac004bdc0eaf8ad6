"""What a result depends on and was made by: the command, the versions, the machine, the source's commit."""

import hashlib
import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

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


def provenance(command: str) -> dict[str, Any]:
    """The command that regenerates a result, the versions it ran with, the source's commit (None outside a clone)."""
    return {"command": command, **made_by()}


def made_by() -> dict[str, Any]:
    """The commit and the versions at work in this process."""
    return {"commit": source_commit(), "versions": all_versions()}


def all_versions() -> dict[str, str]:
    """The versions, Python's too, and the machine."""
    found = {**versions(), "python": platform.python_version()}
    return found | {"processor": processor(), "cores": str(os.cpu_count())}


@cache
def processor() -> str:
    """The processor's name with its family and model, as far as the system says them: one name has many models."""
    told: dict[str, str] = {}
    for line in _cpuinfo():
        name, _, value = line.partition(":")
        told.setdefault(name.strip(), value.strip())
    which = [
        f"{word} {told[name]}"
        for name, word in (("cpu family", "family"), ("model", "model"))
        if name in told
    ]
    name = told.get("model name") or platform.processor() or platform.machine()
    return f"{name} ({', '.join(which)})" if which else name


@cache
def instructions() -> str:
    """The instructions that this processor has, which compiled code may use, as far as the system says them."""
    listed = (line for line in _cpuinfo() if line.startswith(("flags", "Features")))
    return next(listed, platform.processor())


def _cpuinfo() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def source_commit(package: Path = Path(__file__).parent) -> str | None:
    """The commit that holds the package's files, marked "-dirty" when they differ from it.

    Files elsewhere in the clone, such as the results a run is about to write, do not count. None where the package
    is no part of a clone, be it installed inside somebody else's.
    """
    try:
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        commit = _git(package, "rev-parse", "--short=12", "HEAD")
        changed = _git(package, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}-dirty" if changed else commit


def source_hash(package: Path = Path(__file__).parent) -> str:
    """A hash of the package's code, which a commit of other files leaves as it is."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _git(folder: Path, *arguments: str) -> str:
    asked = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
