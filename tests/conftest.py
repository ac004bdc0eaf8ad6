"""Hypothesis draws the same examples every time, JAX compiles little and once, long files come first.

Compiling: no optimisation passes, no fusion emitters (jax 0.10.2 compiles in a third of the time without them), and a
cache on disk, one for each test process. What is compiled takes about a thousand memory mappings an agent, of which
Linux gives a process 65,530; beyond that XLA crashes.
"""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from optac import registry

MOST_MAPPINGS = 15_000
QUICK = (
    "xla_cpu_multi_thread_eigen=false",
    "xla_backend_optimization_level=0",
    "xla_cpu_use_fusion_emitters=false",
)
HERE = Path(__file__).parent
LONGEST = [
    (HERE / name).resolve(strict=True)
    for name in (
        "golden/test_golden.py",
        "sweeps/test_faults.py",
        "test_examples.py",
        "sweeps/test_launcher.py",
        "studies/test_table2_runs.py",
        "agents/test_probes.py",
    )
]
"""files that take longest; begun last, one of them would keep one process busy while the other has nothing to do"""
CACHE = HERE.parent / ".pytest_cache" / "jax" / os.environ.get("PYTEST_XDIST_WORKER", "alone")

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("XLA_FLAGS", " ".join(f"--{flag}" for flag in QUICK))
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(CACHE)  # over that of the process which started this one
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

settings.register_profile("optac", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("optac")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path not in LONGEST)


@pytest.fixture(autouse=True)
def folders_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds by `--path` is gone after it: it would be written into the next test's configurations."""
    monkeypatch.setattr(registry, "_paths", [])
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture(autouse=True, scope="module")
def mappings_given_back() -> Iterator[None]:
    """After a file of tests, what was compiled in it is let go where it takes much."""
    yield
    if "optac.agents.training.compiled" in sys.modules and _mappings() > MOST_MAPPINGS:
        import jax

        from optac.agents.parts import programs
        from optac.agents.training import compiled

        compiled._formulas.cache_clear()
        programs.kept.cache_clear()
        jax.clear_caches()
        gc.collect()


def _mappings() -> int:
    maps = Path("/proc/self/maps")  # Linux alone has it, and the limit
    return maps.read_bytes().count(b"\n") if maps.exists() else 0
