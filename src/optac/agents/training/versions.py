"""The versions, the machine and the threads that a learner's bits depend on, and what has changed since."""

import os
from collections.abc import Mapping
from typing import Any

from optac.provenance import LIBRARIES, versions


def numeric_versions() -> dict[str, str]:
    """The versions, and XLA's threads."""
    return {**versions(), "threads": os.environ.get("NPROC", "all")}


def drift(then: Mapping[str, Any]) -> list[str]:
    """The differences between the versions `then` and now, one entry per name."""
    now = numeric_versions()
    names = dict.fromkeys([*now, *(name for name in then if name in LIBRARIES)])
    return [f"{n} {then.get(n)} → {now.get(n)}" for n in names if then.get(n) != now.get(n)]
