"""What is known of an instance: values, ranks, singular values, reachability."""

from typing import TYPE_CHECKING, Any

import numpy as np

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
    operators = _Operators(problem)
    reachability = [
        operators.largest_expectation(h, problem.phi[h])[problem.phi[h].max(axis=(0, 1)) > 0].min()
        for h in operators.last_steps()
    ]
    return float(min(reachability))


class _Operators:
    """V ↦ max_a Σ_s' T_h(s'|s,a) V(s') for many value functions at once, sparse where T is."""

    def __init__(self, problem: "LowRankMDP") -> None:
        from scipy.sparse import csr_array

        self._problem = problem
        self.same_every_step = problem.transitions.strides[0] == 0 or problem.horizon == 1
        steps = problem.transitions[:1] if self.same_every_step else problem.transitions
        self._matrices = [csr_array(step.reshape(-1, problem.states)) for step in steps]

    def last_steps(self) -> range:
        """The steps h < H whose transitions enter a value."""
        return range(self._problem.horizon - 1)

    def largest_expectation(self, h: int, targets: np.ndarray) -> np.ndarray:
        """max_π E_π[targets(s_h, a_h)_z] for every column z of targets (S, A, d)."""
        values = targets.max(axis=1)
        for step in reversed(range(h)):
            matrix = self._matrices[0 if self.same_every_step else step]
            values = (matrix @ values).reshape(*targets.shape).max(axis=1)
        return np.asarray(self._problem.initial @ values)


def _spectra(problem: "LowRankMDP") -> tuple[list[int], list[float]]:
    same = problem.transitions.strides[0] == 0
    steps = problem.transitions[:1] if same else problem.transitions
    ranks, smallest = [], []
    for step in steps:
        singular = np.linalg.svd(step.reshape(-1, problem.states), compute_uv=False)
        nonzero = singular[singular > singular[0] * RELATIVE_TOLERANCE]
        ranks.append(len(nonzero))
        smallest.append(float(nonzero[-1]))
    repeat = problem.horizon if same else 1
    return ranks * repeat, smallest * repeat
