import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.errors import RunFailed
from optac.mdp import make_problem
from optac.oracles import Bill, evaluate, evaluate_by_regression
from optac.oracles.evaluation import (
    bellman_residual,
    coverage_constant,
    joint_least_squares,
    residual_for_accuracy,
)
from tests.random_problems import model_of, random_policy, random_problem


def every_pair(problem) -> np.ndarray:
    return np.stack(np.indices((problem.states, problem.actions)), -1).reshape(-1, 2)


def uniform_rho(problem) -> np.ndarray:
    return np.full((problem.states, problem.actions), 1.0 / (problem.states * problem.actions))


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_exact_recursion_equals_dynamic_programming(seed: int, horizon: int) -> None:
    problem = random_problem(seed, horizon=horizon)
    policy = random_policy(seed, problem.shape)
    answer, bill = evaluate(model_of(problem), policy, problem.rewards, accuracy=0.1)
    assert answer.q_values == pytest.approx(problem.q_values(policy), abs=1e-12)
    assert bill == Bill(SL=1, PE=1, accuracy=0.1**2) and answer.error == 0.0


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_one_regression_equals_dynamic_programming_with_the_expectation_inside(
    seed: int, horizon: int
) -> None:
    problem = random_problem(seed, horizon=horizon, rank=3)
    policy = random_policy(seed, problem.shape)
    answer, bill = evaluate_by_regression(
        model_of(problem),
        policy,
        problem.rewards,
        rho=uniform_rho(problem),
        samples=every_pair(problem),
        accuracy=1e-9,
    )
    assert np.abs(answer.q_values - problem.q_values(policy)).max() < 1e-9 * problem.states * problem.actions
    assert answer.error <= 1e-9 and bill.SL == bill.PE == 1


@pytest.mark.parametrize(("horizon", "bias"), [(3, 0.003), (6, 0.02), (9, 0.02)])
def test_expectation_outside_the_square_as_printed_is_biased(horizon: int, bias: float) -> None:
    """Each (s,a,s',a') its own row, weighted by its probability: the variance of the target enters the loss."""
    problem = random_problem(0, horizon=horizon, states=6, rank=3)
    policy = random_policy(0, problem.shape)
    pairs, rank = every_pair(problem), problem.rank
    rows, targets = [], []
    for h in range(horizon - 1):
        for s, a in pairs:
            for s2, a2 in pairs:
                weight = np.sqrt(problem.transitions[h, s, a, s2] * policy[h + 1, s2, a2])
                row = np.zeros((horizon, rank))
                row[h], row[h + 1] = weight * problem.phi[h, s, a], -weight * problem.phi[h + 1, s2, a2]
                rows.append(row[:-1].ravel())
                targets.append(weight * problem.rewards[h + 1, s2, a2])
    weights = np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0].reshape(horizon - 1, rank)
    printed = problem.rewards.copy()
    printed[:-1] += np.einsum("hsad,hd->hsa", problem.phi[:-1], weights)
    assert np.abs(printed - problem.q_values(policy)).mean() > bias


def test_joint_loss_is_zero_at_the_truth_and_quadratic() -> None:
    problem = random_problem(1)
    policy = random_policy(1, problem.shape)
    system = joint_least_squares(model_of(problem), policy, problem.rewards, every_pair(problem))
    matrix, target = system.matrix(), np.concatenate(system.target)
    truth = evaluate(model_of(problem), policy, problem.rewards)[0].weights[:-1].ravel()
    assert np.abs(matrix @ truth - target).max() < 1e-12
    hessian = (matrix.T @ matrix).toarray()
    assert np.linalg.eigvalsh(hessian).min() > -1e-10


def test_too_few_samples_are_told_apart_from_an_answer() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=3)
    policy = random_policy(0, problem.shape)
    with pytest.raises(RunFailed, match="draw more samples"):
        evaluate_by_regression(
            model_of(problem),
            policy,
            problem.rewards + 1.0,
            rho=uniform_rho(problem),
            samples=np.array([[2, 0]]),
            accuracy=1e-3,
        )


def test_error_is_measured_under_rho() -> None:
    """A sample set that misses a state answers well under a ρ that misses it too."""
    problem = make_problem("combination-lock", horizon=3, actions=2)
    policy = random_policy(0, problem.shape)
    rho = np.array([[0.0, 0.0], [0.0, 0.0], [0.5, 0.5]])
    answer, _ = evaluate_by_regression(
        model_of(problem), policy, problem.rewards, rho=rho, samples=np.array([[2, 0], [2, 1]]), accuracy=1e-6
    )
    assert answer.error <= 1e-6
    assert np.abs(answer.q_values - problem.q_values(policy)).max() > 0.01


@given(st.integers(0, 10_000), st.floats(0.001, 0.1))
def test_residuals_within_the_propositions_tolerance_give_its_accuracy(seed: int, accuracy: float) -> None:
    """Perturb the weights so that every stage's residual is below ε(C−1)/(C^H−1): the error stays below ε."""
    problem = random_problem(seed, horizon=4)
    policy, model, rho = random_policy(seed, problem.shape), model_of(problem), uniform_rho(problem)
    coverage = coverage_constant(model, policy, rho)
    tolerance = residual_for_accuracy(accuracy, coverage, problem.horizon)
    system = joint_least_squares(model, policy, problem.rewards, every_pair(problem))
    matrix, target = system.matrix(), np.concatenate(system.target)
    exact = evaluate(model, policy, problem.rewards)[0].weights[:-1].ravel()
    noise = np.random.default_rng(seed).normal(size=exact.size)
    stages = (matrix @ noise).reshape(problem.horizon - 1, -1)
    noise *= tolerance / np.sqrt((stages**2).mean(axis=1)).max()
    off = np.einsum("hsad,hd->hsa", problem.phi[:-1], noise.reshape(problem.horizon - 1, -1))
    assert np.einsum("sa,hsa->h", rho, np.abs(off)).max() <= accuracy
    perturbed = problem.rewards.copy()
    perturbed[:-1] += np.einsum(
        "hsad,hd->hsa", problem.phi[:-1], (exact + noise).reshape(problem.horizon - 1, -1)
    )
    measured = bellman_residual(model, policy, problem.rewards, perturbed, rho)
    assert measured == pytest.approx(
        np.sqrt(((matrix @ (exact + noise) - target) ** 2).reshape(3, -1).mean(1)).max()
    )


def test_tolerance_at_perfect_coverage_is_accuracy_over_horizon() -> None:
    assert residual_for_accuracy(0.3, 1.0, 6) == pytest.approx(0.05)
    assert residual_for_accuracy(0.3, 1.0 + 1e-9, 6) == pytest.approx(0.05, rel=1e-6)
    assert residual_for_accuracy(0.3, 2.0, 3) == pytest.approx(0.3 / 7)


def test_coverage_of_uniform_rho_by_hand() -> None:
    """From a uniform (s,a) both states are equally likely next; a sure action needs C = |A| = 2."""
    problem = make_problem("deep-sea", size=2)
    policy = np.eye(2)[np.zeros((2, 2), dtype=int)]
    arrivals = problem.transitions[0].mean(axis=(0, 1))
    assert coverage_constant(model_of(problem), policy, uniform_rho(problem)) == pytest.approx(
        4 * arrivals.max()
    )
