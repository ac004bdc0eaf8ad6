"""Hypothesis draws the same examples every time, JAX compiles little and once, and no test's folder outlives it.

Compiling: no optimisation passes, and a cache on disk, one for each test process.
"""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from optac import registry

CACHE = Path(__file__).parents[1] / ".pytest_cache" / "jax" / os.environ.get("PYTEST_XDIST_WORKER", "alone")

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

settings.register_profile("optac", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("optac")


@pytest.fixture(autouse=True)
def folders_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds by `--path` is gone after it: it would be written into the next test's configurations."""
    monkeypatch.setattr(registry, "_paths", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
