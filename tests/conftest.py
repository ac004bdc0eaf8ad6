"""Hypothesis draws the same examples every time, and JAX compiles little and once.

Compiling: no optimisation passes, and a cache on disk, one for each test process.
"""

import os
from pathlib import Path

from hypothesis import settings

CACHE = Path(__file__).parents[1] / ".pytest_cache" / "jax" / os.environ.get("PYTEST_XDIST_WORKER", "alone")

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

settings.register_profile("optac", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("optac")
