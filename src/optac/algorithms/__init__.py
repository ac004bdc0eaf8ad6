"""One provable algorithm a file, one loop that runs them all."""

from optac.algorithms.catalogue import ALGORITHMS
from optac.algorithms.loop.result import Result
from optac.algorithms.loop.run import solve

__all__ = ["ALGORITHMS", "Result", "solve"]
