"""A reader of rich observations that knows the problem: what its fixed sample of emissions leaves open at best."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from optac.mdp.policies import uniform_policy
from optac.mdp.values import occupancies

if TYPE_CHECKING:
    from optac.mdp.rich_problem import RichProblem


class NearestMean:
    """The best policy on latents, each read as the nearest of the fixed sample's means of those a step can have."""

    def __init__(self, problem: "RichProblem") -> None:
        self._means = problem.held_out.mean(axis=2, dtype=float)
        self._best = problem.optimal_policy
        self._reached = occupancies(problem.transitions, uniform_policy(*problem.shape), problem.initial) > 0

    def probabilities_at(
        self, h: int, observations: Float[np.ndarray, "batch obs"]
    ) -> Float[np.ndarray, "batch action"]:
        """π_h(·|x)."""
        latents = np.flatnonzero(self._reached[h])
        means = self._means[h, latents]
        distances = (means**2).sum(axis=1) - 2 * observations @ means.T
        return np.asarray(self._best[h, latents[distances.argmin(axis=1)]])
