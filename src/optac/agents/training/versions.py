"""The versions, the machine and the threads that a learner's bits depend on, and what has changed since."""

import os
from collections.abc import Mapping
from typing import Any

from optac.provenance import LIBRARIES, processor, versions


def numeric_versions() -> dict[str, str]:
    """The versions, the processor, for which XLA compiles, and XLA's threads."""
    return {**versions(), "processor": processor(), "threads": os.environ.get("NPROC", "all")}


def drift(then: Mapping[str, Any]) -> list[str]:
    """The differences between the versions `then` and now, one entry per name: of all said then, and of libraries."""
    now = numeric_versions()
    names = [*then, *(name for name in now if name in LIBRARIES and name not in then)]
    return [f"{n} {then.get(n)} → {now.get(n)}" for n in names if then.get(n) != now.get(n)]
