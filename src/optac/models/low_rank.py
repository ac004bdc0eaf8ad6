"""A fitted model θ̂ = (φ̂, μ̂): what the SL oracle returns and the other oracles take."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Mu, Phi, Transitions


@dataclass(frozen=True)
class LowRankModel:
    """T̂_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩.

    `free` marks the (s,a) whose transitions the data leave open: others would be as likely. `choice` is the
    candidate taken at every step where the class is a list; `restarted_at` the size of the data when fresh
    starts were last tried.
    """

    phi: Phi
    mu: Mu
    log_likelihood: Float[np.ndarray, " horizon"]
    free: Bool[np.ndarray, "horizon state action"]
    choice: Int[np.ndarray, " horizon"] | None = None
    restarted_at: int = 0

    def at(self, h: int, samples: Int[np.ndarray, "batch 2"]) -> Float[np.ndarray, "batch rank"]:
        """φ_h(s,a) at pairs given as rows (s, a)."""
        return self.phi[h, samples[:, 0], samples[:, 1]]

    @cached_property
    def transitions(self) -> Transitions:
        return self.phi @ self.mu[:, None]
