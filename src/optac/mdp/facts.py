"""The facts of an instance: values, ranks, singular values, reachability."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from optac.mdp.values import Factors, expected_next

if TYPE_CHECKING:
    from optac.mdp.low_rank import LowRankMDP

RELATIVE_TOLERANCE = 1e-9


def problem_facts(problem: "LowRankMDP") -> dict[str, Any]:
    """V*, V(uniform), the linear rank and smallest nonzero singular value of every T_h, η_min."""
    ranks, smallest = _spectra(problem)
    return {
        "horizon": problem.horizon,
        "states": problem.states,
        "actions": problem.actions,
        "rank": problem.rank,
        "optimal_value": problem.optimal_value,
        "uniform_value": problem.uniform_value,
        "ranks": ranks,
        "smallest_singular_values": smallest,
        "eta_min": smallest_reachability(problem),
    }


def smallest_reachability(problem: "LowRankMDP") -> float | None:
    """η_min = min over h < H and factors z of T_h of max_π Pr(z), by one planning problem a factor.

    A factor's probability is E_π[φ_h(s,a)_z], which needs features on the simplex: None for others.
    Components that no (s,a) uses are padding, not factors. With H = 1 no transition matters: 1.
    """
    simplex = (problem.phi >= -RELATIVE_TOLERANCE).all() and (np.abs(problem.phi.sum(-1) - 1) < 1e-6).all()
    if not simplex:
        return None
    if problem.horizon == 1:
        return 1.0
    smallest = 1.0
    for h, reached in enumerate(_largest_probabilities(problem)):
        smallest = min(smallest, float(reached[problem.phi[h].max(axis=(0, 1)) > 0].min()))
    return smallest


def _largest_probabilities(problem: "LowRankMDP") -> Iterator[np.ndarray]:
    """max_π E_π[φ_h(s,a)_z] for every z, step by step for h < H, the transitions sparse where T is.

    V ↦ max_a Σ_s' T(s'|s,a) V(s') carries max_a φ_h(s,a)_z back from step h to the first. Where every step
    shares one table, so do the steps' value functions: one pass serves them all.
    """
    if isinstance(problem.kernel, Factors):
        for h in range(problem.horizon - 1):
            values = problem.phi[h].max(axis=1)
            for earlier in reversed(range(h)):
                values = expected_next(problem.kernel, earlier, values).max(axis=1)
            yield problem.initial @ values
        return
    from scipy.sparse import csr_array

    def back(matrix: Any, values: np.ndarray) -> np.ndarray:
        return (matrix @ values).reshape(problem.states, problem.actions, -1).max(axis=1)

    if problem.transitions.strides[0] == 0:
        matrix = csr_array(problem.transitions[0].reshape(-1, problem.states))
        values = problem.phi[0].max(axis=1)
        for _ in range(problem.horizon - 1):
            yield problem.initial @ values
            values = back(matrix, values)
        return
    matrices = [csr_array(step.reshape(-1, problem.states)) for step in problem.transitions]
    for h in range(problem.horizon - 1):
        values = problem.phi[h].max(axis=1)
        for matrix in reversed(matrices[:h]):
            values = back(matrix, values)
        yield problem.initial @ values


def _spectra(problem: "LowRankMDP") -> tuple[list[int], list[float]]:
    large = isinstance(problem.kernel, Factors)
    same = not large and problem.transitions.strides[0] == 0
    ranks, smallest = [], []
    for h in range(1 if same else problem.horizon):
        if large:
            left = np.asarray(np.linalg.qr(problem.phi[h].reshape(-1, problem.rank), mode="r"))
            right = np.asarray(np.linalg.qr(problem.mu[h].T, mode="r"))
            matrix = left @ right.T
        else:
            matrix = problem.transitions[h].reshape(-1, problem.states)
        singular = np.linalg.svd(matrix, compute_uv=False)
        nonzero = singular[singular > singular[0] * RELATIVE_TOLERANCE]
        ranks.append(len(nonzero))
        smallest.append(float(nonzero[-1]))
    repeat = problem.horizon if same else 1
    return ranks * repeat, smallest * repeat
