"""PE: the action values of a policy in a known model.

By the low-rank structure Q^π_h(s,a) = r_h(s,a) + φ_h(s,a)ᵀw_h with
w_h = Σ_s' μ_h(s') Σ_a' π_{h+1}(a'|s') Q^π_{h+1}(s',a') and w of the last step 0. Two ways to find
w = (w_h)_h: the backward recursion, exact; and the paper's single convex quadratic over samples from ρ,

    L(w) = Σ_h E_ρ[(φ_h(s,a)ᵀw_h − E_{s'~T_h, a'~π}[r_{h+1}(s',a') + φ_{h+1}(s',a')ᵀw_{h+1}])²].

The expectation over (s', a') stands inside the square. The paper's display has it outside; then the
variance of the target enters the loss, the true w no longer attains zero and the minimiser is biased.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Float

from optac.array_types import Pairs, Probabilities, QValues, Rewards
from optac.errors import RunFailed
from optac.models.kernel_class import KernelModel
from optac.models.low_rank import LowRankModel
from optac.oracles.bill import Bill

SOLVER_TOLERANCES = (1e-6, 1e-9, 1e-12, 1e-15)
LEAST_RIDGE = 1e-13


@dataclass(frozen=True)
class Evaluation:
    """Q̂, its weights, and max_h E_ρ|Q̂_h − Q_h| where the truth was given (0 for the exact recursion)."""

    q_values: QValues
    weights: Float[np.ndarray, "horizon rank"]
    error: float | None = None


@dataclass(frozen=True)
class LeastSquares:
    """‖Bw − y‖² with B block-bidiagonal: stage h reads diagonal[h]·w_h + above[h]·w_{h+1} ≈ target[h]."""

    diagonal: list[Float[np.ndarray, "batch rank"]]
    above: list[Float[np.ndarray, "batch rank"]]
    target: list[Float[np.ndarray, " batch"]]

    def matrix(self) -> Any:
        """B as a sparse array."""
        from scipy.sparse import block_array, csr_array

        stages = len(self.diagonal)
        blocks: list[list[Any]] = [[None] * stages for _ in range(stages)]
        for h in range(stages):
            blocks[h][h] = csr_array(self.diagonal[h])
        for h in range(stages - 1):
            blocks[h][h + 1] = csr_array(self.above[h])
        return block_array(blocks, format="csr")


def evaluate(
    model: LowRankModel, policy: Probabilities, rewards: Rewards, *, accuracy: float = 0.0
) -> tuple[Evaluation, Bill]:
    """Q^π by the backward recursion in w_h; billed as the one PE call it answers, at the accuracy asked."""
    horizon = len(rewards)
    weights = np.zeros((horizon, model.phi.shape[-1]))
    q_values = np.empty_like(rewards)
    q_values[-1] = rewards[-1]
    for h in reversed(range(horizon - 1)):
        value = np.einsum("sa,sa->s", policy[h + 1], q_values[h + 1])
        weights[h] = model.mu[h] @ value
        q_values[h] = rewards[h] + model.phi[h] @ weights[h]
    return Evaluation(q_values, weights, 0.0), Bill(SL=1, PE=1, accuracy=accuracy**2)


def evaluate_by_regression(
    model: LowRankModel,
    policy: Probabilities,
    rewards: Rewards,
    *,
    rho: Float[np.ndarray, "state action"],
    samples: Pairs,
    accuracy: float,
) -> tuple[Evaluation, Bill]:
    """Q^π by minimising L(w) over samples (s, a) from ρ to the accuracy asked, by conjugate gradients.

    If each stage's mean squared residual under ρ is at most ε²((C−1)/(C^H−1))², with C the coverage of ρ,
    then E_ρ|Q̂_h − Q^π_h| ≤ ε for every h. That worst case is out of reach of double precision for long
    horizons, so the solver tightens its own tolerance until the residuals or the error itself, measured
    under ρ against the exact recursion, say ε.
    """
    tolerance = residual_for_accuracy(accuracy, coverage_constant(model, policy, rho), len(rewards))
    exact = evaluate(model, policy, rewards)[0].q_values
    system = joint_least_squares(model, policy, rewards, samples)
    minimise = _by_normal_equations if isinstance(model, KernelModel) else _by_conjugate_gradients
    weights = np.zeros((len(rewards), model.phi.shape[-1]))
    for relative in SOLVER_TOLERANCES:
        if system.diagonal:
            weights[:-1] = minimise(system, relative).reshape(len(rewards) - 1, -1)
        q_values = rewards + np.einsum("hsad,hd->hsa", model.phi, weights)
        error = float(np.einsum("sa,hsa->h", rho, np.abs(q_values - exact)).max())
        if error <= accuracy or bellman_residual(model, policy, rewards, q_values, rho) <= tolerance:
            return Evaluation(q_values, weights, error), Bill(SL=1, PE=1, accuracy=accuracy**2)
    raise RunFailed(
        f"policy evaluation by regression over {len(samples)} samples from ρ is off by {error:.3g}, more than the "
        f"{accuracy:.3g} asked; draw more samples (pe_samples) or use the exact recursion (pe=exact)"
    )


def bellman_residual(
    model: LowRankModel,
    policy: Probabilities,
    rewards: Rewards,
    q_values: QValues,
    rho: Float[np.ndarray, "state action"],
) -> float:
    """The largest over h of √E_ρ[(Q̂_h − r_h − T_h V̂_{h+1})²], V̂ the policy's mean of Q̂."""
    values = np.einsum("hsa,hsa->hs", policy, q_values)
    continuation = np.einsum("hsad,hdn,hn->hsa", model.phi[:-1], model.mu[:-1], values[1:], optimize=True)
    residual = q_values[:-1] - rewards[:-1] - continuation
    return float(np.sqrt(np.einsum("sa,hsa->h", rho, residual**2)).max(initial=0.0))


