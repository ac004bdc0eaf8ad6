import optimistic_q
import pytest

import optac
from optac.testing import ALGORITHM_CHECKS


@pytest.mark.parametrize("check", ALGORITHM_CHECKS)
def test_conforms(check) -> None:
    check(optimistic_q)


def test_opens_a_lock() -> None:
    assert optac.solve(optac.make_problem("combination-lock", horizon=3), optimistic_q).last_gap < 0.05
