"""A fitted model θ̂ = (φ̂, μ̂): what the SL oracle returns and the other oracles take."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from optac.array_types import Mu, Phi, Probabilities, QValues, Rewards, StateDistribution, Transitions
from optac.mdp.values import Factors, Kernel, is_large


@dataclass(frozen=True)
class LowRankModel:
    """T̂_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩.

    `free` is the share of T̂_h(·|s,a) that no datum touches: others would be as likely. There φ is the uniform feature.
    """

    phi: Phi
    mu: Mu
    log_likelihood: Float[np.ndarray, " horizon"]
    free: Bool[np.ndarray, "horizon state action"] | Float[np.ndarray, "horizon state action"]
    choice: Int[np.ndarray, " horizon"] | None = None
    """the candidate taken at every step where the class is a list"""
    restarted_at: int = 0
    """the size of the data when fresh starts were last tried"""
    starts: int = 1
    """searches for the maximum that this fit made: each is an SL call"""
    decoder: Float[np.ndarray, "horizon state latent"] | None = None
    """q_h(z|s) where the class takes states together; None where every state is its own"""
    rewards: Rewards | None = None
    """r̂ where rewards are learnt; None where they are known"""
    initial: StateDistribution | None = None
    """the start's distribution where it is learnt"""

    def at(self, h: int, samples: Int[np.ndarray, "batch 2"]) -> Float[np.ndarray, "batch rank"]:
        """φ_h(s,a) at pairs given as rows (s, a)."""
        return self.phi[h, samples[:, 0], samples[:, 1]]

    @cached_property
    def transitions(self) -> Transitions:
        return self.phi @ self.mu[:, None]

    @property
    def kernel(self) -> Kernel:
        """The table of transitions, or where it would be large the factors."""
        return Factors(self.phi, self.mu) if is_large(*self.phi.shape[:3]) else self.transitions

    def settled(self) -> "LowRankModel":
        """The model without what no datum touches: there T̂ leads nowhere, and what follows is worth 0."""
        if not self.free.any():
            return self
        return replace(self, phi=self.phi - self.free[..., None] / self.phi.shape[-1])

    def contested(self) -> tuple[Float[np.ndarray, "horizon state action"], int]:
        """How far models of the same likelihood may differ at (s,a), 0 to 1, and how many had to be looked at."""
        return self.free.astype(float), 0

    def carried(self, table: QValues) -> QValues:
        """A function kept since before this fit, as one of what the model is a table of now: states stay states."""
        return table

    def policy(self, table: Probabilities) -> Any:
        """The policy that a table of action probabilities stands for: itself."""
        return table
