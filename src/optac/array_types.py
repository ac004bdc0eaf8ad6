"""The axis words of every array in optac; one word is one size within a call.

`horizon` steps, `state`, `action`, `next` state, `rank` of the factorisation, `batch` of episodes or
transitions, `member` of a mixture, `feature`, `critic`, `obs` and `act` dimensions. Checked in tests
through jaxtyping; free for users.
"""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int, Shaped
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

Phi: TypeAlias = Float[np.ndarray, "horizon state action rank"]
Mu: TypeAlias = Float[np.ndarray, "horizon rank state"]
Rewards: TypeAlias = Float[np.ndarray, "horizon state action"]
Probabilities: TypeAlias = Float[np.ndarray, "horizon state action"]
QValues: TypeAlias = Float[np.ndarray, "horizon state action"]
Transitions: TypeAlias = Float[np.ndarray, "horizon state action next"]
Counts: TypeAlias = Int[np.ndarray, "horizon state action next"]
Visits: TypeAlias = Int[np.ndarray, "horizon state action"]
StateDistribution: TypeAlias = Float[np.ndarray, " state"]
Occupancy: TypeAlias = Float[np.ndarray, "horizon state"]
Pairs: TypeAlias = Shaped[np.ndarray, "batch columns"]
"""rows (s, a): a state's index or its coordinates, then the action"""
