import pytest
from inventory import inventory

import optac
from optac.testing import PROBLEM_CHECKS


@pytest.mark.parametrize("check", PROBLEM_CHECKS)
def test_conforms(check) -> None:
    check(inventory)


def test_without_holding_cost_a_full_shelf_is_optimal() -> None:
    problem = optac.make_problem(inventory, capacity=3, holding_cost=0)
    full = problem.optimal_policy.argmax(axis=-1)[0] * 0 + 3
    assert problem.value(full[None].repeat(problem.horizon, axis=0)) == pytest.approx(problem.optimal_value)