def residual_for_accuracy(accuracy: float, coverage: float, horizon: int) -> float:
    """ε(C−1)/(C^H−1), the root mean squared residual a stage may keep; its limit at C = 1 is ε/H."""
    if coverage == 1.0:
        return accuracy / horizon
    growth = horizon * np.log(coverage)
    return 0.0 if growth > 700 else accuracy * (coverage - 1.0) / float(np.expm1(growth))


def coverage_constant(
    model: LowRankModel, policy: Probabilities, rho: Float[np.ndarray, "state action"]
) -> float:
    """The least C with E_ρ[T_h(s'|s,a) π'(a'|s')] ≤ C ρ(s',a') for π' the policy and uniform, all h and (s',a')."""
    arrivals = np.einsum("sa,hsad->hd", rho, model.phi)
    arrivals = np.einsum("hd,hds->hs", arrivals, model.mu)[:-1]
    if len(arrivals) == 0:
        return 1.0
    largest = 1.0
    for next_policy in (policy[1:], np.full_like(policy[1:], 1.0 / policy.shape[-1])):
        flow = arrivals[..., None] * next_policy
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(flow > 0, flow / rho, 0.0)
        largest = max(largest, float(ratio.max()))
    return largest if np.isfinite(largest) else inf


def joint_least_squares(
    model: LowRankModel, policy: Probabilities, rewards: Rewards, samples: Pairs
) -> LeastSquares:
    """The block-bidiagonal system of L(w): a row a (stage, sample), the expectation over (s', a') taken inside."""
    horizon = len(rewards)
    diagonal, above, target = [], [], []
    for h in range(horizon - 1):
        features = model.at(h, samples)
        next_state = features @ model.mu[h]
        diagonal.append(features)
        above.append(-next_state @ np.einsum("sa,sad->sd", policy[h + 1], model.phi[h + 1]))
        target.append(next_state @ np.einsum("sa,sa->s", policy[h + 1], rewards[h + 1]))
    return LeastSquares(diagonal, above[:-1], target)


def _by_conjugate_gradients(system: LeastSquares, tolerance: float) -> Float[np.ndarray, " weight"]:
    """The weights of least loss of all stages but the last, to the solver's relative tolerance."""
    from scipy.sparse.linalg import lsmr

    target = np.concatenate(system.target)
    steps = 50 * target.size
    return lsmr(system.matrix(), target, atol=tolerance, btol=tolerance, conlim=0, maxiter=steps)[0]


def _by_normal_equations(system: LeastSquares, tolerance: float) -> Float[np.ndarray, " weight"]:
    """The same by the normal equations BᵀBw = Bᵀy, with a ridge of `tolerance`² times their largest diagonal entry."""
    stages, rank = len(system.diagonal), system.diagonal[0].shape[-1]
    normal, right = np.zeros((stages, rank, stages, rank)), np.zeros((stages, rank))
    for h, (diagonal, target) in enumerate(zip(system.diagonal, system.target, strict=True)):
        normal[h, :, h] += diagonal.T @ diagonal
        right[h] += diagonal.T @ target
        if h < stages - 1:
            above = system.above[h]
            normal[h + 1, :, h + 1] += above.T @ above
            normal[h, :, h + 1] = diagonal.T @ above
            normal[h + 1, :, h] = above.T @ diagonal
            right[h + 1] += above.T @ target
    matrix = normal.reshape(stages * rank, -1)
    ridge = max(tolerance**2, LEAST_RIDGE) * matrix.diagonal().max()
    return np.linalg.solve(matrix + ridge * np.eye(len(matrix)), right.ravel())
