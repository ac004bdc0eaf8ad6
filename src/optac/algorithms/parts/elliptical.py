"""The elliptical bonus that Opt-AC, Rep-UCB and RAFFLE share: how little the data say of a learnt feature."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from optac.array_types import Phi, QValues
from optac.errors import InvalidInput
from optac.models import KernelData, LowRankModel, TransitionData


@runtime_checkable
class BonusSettings(Protocol):
    """The constants of a bonus."""

    @property
    def alpha(self) -> float: ...

    @property
    def lam(self) -> float: ...

    @property
    def optimistic_ties(self) -> bool: ...


def checked_ridge(lam: float) -> None:
    """Refuse a ridge of 0, under which Λ may have no inverse."""
    if not lam > 0:
        raise InvalidInput(f"lam={lam} is not valid; lam must be above 0, or Λ may have no inverse")


def elliptical_bonus(
    settings: BonusSettings, model: LowRankModel, data: TransitionData | KernelData, ceiling: float = 1.0
) -> QValues:
    """b̃_h(s,a) = min(α ‖φ̂_h(s,a)‖_{Λ̂⁻¹}, 1) with Λ̂_h = λI + Σ φ̂φ̂ᵀ over RI(·, h+1) (Eq. 3); 0 in the last step.

    Rep-UCB's `ceiling` is 2. A pair that the likelihood leaves free gets 1 with `optimistic_ties`.
    """
    norms = elliptical_norms(model.phi, gram_matrix(model, data, settings.lam))
    bonus = np.minimum(settings.alpha * norms, ceiling)
    if settings.optimistic_ties:
        bonus = np.where(model.free, np.maximum(bonus, 1.0), bonus)
    bonus[-1] = 0.0
    return bonus


def gram_matrix(
    model: LowRankModel, data: TransitionData | KernelData, lam: float
) -> Float[np.ndarray, "horizon rank rank"]:
    """Λ̂_h = λI + Σ_n φ̂_h(s_h, a_h) φ̂_h(s_h, a_h)ᵀ under the current features."""
    return lam * np.eye(model.phi.shape[-1]) + data.second_moments(model)


def elliptical_norms(phi: Phi, gram: Float[np.ndarray, "horizon rank rank"]) -> QValues:
    """‖φ_h(s,a)‖_{Λ_h⁻¹}."""
    squared = np.einsum("hsad,hde,hsae->hsa", phi, np.linalg.inv(gram), phi, optimize=True)
    return np.sqrt(np.maximum(squared, 0.0))
