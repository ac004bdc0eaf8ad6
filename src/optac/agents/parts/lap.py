"""Rows drawn by how wrong the critics are about them (LAP: Fujimoto et al. 2020, arXiv 2007.06049, section 4.1).

A row is drawn in proportion to max(|δ|, 1)^α, and its loss is linear in δ beyond 1: drawn more often, a large error
must not also weigh more in each draw. Errors below 1 are drawn alike and counted by their squares.
"""

import jax.numpy as jnp

from optac.agents.parts.soft_actor_critic import Column, Scalar, Values


def lap_loss(values: Values, target: Column, unit: Scalar | None) -> Scalar:
    """Σ_c E[δ²/2 where |δ| < 1, else |δ|], δ = Q_c(s, a) − y in `unit`, or in the reward's."""
    size = jnp.abs(values - target[None]) / (1.0 if unit is None else unit)
    return jnp.sum(jnp.mean(jnp.where(size < 1, size**2 / 2, size), axis=1))


def lap_priority(errors: Column | None, power: float) -> Column | None:
    """max(|δ|, 1)^α for each row, α the `power`; None where no errors are kept."""
    return None if errors is None else jnp.maximum(errors, 1.0) ** power
