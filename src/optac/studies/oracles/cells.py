"""The hierarchy of oracles, measured on random low-rank problems: what makes PE easy, PP harder and CP dear.

PE's joint loss over w = (w_h)_h is a quadratic; PP's joint loss, with max_a' in place of the policy, is not
convex, though each of its stages is. CP over a grid of g points a parameter filters gᵈ models. And an error of a
stage grows towards the first step, by far less than the bounds ((C^H − 1)/(C − 1) for PE, the same with |A|C for PP).
"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from optac.array_types import Probabilities
from optac.mdp import LowRankMDP, make_problem
from optac.models import LowRankModel
from optac.oracles import constrained_plan, parameter_net
from optac.oracles.evaluation import coverage_constant, evaluate
from optac.oracles.planning import plan
from optac.runs.json_files import Row
from optac.sweeps.cells import Cell, cell

HORIZONS = (3, 6, 12, 24)
SEEDS = 5
PAIRS = 200
SHARED_FIRST_STAGE = 100.0
GRID = 4
DIMENSIONS = (1, 2, 3, 4, 5, 6)
ACTIONS = (2, 5, 10)


def cells() -> list[Cell]:
    """Convexity and conditioning against H, error growth against H and |A|, CP's calls against d."""
    seeds = [(seed, H) for seed in range(SEEDS) for H in HORIZONS]
    return [
        *(cell(covering, f"CP d={d}", dimension=d) for d in DIMENSIONS),
        *(cell(convexity, f"convexity H={H} s{seed}", horizon=H, seed=seed) for seed, H in seeds),
        *(
            cell(error_growth, f"growth H={H} A={A} s{seed}", horizon=H, actions=A, seed=seed)
            for seed, H in seeds
            for A in ACTIONS
        ),
    ]


def convexity(horizon: int, seed: int) -> Row:
    """The Hessian of PE's joint loss at two points, its spectrum, and midpoint violations of PE's and PP's losses.

    A violation is a pair with L((w + w')/2) > (L(w) + L(w'))/2 by more than rounding. The pairs are random but for a
    large first stage that both share: there PP's residual is positive, and a square of (positive − convex) is concave.
    """
    problem = _problem(horizon, actions=3, seed=seed)
    policy = np.random.default_rng([seed, 1]).dirichlet(np.ones(3), size=(horizon, problem.states))
    rng = np.random.default_rng([seed, 2])
    size = (horizon - 1) * problem.rank
    here, there = (_hessian(problem, policy, rng.normal(size=size)) for _ in range(2))
    eigenvalues = np.linalg.eigvalsh(here)
    features = problem.phi.reshape(horizon, -1, problem.rank)
    stage = [np.linalg.cond(rows.T @ rows / len(rows)) for rows in features[:-1]]
    violations = {"PE": 0, "PP": 0}
    largest = {"PE": 0.0, "PP": 0.0}
    for _ in range(PAIRS):
        first, second = rng.normal(size=(2, size))
        first[: problem.rank] = second[: problem.rank] = SHARED_FIRST_STAGE
        for oracle, chosen in (("PE", policy), ("PP", None)):
            ends = joint_loss(problem, first, chosen), joint_loss(problem, second, chosen)
            excess = joint_loss(problem, (first + second) / 2, chosen) / (sum(ends) / 2) - 1
            violations[oracle] += excess > 1e-9
            largest[oracle] = max(largest[oracle], float(excess))
    return {
        "kind": "convexity",
        "horizon": horizon,
        "seed": seed,
        "pairs": PAIRS,
        "hessian_change": float(np.abs(here - there).max() / np.abs(here).max()),
        "smallest_eigenvalue": float(eigenvalues[0]),
        "condition": float(eigenvalues[-1] / eigenvalues[0]),
        "stage_condition": float(max(stage)),
        "violations": violations,
        "largest_excess": largest,
    }


def joint_loss(problem: LowRankMDP, weights: np.ndarray, policy: Probabilities | None) -> float:
    """Σ_h E_ρ[(φ_hᵀw_h − E_s'[V_{h+1}(s')])²], ρ uniform; V is the policy's mean of r + φᵀw, or its maximum for PP."""
    stages = np.vstack([weights.reshape(problem.horizon - 1, problem.rank), np.zeros(problem.rank)])
    continuation = np.einsum("hsad,hd->hsa", problem.phi, stages)
    q_values = problem.rewards + continuation
    values = q_values.max(axis=-1) if policy is None else (policy * q_values).sum(axis=-1)
    targets = np.einsum("hsan,hn->hsa", problem.transitions[:-1], values[1:])
    return float(((continuation[:-1] - targets) ** 2).mean(axis=(1, 2)).sum())


