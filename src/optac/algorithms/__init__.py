"""One provable algorithm a file, one loop that runs them all."""

from optac.algorithms.catalogue import ALGORITHMS
from optac.algorithms.loop import solve
from optac.algorithms.result import Result

__all__ = ["ALGORITHMS", "Result", "solve"]
