"""The elliptical bonus that Opt-AC, Rep-UCB and RAFFLE share: how little the data say of a pair (s,a).

The paper's Gram matrix is over the d-dimensional φ̂_h(s,a) (`gram="phi"`). That one knows nothing of pairs never tried:
once a factor is well visited elsewhere, every feature on it looks certain. With `gram="latents"` it is over
q_h(·|s) ⊗ e_a, |A| blocks of d × d, q the decoder of the fitted model: an action never tried from a latent is a
direction never seen. Where a class takes no states together q is the state itself and the norm is 1/√(λ + N_h(s,a)).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from optac.array_types import Phi, QValues, Rewards, Visits
from optac.errors import InvalidInput
from optac.mdp.values import still_to_come
from optac.models import KernelData, LowRankModel, RichData, RichModel, TransitionData
from optac.oracles import Bill

PRACTICAL_ALPHA = 0.02
"""chosen once for locks, chains and FrozenLake together, and held for all problems and algorithms"""
RICH_ALPHA = 1.0
"""chosen once for rich-lock and rich-sea together: what is learnt must be tried often before it can be told apart"""

TABLES_ONLY = ("gram", "beta", "whole_trajectories", "untried", "optimistic_ties")
"""settings of the bonus that nothing reads where only observations are seen"""


@dataclass(frozen=True, kw_only=True)
class BonusSettings:
    """The constants of the bonus and of the model that it is for."""

    alpha: float
    """α, multiplies the elliptical norm of a feature"""
    lam: float
    """λ, the ridge of the Gram matrix"""
    gram: Literal["latents", "phi"]
    """the Gram matrix is over q(·|s) ⊗ e_a, or over the paper's φ̂(s,a)"""
    beta: float
    """β, the slack of the likelihood"""
    whole_trajectories: bool
    """fit every transition of an episode, not only the one at the roll-in's step"""
    untried: Literal["nowhere", "uniform"]
    """where the model leads from what no datum touches: nowhere, or to the uniform feature"""
    optimistic_ties: bool
    """give a pair on which models of the same likelihood differ the bonus 1"""

    def __post_init__(self) -> None:
        checked_ridge(self.lam)


def checked_ridge(lam: float) -> None:
    """Refuse a ridge of 0, under which Λ may have no inverse."""
    if not lam > 0:
        raise InvalidInput(f"lam={lam} is not valid; lam must be above 0, or Λ may have no inverse")


def elliptical_bonus(
    settings: BonusSettings,
    model: LowRankModel,
    data: TransitionData | KernelData | RichData,
    ceiling: float = 1.0,
) -> tuple[QValues, Bill]:
    """b̃_h(s,a) = min(α ‖ψ_h(s,a)‖_{Λ̂⁻¹}, 1) with Λ̂_h = λI + Σ ψψᵀ (Eq. 3); 0 in the last step.

    With `gram="phi"` ψ = φ̂ and the sum is over RI(·, h+1). With `gram="latents"` ψ = q ⊗ e_a, and with
    `whole_trajectories` the sum is over every pair that the fit uses. Rep-UCB's `ceiling` is 2. With `optimistic_ties`
    a pair on which models of the same likelihood differ gets 1; each model looked at for that is an SL call.
    """
    if isinstance(model, RichModel):
        return np.minimum(settings.alpha * decoded_norms(model, settings.lam), ceiling), Bill()
    assert not isinstance(data, RichData)
    if settings.gram == "phi":
        norms = elliptical_norms(model.phi, gram_matrix(model, data, settings.lam))
    else:
        norms = latent_norms(model.decoder, _visits(data, settings.whole_trajectories), settings.lam)
    bonus = np.minimum(settings.alpha * norms, ceiling)
    looked_at = 0
    if settings.optimistic_ties:
        contested, looked_at = model.contested()
        bonus = np.maximum(bonus, contested)
    bonus[-1] = 0.0
    return bonus, Bill(SL=looked_at)


def decoded_norms(model: RichModel, lam: float) -> QValues:
    """‖e_z ⊗ e_a‖_{Λ_h⁻¹} with Λ_h = λI + Σ (q ⊗ e_a)(q ⊗ e_a)ᵀ over all rows: |A| blocks, the last step's too.

    Rewards are learnt here, so the last step has something to learn.
    """
    assert model.gram is not None
    inverse = np.linalg.inv(lam * np.eye(model.gram.shape[-1]) + model.gram)
    return np.sqrt(np.diagonal(inverse, axis1=-2, axis2=-1)).transpose(0, 2, 1)


def gram_matrix(
    model: LowRankModel, data: TransitionData | KernelData, lam: float
) -> Float[np.ndarray, "horizon rank rank"]:
    """Λ̂_h = λI + Σ_n φ̂_h(s_h, a_h) φ̂_h(s_h, a_h)ᵀ under the current features."""
    return lam * np.eye(model.phi.shape[-1]) + data.second_moments(model)


def elliptical_norms(phi: Phi, gram: Float[np.ndarray, "horizon rank rank"]) -> QValues:
    """‖φ_h(s,a)‖_{Λ_h⁻¹}."""
    squared = np.einsum("hsad,hde,hsae->hsa", phi, np.linalg.inv(gram), phi, optimize=True)
    return np.sqrt(np.maximum(squared, 0.0))


def latent_norms(
    decoder: Float[np.ndarray, "horizon state latent"] | None, visits: Visits, lam: float
) -> QValues:
    """‖q_h(·|s) ⊗ e_a‖_{Λ_h⁻¹}: Λ_h has a block λI + Σ_s N_h(s,a) q_h(·|s) q_h(·|s)ᵀ an action."""
    if decoder is None:
        return np.asarray(1.0 / np.sqrt(lam + visits))
    weighted = np.einsum("hsa,hsz->hasz", visits, decoder)
    gram = lam * np.eye(decoder.shape[-1]) + weighted.transpose(0, 1, 3, 2) @ decoder[:, None]
    squared = np.einsum("hsz,hazy,hsy->hsa", decoder, np.linalg.inv(gram), decoder, optimize=True)
    return np.sqrt(np.maximum(squared, 0.0))


def reward_range(rewards: Rewards) -> Float[np.ndarray, "horizon 1 1"]:
    """The most that the steps after h can still pay, which the known rewards give; 0 in the last step."""
    return np.asarray(still_to_come(rewards)[1:, None, None])


def _visits(data: TransitionData | KernelData, whole_trajectories: bool) -> Visits:
    if not isinstance(data, TransitionData):
        raise InvalidInput(
            "gram=latents counts visits of states, which a continuous problem has not; set gram=phi"
        )
    return data.visits if whole_trajectories else data.gram_visits
