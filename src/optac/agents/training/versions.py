"""The versions, the machine and XLA's settings that a learner's bits depend on, and what has changed since."""

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import jax

from optac.provenance import LIBRARIES, instructions, processor, versions


def numeric_versions() -> dict[str, str]:
    """The versions, the processor with its instructions, for which XLA compiles, XLA's device, threads and flags."""
    flags = sorted(flag for flag in os.environ.get("XLA_FLAGS", "").split() if _THREADS not in flag)
    return {
        **versions(),
        "processor": processor(),
        "instructions": hashlib.sha256(instructions().encode()).hexdigest()[:8],
        "device": jax.default_backend(),
        "threads": os.environ.get("NPROC", "all"),
        "XLA_FLAGS": " ".join(flags),
    }


_THREADS = "xla_cpu_multi_thread_eigen"
"""a flag that follows from the number of threads, which stands beside it"""


def drift(then: Mapping[str, Any]) -> list[str]:
    """The differences between the versions `then` and now, one entry per name: of all said then, and of libraries."""
    now = numeric_versions()
    names = [*then, *(name for name in now if name in LIBRARIES and name not in then)]
    return [f"{n} {then.get(n)} → {now.get(n)}" for n in names if then.get(n) != now.get(n)]
