"""RAFFLE: Q is cut off at 1 inside the recursion, and V̂ falls as the model becomes known."""

import numpy as np

import optac
from optac.algorithms import raffle
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import elliptical_bonus
from optac.oracles import plan
from tests.random_problems import model_of, random_problem


def test_q_is_cut_off_at_every_step_of_every_round() -> None:
    """V̂_1 and the greedy choice are those of the recursion cut off inside, which cutting off its result is not."""
    problem = optac.make_problem("random-simplex", states=5, actions=2, horizon=5, rank=2)
    run = prepare(problem, "raffle", iterations=40, alpha=1.0, lam=1.0)
    state = raffle.init(run.settings, run.handle)
    told_apart = 0
    for _ in range(40):
        state, info = raffle.step(run.settings, state, run.handle, run.rng)
        np.testing.assert_array_equal(state.bonus, elliptical_bonus(run.settings, state.model, state.data)[0])
        settled = state.model.settled()
        planned, _ = plan(settled, state.bonus, ceiling=1.0)
        assert planned.q_values.min() >= 0 and planned.q_values.max() <= 1
        chosen = (state.policy * planned.q_values).sum(axis=-1)
        np.testing.assert_allclose(chosen, planned.q_values.max(axis=-1), atol=1e-11)
        assert info.error_bound == problem.initial @ planned.q_values[0].max(axis=-1)
        whole, _ = plan(settled, state.bonus)
        told_apart += min(1.0, problem.initial @ whole.q_values[0].max(axis=-1)) > info.error_bound + 1e-6
    assert told_apart > 3, "somewhere the two must differ, or this says nothing"


def test_cutting_off_inside_the_recursion_is_not_cutting_off_the_result() -> None:
    """Bonuses of 0.6 everywhere: inside, V = 1 from the last but one step on and Q = 1; the sum would be 0.6·H."""
    problem = random_problem(0, horizon=4)
    bonus = np.full(problem.shape, 0.6)
    bonus[0] = 0.1
    inside, _ = plan(model_of(problem), bonus, ceiling=1.0)
    np.testing.assert_allclose(inside.q_values[3], 0.6)
    np.testing.assert_allclose(inside.q_values[:3], 1.0)
    bonus[:] = 0.6
    bonus[1] = 0.0
    np.testing.assert_allclose(plan(model_of(problem), bonus, ceiling=1.0)[0].q_values[1], 1.0)


def test_error_bound_falls_from_one() -> None:
    problem = optac.make_problem("combination-lock", horizon=5, actions=3)
    history = optac.solve(problem, "raffle", iterations=400).history
    bounds = [row["error_bound"] for row in history]
    assert bounds[0] == 1.0 and bounds[-1] < 0.5 * bounds[0]


def test_stopping_test_ends_the_run_when_its_epsilon_is_met() -> None:
    """With ζ = 0 and |A| = 3 the test 2√(3V̂) ≤ ε passes at V̂ ≤ ε²/12: ε = 3 at V̂ ≤ 0.75."""
    problem = optac.make_problem("combination-lock", horizon=4, actions=3)
    stopped = optac.solve(problem, "raffle", iterations=500, epsilon=3.0)
    assert stopped.iterations < 500
    bounds = [row["error_bound"] for row in stopped.history]
    assert bounds[-1] <= 0.75 and min(bounds[:-1]) > 0.75
