import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.mdp import LowRankMDP
from optac.oracles import Bill, plan, plan_by_regression
from optac.oracles.planning import greedy
from tests.random_problems import model_of, random_problem


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_planning_equals_dynamic_programming_and_costs_a_fit_a_stage(seed: int, horizon: int) -> None:
    problem = random_problem(seed, horizon=horizon)
    planned, bill = plan(model_of(problem), problem.rewards, accuracy=0.5)
    assert planned.q_values == pytest.approx(problem.optimal_q_values, abs=1e-12)
    assert problem.value(planned.policy) == pytest.approx(problem.optimal_value)
    assert bill == Bill(SL=horizon, PP=1, accuracy=0.25)
    samples = np.stack(np.indices((problem.states, problem.actions)), -1).reshape(-1, 2)
    fitted, bill = plan_by_regression(model_of(problem), problem.rewards, samples=samples, accuracy=1e-3)
    assert fitted.q_values == pytest.approx(problem.optimal_q_values, abs=1e-8)
    assert horizon == bill.SL and bill.PP == 1


def test_ceiling_cuts_inside_the_recursion() -> None:
    """State 1 is worth 1.5 and is cut to 0.9 before the first step averages it with state 2, worth 0."""
    transitions = np.broadcast_to(np.eye(3)[None, :, None], (3, 3, 1, 3)).copy()
    transitions[0, 0, 0] = [0.0, 0.5, 0.5]
    rewards = np.zeros((3, 3, 1))
    rewards[1:, 1] = 0.75
    problem = LowRankMDP(transitions, np.broadcast_to(np.eye(3), (3, 3, 3)), rewards)
    planned, _ = plan(model_of(problem), problem.rewards, ceiling=0.9)
    assert problem.optimal_value == pytest.approx(0.75)
    assert planned.q_values[0, 0, 0] == pytest.approx(0.45)
    assert planned.q_values[1, 1, 0] == pytest.approx(0.9)


def test_ties_are_broken_at_random_or_to_the_first() -> None:
    ties = np.zeros((1, 500, 4))
    ties[..., 3] = -1.0
    drawn = greedy(ties, np.random.default_rng(0)).argmax(-1)
    assert np.bincount(drawn.ravel(), minlength=4) / 500 == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=0.07)
    assert (greedy(ties, None).argmax(-1) == 0).all()


def test_bills_add_up_and_keep_the_tightest_accuracy() -> None:
    total = Bill(SL=1, accuracy=0.1) + Bill(SL=3, PP=1, accuracy=0.01) + Bill(CP=2)
    assert total == Bill(SL=4, PP=1, CP=2, accuracy=0.01)
    assert Bill().asdict() == {"SL": 0, "PE": 0, "PP": 0, "CP": 0, "accuracy": None}
