"""One provable algorithm per file, one loop that runs them all."""

from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import solve

__all__ = ["Result", "solve"]
