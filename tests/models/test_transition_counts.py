"""Sparse counts say what the dense table says, whatever order the transitions come in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.errors import InvalidInput
from optac.mdp.sampling import Trajectories
from optac.mdp.values import check_table
from optac.models import TransitionCounts


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sparse_counts_are_the_dense_ones(seed: int, batches: int) -> None:
    rng = np.random.default_rng(seed)
    horizon, states, actions = 3, 4, 2
    counts = TransitionCounts.empty(horizon, states, actions)
    table = np.zeros((horizon, states, actions, states), dtype=np.int64)
    for _ in range(batches):
        played = Trajectories(
            rng.integers(states, size=(horizon + 1, 5)), rng.integers(actions, size=(horizon, 5))
        )
        counts = counts.add_trajectories(played)
        for h, e in np.ndindex(horizon, 5):
            table[h, played.states[h, e], played.actions[h, e], played.states[h + 1, e]] += 1
    assert (counts.dense() == table).all() and counts.total == table.sum()
    assert (counts.visits == table.sum(-1)).all()
    assert (TransitionCounts.of(table).keys == counts.keys).all()


def test_a_table_that_would_not_fit_is_refused_before_it_is_made() -> None:
    check_table(5, 600, 4)
    with pytest.raises(InvalidInput, match=r"37\.3 GB; use an algorithm and a model class that need none"):
        check_table(10, 10_000, 5)
