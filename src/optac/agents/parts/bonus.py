"""The elliptical bonus min(α‖φ(s, a)‖_Λ⁻¹, 1) with Λ = λI + Σ φφᵀ over replay (paper, section 4)."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from optac.errors import RunFailed


def inverse_root(
    phi: Float[np.ndarray, "batch feature"], weight: Float[np.ndarray, " batch"], *, ridge: float
) -> Float[np.ndarray, "feature feature"]:
    """L⁻¹ for the Cholesky factor LLᵀ = Λ = λI + Σᵢ wᵢ φᵢφᵢᵀ, so that ‖φ‖_Λ⁻¹ = ‖L⁻¹φ‖.

    Kept instead of Λ because a matrix product is what the bonus then costs an update. In float64: after a million
    steps the largest eigenvalue of Λ is so far above λ that float32 loses λ, or finds no factor at all.
    """
    rows = phi.astype(np.float64)
    covariance = ridge * np.eye(phi.shape[1]) + (rows * weight[:, None]).T @ rows
    if not np.isfinite(covariance).all():
        raise RunFailed(
            "φ is not finite where Λ is rebuilt. Lower feature_learning_rate, or look for huge rewards"
        )
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise RunFailed(
            f"Λ has no Cholesky factor: bonus_lambda={ridge:g} is lost beside its largest entry, "
            f"{covariance.max():.3g}. Raise bonus_lambda"
        ) from None
    root = scipy.linalg.solve_triangular(factor, np.eye(phi.shape[1]), lower=True)
    return np.asarray(root, np.float32)


def elliptical_bonus(
    phi: Float[Array, "batch feature"], root: Float[Array, "feature feature"], *, alpha: float
) -> Float[Array, " batch"]:
    """min(α‖φ‖_Λ⁻¹, 1)."""
    return jnp.minimum(alpha * jnp.linalg.norm(phi @ root.T, axis=-1), 1.0)