def error_growth(horizon: int, actions: int, seed: int) -> Row:
    """How much larger the error at a step becomes than the residual put into every stage, for PE and for PP.

    Every stage's answer is off by a function of root mean square a = 10⁻³ under ρ: once by a constant, which adds up,
    once by a random direction of the features.
    """
    problem = _problem(horizon, actions=actions, seed=seed)
    model = _model(problem)
    rng = np.random.default_rng([seed, 3])
    policy = rng.dirichlet(np.ones(actions), size=(horizon, problem.states))
    rho = np.full((problem.states, actions), 1.0 / (problem.states * actions))
    size = 1e-3
    exact = {
        "PE": evaluate(model, policy, problem.rewards)[0].q_values,
        "PP": plan(model, problem.rewards)[0].q_values,
    }
    random = problem.phi @ rng.normal(size=(horizon, 1, problem.rank, 1))
    random = size * random[..., 0] / np.sqrt((random[..., 0] ** 2).mean(axis=(1, 2), keepdims=True))
    growth = {}
    for oracle, truth in exact.items():
        for name, error in (("constant", np.full(problem.shape, size)), ("random", random)):
            noisy = _with_errors(problem, error, policy if oracle == "PE" else None)
            growth[f"{oracle} {name}"] = float(np.abs(noisy - truth).mean(axis=(1, 2)).max() / size)
    coverage = coverage_constant(model, policy, rho)
    return {
        "kind": "growth",
        "horizon": horizon,
        "actions": actions,
        "seed": seed,
        "coverage": coverage,
        "growth": growth,
        "bound": {"PE": _bound(coverage, horizon), "PP": _bound(actions * coverage, horizon)},
    }


def covering(dimension: int) -> Row:
    """One CP call over the grid: d actions, each good with an unknown probability, g values for each."""
    truth = np.resize([0.375, 0.625], dimension)
    model = _bandit_model(truth)
    counts = np.zeros(model.transitions.shape, dtype=np.int64)
    counts[0, 0] = np.round(8 * model.transitions[0, 0])
    rewards = np.zeros(model.phi.shape[:3])
    rewards[-1, 1] = 1.0
    likelihood = float((counts * np.log(np.maximum(model.transitions, 1e-300))).sum())
    started = perf_counter()
    threshold = likelihood - 2.0 * dimension
    net = parameter_net(dimension, [(i + 0.5) / GRID for i in range(GRID)], _bandit_model)
    found, bill = constrained_plan(net, counts, rewards, np.eye(3)[0], threshold=threshold)
    return {
        "kind": "covering",
        "dimension": dimension,
        "grid": GRID,
        "filtered": found.filtered,
        "passed": found.passed,
        "SL": bill.SL,
        "value": found.value,
        "time/call": perf_counter() - started,
    }


def _bandit_model(probabilities: Sequence[float] | np.ndarray) -> LowRankModel:
    """Two steps, three states (start, good, bad), factor z = the action taken, μ(good|z) = x_z."""
    d = len(probabilities)
    phi = np.broadcast_to(np.eye(d), (2, 3, d, d)).copy()
    mu = np.zeros((2, d, 3))
    mu[:, :, 1], mu[:, :, 2] = probabilities, 1 - np.asarray(probabilities)
    return LowRankModel(phi, mu, np.zeros(2), np.zeros((2, 3, d), dtype=bool))


def _problem(horizon: int, *, actions: int, seed: int) -> LowRankMDP:
    """Ten states, rank 3, flat factors, a reward at random everywhere."""
    sizes = {"states": 10, "actions": actions, "horizon": horizon, "rank": 3, "concentration": 1.0}
    drawn = make_problem("random-simplex", **sizes, seed=seed)
    rewards = np.random.default_rng([seed, 0]).random(drawn.shape)
    return LowRankMDP(drawn.phi, drawn.mu, rewards, drawn.initial)


def _model(problem: LowRankMDP) -> LowRankModel:
    known = np.zeros(problem.shape, dtype=bool)
    return LowRankModel(problem.phi, problem.mu, np.zeros(problem.horizon), known)


def _hessian(problem: LowRankMDP, policy: Probabilities, at: np.ndarray) -> np.ndarray:
    """Second differences of the joint loss at a point: exact for a quadratic, whatever the step."""
    size = len(at)
    unit = np.eye(size)
    centre = joint_loss(problem, at, policy)
    single = [joint_loss(problem, at + unit[i], policy) for i in range(size)]
    hessian = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            both = joint_loss(problem, at + unit[i] + unit[j], policy)
            hessian[i, j] = hessian[j, i] = both - single[i] - single[j] + centre
    return hessian


def _with_errors(problem: LowRankMDP, errors: np.ndarray, policy: Probabilities | None) -> np.ndarray:
    """The backward recursion with an error added to every stage's answer."""
    q_values = np.empty(problem.shape)
    q_values[-1] = problem.rewards[-1]
    for h in reversed(range(problem.horizon - 1)):
        after = q_values[h + 1]
        values = after.max(axis=-1) if policy is None else (policy[h + 1] * after).sum(axis=-1)
        q_values[h] = problem.rewards[h] + problem.transitions[h] @ values + errors[h]
    return q_values


def _bound(base: float, horizon: int) -> float:
    """(c^H − 1)/(c − 1), which is H at c = 1."""
    return float(horizon) if base == 1.0 else float((base**horizon - 1) / (base - 1))
