"""How many threads XLA may use. It reads this once, when the first array is made."""

import os

from optac.errors import InvalidInput


def limit_threads(threads: int) -> None:
    """Let XLA use `threads` threads from its start; without effect once it has started.

    What the user has set in the environment stays as it is.
    """
    if threads < 1:
        raise InvalidInput(f"threads={threads} must be at least 1")
    os.environ.setdefault("NPROC", str(threads))
    flags = os.environ.get("XLA_FLAGS", "")
    if threads == 1 and "xla_cpu_multi_thread_eigen" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
