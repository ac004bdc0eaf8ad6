"""The promises of every family of problems: a sound truth that its simulation follows, drawn from its seed alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from optac.mdp import LowRankMDP, RichProblem, make_problem, uniform_policy
from optac.mdp.catalogue import described

EPISODES = 4000
DEVIATIONS = 6
GRID_ERROR = 2e-3


def has_a_sound_truth(family: Any) -> None:
    """Rewards in [0, 1], transitions and start are distributions, and V* is what its optimal policy earns."""
    problem = _made(family)
    assert problem.rewards.shape == problem.shape, f"rewards have shape {problem.rewards.shape}"
    assert ((problem.rewards >= 0) & (problem.rewards <= 1)).all(), "a reward is outside [0, 1]"
    assert (problem.transitions >= 0).all(), "a transition has a negative probability"
    np.testing.assert_allclose(problem.transitions.sum(axis=-1), 1.0, atol=1e-6)
    np.testing.assert_allclose(problem.initial.sum(), 1.0, atol=1e-6)
    if isinstance(problem, LowRankMDP):
        np.testing.assert_allclose(problem.phi @ problem.mu[:, None], problem.transitions, atol=1e-6)
    uniform = problem.value(uniform_policy(*problem.shape))
    np.testing.assert_allclose(problem.value(problem.optimal_policy), problem.optimal_value, atol=1e-9)
    assert problem.optimal_value >= uniform - 1e-9, "uniform play is worth more than V*"


def is_drawn_from_its_seed(family: Any) -> None:
    """The same seed makes the same problem, and the parameters that a problem records make it again."""
    parameters = described(family, {}).parameters
    assert "seed" in parameters, "a family takes `seed`, even where its instance is fixed"
    one, again = _made(family, seed=3), _made(family, seed=3)
    assert set(one.parameters) == set(parameters), (
        f"the problem records {sorted(one.parameters)}; its family takes {sorted(parameters)}"
    )
    for name in ("transitions", "rewards", "initial"):
        same = np.array_equal(getattr(one, name), getattr(again, name))
        assert same, f"two problems of one seed differ in their {name}"
    rebuilt = _made(family, **one.parameters)
    assert np.array_equal(rebuilt.transitions, one.transitions), "recorded parameters make another problem"


def simulates_its_truth(family: Any) -> None:
    """Episodes of uniform play visit and earn what the exact truth says, within six standard deviations."""
    problem = _made(family)
    policy = uniform_policy(*problem.shape)
    if isinstance(problem, RichProblem):
        always = np.ones((problem.horizon, EPISODES), dtype=bool)
        returns = problem.simulator.play(None, np.random.default_rng(0), uniform=always).rewards.sum(axis=0)
        return _compare_returns(returns, problem.value(policy))
    member = np.zeros(EPISODES, dtype=np.int64)
    played = problem.simulator.play(policy[None], np.random.default_rng(0), member=member)
    if hasattr(problem, "reward"):  # states are points: what they earn is a function
        returns = sum(problem.reward(played.states[h]) for h in range(problem.horizon))
    else:
        steps = np.arange(problem.horizon)[:, None]
        returns = problem.rewards[steps, played.states[:-1], played.actions].sum(axis=0)
        _compare_visits(problem.occupancy(policy), played.states)
    _compare_returns(returns, problem.value(policy))


def _compare_returns(returns: Any, value: float) -> None:
    error = abs(float(np.mean(returns)) - value)
    allowed = DEVIATIONS * float(np.std(returns)) / np.sqrt(EPISODES) + GRID_ERROR
    assert error <= allowed, (
        f"uniform play earns {np.mean(returns):.4g}; its exact value is off by {error:.2g}"
    )


PROBLEM_CHECKS: tuple[Callable[[Any], None], ...] = (
    has_a_sound_truth,
    is_drawn_from_its_seed,
    simulates_its_truth,
)


def _made(family: Any, **parameters: Any) -> Any:
    return make_problem(family, **parameters)


def _compare_visits(occupancy: np.ndarray, states: np.ndarray) -> None:
    for h, exact in enumerate(occupancy):
        seen = np.bincount(states[h], minlength=len(exact)) / EPISODES
        allowed = DEVIATIONS * np.sqrt(exact * (1 - exact) / EPISODES) + 1e-9
        wrong = np.flatnonzero(np.abs(seen - exact) > allowed)
        assert not len(wrong), (
            f"at step {h} state {wrong[0]} is visited with frequency {seen[wrong[0]]:.4g}; "
            f"the truth says {exact[wrong[0]]:.4g}"
        )
