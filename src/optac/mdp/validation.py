"""The conditions that make arrays a low-rank MDP, checked entry by entry; every error names the first offender.

The tolerance of every check is 1e-6.
"""

from typing import Any

import numpy as np

from optac.array_types import Mu, Phi, Rewards, StateDistribution, Transitions
from optac.errors import InvalidProblem

TOLERANCE = 1e-6
BLOCK = 2**22


def frozen_copy(values: Any, name: str, axes: str) -> np.ndarray:
    """A read-only float copy of the caller's array; an axis the caller broadcast stays broadcast."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name} must be a numeric array of shape {axes}: {error}") from None
    if array.ndim != len(axes.split(",")):
        raise InvalidProblem(f"{name} must have shape {axes}; got {array.shape}")
    if 0 in array.shape:
        raise InvalidProblem(f"{name} must have shape {axes} with no empty axis; got {array.shape}")
    if array.ndim > 1 and array.shape[0] > 1 and array.strides[0] == 0:
        return np.broadcast_to(array[0].copy(), array.shape)
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def check_shapes(phi: np.ndarray, mu: np.ndarray, rewards: np.ndarray) -> None:
    """phi (H,S,A,d), mu (H,d,S) and rewards (H,S,A) agree on H, S, A and d."""
    horizon, states, actions, rank = phi.shape
    if mu.shape != (horizon, rank, states):
        raise InvalidProblem(
            f"phi {phi.shape} needs mu of shape (H, d, S) = {(horizon, rank, states)}; got {mu.shape}"
        )
    if rewards.shape != (horizon, states, actions):
        raise InvalidProblem(
            f"phi {phi.shape} needs rewards of shape (H, S, A) = {(horizon, states, actions)}; "
            f"got {rewards.shape}"
        )


def check_finite(array: np.ndarray, name: str, axes: str) -> None:
    if not np.isfinite(array).all():
        index = _first(~np.isfinite(array))
        raise InvalidProblem(
            f"{name} has {array[index]} at {axes} = {_spell(index)}; every entry must be finite"
        )


def check_rewards(rewards: Rewards) -> None:
    outside = (rewards < -TOLERANCE) | (rewards > 1 + TOLERANCE)
    if outside.any():
        index = _first(outside)
        raise InvalidProblem(
            f"rewards must lie in [0, 1]; at (h, s, a) = {_spell(index)} it is {rewards[index]:g}. "
            "rescale=True maps them there (TabularMDP), or map them affinely first"
        )


def check_features(phi: Phi, mu: Mu) -> None:
    """‖φ_h(s,a)‖₂ ≤ 1 and ‖Σ_s' μ_h(s') g(s')‖₂ ≤ √d for every g: S → [0, 1]."""
    norms = np.linalg.norm(_distinct_steps(phi), axis=-1)
    if (norms > 1 + TOLERANCE).any():
        index = _first(norms > 1 + TOLERANCE)
        raise InvalidProblem(
            f"‖phi‖₂ must be at most 1; at (h, s, a) = {_spell(index)} it is {norms[index]:.6g}. "
            "Divide phi by its largest norm and multiply mu by it"
        )
    rank = mu.shape[1]
    for h, step in enumerate(_distinct_steps(mu)):
        largest = largest_integral(step)
        if largest > np.sqrt(rank) + TOLERANCE:
            raise InvalidProblem(
                f"‖Σ_s' mu(s') g(s')‖₂ must be at most √d = {np.sqrt(rank):.6g} for every g in [0, 1]; "
                f"at h = {h} it reaches {largest:.6g}. Rescale the factorisation: phi·B⁻¹ and B·mu"
            )


def largest_integral(mu: np.ndarray) -> float:
    """sup over g: S → [0,1] of ‖Σ_s μ(s) g(s)‖₂ for one step's (d, S) array.

    For μ ≥ 0 it is reached at g = 1. With mixed signs the supremum of this convex function is searched
    among the cube's corners by alternating maximisation from every signed axis and every μ(s): a lower
    bound, so only what certainly breaks the normalisation is refused.
    """
    if (mu >= 0).all():
        return float(np.linalg.norm(mu.sum(axis=1)))
    starts = np.concatenate([np.eye(len(mu)), -np.eye(len(mu)), mu.T, -mu.T])
    largest = 0.0
    for direction in starts:
        reached = 0.0
        while True:
            integral = mu[:, direction @ mu > 0].sum(axis=1)
            norm = float(np.linalg.norm(integral))
            if norm <= reached:
                break
            reached, direction = norm, integral / norm
        largest = max(largest, reached)
    return largest


def check_transitions(phi: Phi, mu: Mu) -> None:
    """T_h(s'|s,a) = ⟨φ_h(s,a), μ_h(s')⟩ is a distribution over s', looked at a block of states at a time."""
    phi, mu = _distinct_steps(phi), _distinct_steps(mu)
    steps = max(len(phi), len(mu))
    if not ((phi >= 0).all() and (mu >= 0).all()):
        rows = max(1, BLOCK // (phi.shape[2] * mu.shape[2]))
        for h, first in np.ndindex(steps, -(-phi.shape[1] // rows)):
            here = slice(first * rows, (first + 1) * rows)
            lowest = (phi[h % len(phi), here] @ mu[h % len(mu)]).min(axis=-1)
            if (lowest < -TOLERANCE).any():
                s, a = _first(lowest < -TOLERANCE)
                raise InvalidProblem(
                    f"transitions must not be negative; T(·|s,a) at (h, s, a) = "
                    f"{_spell((h, first * rows + s, a))} reaches {lowest[s, a]:g}"
                )
    totals = np.einsum("hsad,hd->hsa", phi, mu.sum(axis=-1))
    unnormalised = np.abs(totals - 1) > TOLERANCE
    if unnormalised.any():
        index = _first(unnormalised)
        raise InvalidProblem(
            f"transitions must sum to 1; T(·|s,a) at (h, s, a) = {_spell(index)} sums to {totals[index]:.6g}"
        )


def clean_transitions(phi: Phi, mu: Mu) -> Transitions:
    """The table of transitions, cleaned of its rounding errors."""
    horizon, states, actions, _ = phi.shape
    same = is_broadcast(phi) and is_broadcast(mu)
    factors = (phi[:1], mu[:1]) if same else (phi, mu)
    transitions = np.maximum(np.einsum("hsad,hdn->hsan", *factors, optimize=True), 0.0)
    transitions /= transitions.sum(axis=-1, keepdims=True)
    transitions.flags.writeable = False
    return np.broadcast_to(transitions, (horizon, states, actions, states)) if same else transitions


def checked_initial(initial_state: Any, states: int) -> StateDistribution:
    """The initial distribution (S,); an int means that state for certain."""
    if isinstance(initial_state, int | np.integer) and not isinstance(initial_state, bool):
        if not 0 <= initial_state < states:
            raise InvalidProblem(f"initial_state must be one of 0 … {states - 1}; got {initial_state}")
        return np.eye(states)[int(initial_state)]
    initial = frozen_copy(initial_state, "initial_state", "S")
    if initial.shape != (states,):
        raise InvalidProblem(f"initial_state must be an int or have shape ({states},); got {initial.shape}")
    if not np.isfinite(initial).all() or (initial < -TOLERANCE).any() or abs(initial.sum() - 1) > TOLERANCE:
        raise InvalidProblem("initial_state must be a distribution: entries at least 0 that sum to 1")
    initial = np.maximum(initial, 0.0)
    return np.asarray(initial / initial.sum())


def checked_state_features(features: Any, states: int) -> np.ndarray:
    """A finite vector a state."""
    array = frozen_copy(features, "features", "(S, p)")
    if len(array) != states:
        raise InvalidProblem(f"features must have a row a state, {states} in all; got {array.shape}")
    check_finite(array, "features", "(s, component)")
    return array


def is_broadcast(array: np.ndarray) -> bool:
    """Every step has the same values, kept once."""
    return array.shape[0] == 1 or array.strides[0] == 0


def _distinct_steps(array: np.ndarray) -> np.ndarray:
    return array[:1] if is_broadcast(array) else array


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _spell(index: tuple[int, ...]) -> str:
    return "(" + ", ".join(str(i) for i in index) + ")"
