"""The elliptical bonus min(α‖φ(s, a)‖_Λ⁻¹, 1) with Λ = λI + Σ φφᵀ over replay (paper, section 4)."""

import jax.numpy as jnp
import jax.scipy.linalg
from jaxtyping import Array, Float


def inverse_root(
    phi: Float[Array, "batch feature"], weight: Float[Array, " batch"], *, ridge: float
) -> Float[Array, "feature feature"]:
    """L⁻¹ for the Cholesky factor LLᵀ = Λ = λI + Σᵢ wᵢ φᵢφᵢᵀ, so that ‖φ‖_Λ⁻¹ = ‖L⁻¹φ‖.

    Kept instead of Λ because a matrix product is what the bonus then costs an update.
    """
    dimension = phi.shape[1]
    covariance = ridge * jnp.eye(dimension) + (phi * weight[:, None]).T @ phi
    factor = jnp.linalg.cholesky(covariance)
    return jax.scipy.linalg.solve_triangular(factor, jnp.eye(dimension), lower=True)


def elliptical_bonus(
    phi: Float[Array, "batch feature"], root: Float[Array, "feature feature"], *, alpha: float
) -> Float[Array, " batch"]:
    """min(α‖φ‖_Λ⁻¹, 1)."""
    return jnp.minimum(alpha * jnp.linalg.norm(phi @ root.T, axis=-1), 1.0)
