"""A regular grid on a cube: where a continuous problem's truth is computed, and a policy between its points."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from optac.array_types import Array
from optac.mdp.policies import TabularPolicy

LEAST_PROBABILITY = 1e-300


class Grid:
    """The (cells + 1)^D vertices of [low, high]^D, with trapezoid weights and multilinear interpolation.

    Halving the cell keeps every vertex.
    """

    def __init__(self, dim: int, cells: int, low: float = 0.0, high: float = 1.0) -> None:
        self.dim, self.cells, self.low, self.high = dim, cells, low, high
        self.cell = (high - low) / cells
        axis = np.linspace(low, high, cells + 1)
        axis_weights = np.full(cells + 1, self.cell)
        axis_weights[[0, -1]] /= 2
        self.points: Float[np.ndarray, "state dim"] = _all_tuples(axis, dim)
        self.weights: Float[np.ndarray, " state"] = _all_tuples(axis_weights, dim).prod(axis=-1)
        self._strides = (cells + 1) ** np.arange(dim)[::-1]
        self._corners = np.array(list(product((0, 1), repeat=dim)))

    def __len__(self) -> int:
        return len(self.points)

    def index(self, state: Float[np.ndarray, " dim"]) -> int:
        """The vertex nearest to a state."""
        return int(np.rint((state - self.low) / self.cell).astype(int) @ self._strides)

    def corners(
        self, states: Float[np.ndarray, "*batch dim"]
    ) -> tuple[Int[np.ndarray, "*batch corner"], Float[np.ndarray, "*batch corner"]]:
        """The 2^D vertices around each state and their multilinear weights; a state outside is moved to the edge."""
        scaled = np.clip((states - self.low) / self.cell, 0, self.cells)
        lower = np.minimum(scaled.astype(int), self.cells - 1)
        fraction = (scaled - lower)[..., None, :]
        weights = np.where(self._corners == 1, fraction, 1.0 - fraction).prod(axis=-1)
        return (lower[..., None, :] + self._corners) @ self._strides, weights

    def interpolate(self, table: Array, states: Float[np.ndarray, "*batch dim"]) -> Array:
        """The multilinear interpolation of a table (state, …) at each state."""
        vertices, weights = self.corners(states)
        shape = table.shape[1:]
        total = np.zeros((*states.shape[:-1], *shape))
        for corner in range(len(self._corners)):
            weight = weights[..., corner].reshape(*states.shape[:-1], *[1] * len(shape))
            total += weight * table[vertices[..., corner]]
        return total


@dataclass(frozen=True)
class GridPolicy(TabularPolicy):
    """A softmax policy known at the points of a grid; between them the logits are interpolated.

    log π differs from the summed critic η Σ Q̂ by a constant of the state, which a softmax does not see, so this is
    the softmax of the interpolated summed critic and an action costs the same after any number of iterations.
    """

    grid: Grid

    def probabilities_at(
        self, h: int, states: Float[np.ndarray, "batch dim"]
    ) -> Float[np.ndarray, "batch action"]:
        """π_h(·|s) at any states."""
        return interpolated_probabilities(self.probabilities[h], self.grid, states)

    def act(self, h: int, state: Any, rng: np.random.Generator) -> int:
        """An action a ~ π_h(·|state), state a point of R^D."""
        point = np.asarray(state, dtype=float).reshape(1, self.grid.dim)
        probabilities = self.probabilities_at(h, point)[0]
        return int(rng.choice(len(probabilities), p=probabilities))

    def arrays(self) -> dict[str, np.ndarray]:
        """The contents of a file of this policy: the table and the points it belongs to."""
        return {"probabilities": self.probabilities, "points": self.grid.points}


def interpolated_probabilities(
    table: Float[np.ndarray, "state action"], grid: Grid, states: Float[np.ndarray, "batch dim"]
) -> Float[np.ndarray, "batch action"]:
    """softmax of the multilinear interpolation of log π; a probability of 0 counts as 1e-300."""
    logits = grid.interpolate(np.log(np.maximum(table, LEAST_PROBABILITY)), states)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _all_tuples(axis: Array, dim: int) -> Array:
    """Every D-tuple of the axis's values, the last coordinate running fastest."""
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
