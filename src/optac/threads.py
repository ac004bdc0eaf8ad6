"""How many threads a run may use, in XLA and in NumPy's linear algebra."""

import os
from typing import SupportsIndex

from optac.errors import InvalidInput, clipped

MOST_THREADS = 1024
"""more than any machine has cores for one run"""


def limit_threads(threads: SupportsIndex) -> None:
    """Let this process use `threads` threads for arithmetic.

    NumPy obeys at once. XLA reads the number when the first array is made and keeps to it from then on; what the
    user has set for it in the environment stays as it is.
    """
    is_whole = isinstance(threads, SupportsIndex) and not isinstance(threads, bool)
    if not is_whole or not 1 <= int(threads) <= MOST_THREADS:
        wanted = f"a whole number, at least 1 and at most {MOST_THREADS}"
        raise InvalidInput(f"threads={clipped(threads)} is not valid; threads must be {wanted}")
    os.environ.setdefault("NPROC", str(int(threads)))
    flags = os.environ.get("XLA_FLAGS", "")
    if int(threads) == 1 and "xla_cpu_multi_thread_eigen" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    # After NumPy's and SciPy's libraries, which have to be there to be told.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    threadpool_limits(int(threads), user_api="blas")
