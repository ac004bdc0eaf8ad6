"""CP: filter, plan, take the best; billed one SL a model filtered and H a model that passes."""

import numpy as np
import pytest

import optac
from optac.errors import InvalidInput
from optac.models import LowRankModel
from optac.oracles import Bill, constrained_plan, parameter_net
from tests.random_problems import model_of, random_problem

HORIZON = 4


def net_and_data():
    """Six problems of one shape; the data are a million transitions a pair of the third."""
    problems = [random_problem(seed, horizon=HORIZON) for seed in range(6)]
    counts = np.round(problems[2].transitions * 10**6).astype(np.int64)
    return problems, [model_of(problem) for problem in problems], counts


def values(problems, rewards, initial):
    return [optac.LowRankMDP(p.phi, p.mu, rewards, initial).optimal_value for p in problems]


def test_without_a_constraint_it_is_the_largest_optimal_value() -> None:
    problems, net, counts = net_and_data()
    truth = problems[2]
    found, bill = constrained_plan(net, counts, truth.rewards, truth.initial, threshold=-np.inf)
    expected = values(problems, truth.rewards, truth.initial)
    assert found.value == pytest.approx(max(expected)) and found.choice == int(np.argmax(expected))
    assert (found.filtered, found.passed) == (6, 6)
    assert (bill.SL, bill.PE, bill.PP, bill.CP) == (6 + HORIZON * 6, 0, 0, 1)


def test_likelihood_leaves_only_the_truth() -> None:
    problems, net, counts = net_and_data()
    truth = problems[2]
    likelihood = float((counts * np.log(truth.transitions)).sum())
    found, bill = constrained_plan(net, counts, truth.rewards, truth.initial, threshold=likelihood - 10)
    assert found.choice == 2 and found.passed == 1
    assert found.value == pytest.approx(truth.optimal_value)
    assert bill == Bill(SL=6 + HORIZON, CP=1, accuracy=0.0)


def test_net_covers_every_combination_of_the_points() -> None:
    """A parameter is the chance of the first of two successors: 3 points and 2 parameters make 9 models, each once."""

    def model_of(chances) -> LowRankModel:
        phi = np.eye(2)[None, None]
        mu = np.array([[[chance, 1 - chance] for chance in chances]])
        return LowRankModel(
            np.broadcast_to(phi, (1, 2, 2, 2)), mu, np.zeros(1), np.zeros((1, 2, 2), dtype=bool)
        )

    net = list(parameter_net(2, (0.1, 0.5, 0.9), model_of))
    first, second = np.array([model.transitions[0, 0, :, 0] for model in net]).T
    expected = [(x, y) for x in (0.1, 0.5, 0.9) for y in (0.1, 0.5, 0.9)]
    np.testing.assert_allclose(sorted(zip(first, second, strict=True)), expected)


def test_impossible_constraint_is_refused() -> None:
    problems, net, counts = net_and_data()
    with pytest.raises(InvalidInput, match="none of the 6 models"):
        constrained_plan(net, counts, problems[2].rewards, problems[2].initial, threshold=1.0)
