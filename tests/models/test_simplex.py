import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.errors import InvalidInput
from optac.mdp import make_problem
from optac.models import SimplexClass
from optac.models.simplex import DenseEvidence, em_sweep, log_likelihood
from optac.models.sparse_em import SparseEvidence
from optac.models.transition_counts import TransitionCounts
from optac.oracles.supervised import maximum_likelihood
from tests.random_problems import random_problem


def counts_from(problem, episodes_a_pair: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.multinomial(episodes_a_pair, problem.transitions)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_em_likelihood_never_falls(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, size=(2, 4, 2, 4))
    phi = rng.dirichlet(np.ones(rank), size=(2, 4, 2))
    mu = rng.dirichlet(np.ones(4), size=(2, rank))
    before = log_likelihood(counts, phi, mu)
    for _ in range(15):
        phi, mu, reported = em_sweep(counts, phi, mu)
        after = log_likelihood(counts, phi, mu)
        assert reported == pytest.approx(before)
        assert (after >= before - 1e-9).all()
        assert phi.sum(-1) == pytest.approx(np.ones((2, 4, 2))) and mu.sum(-1) == pytest.approx(
            np.ones((2, rank))
        )
        before = after


def test_one_sweep_by_hand() -> None:
    """One pair seen going to both states, φ = (½, ½), μ = (¾, ¼) and (¼, ¾): responsibilities ¾ and ¼."""
    counts = np.array([[[[2, 0]], [[0, 0]]]])
    phi = np.full((1, 2, 1, 2), 0.5)
    mu = np.array([[[0.75, 0.25], [0.25, 0.75]]])
    new_phi, new_mu, likelihood = em_sweep(counts, phi, mu)
    assert likelihood[0] == pytest.approx(2 * np.log(0.5))
    assert new_phi[0, 0, 0].tolist() == pytest.approx([0.75, 0.25])
    assert new_phi[0, 1, 0].tolist() == [0.5, 0.5]
    assert new_mu[0].tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_full_rank_fit_is_the_table_of_frequencies() -> None:
    problem = random_problem(0)
    counts = counts_from(problem, 7, 0)
    model = SimplexClass(rank=5).fit(counts, None, slack=0.0, rng=np.random.default_rng(0))
    assert model.transitions == pytest.approx(counts / 7)
    wider = SimplexClass(rank=8).fit(counts, None, slack=0.0, rng=np.random.default_rng(0))
    assert wider.transitions == pytest.approx(counts / 7) and wider.phi.shape[-1] == 8


def test_pairs_without_data_are_free_and_keep_the_uniform_feature() -> None:
    counts = counts_from(random_problem(0), 50, 0)
    counts[1, 2, 0] = 0
    model = SimplexClass(rank=2).fit(counts, None, slack=1e-3, rng=np.random.default_rng(0))
    assert model.free.sum() == 1 and model.free[1, 2, 0]
    assert model.phi[1, 2, 0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(3))
def test_fit_beats_the_truths_likelihood_and_comes_close_to_the_truth(seed: int) -> None:
    problem = make_problem("random-simplex", states=12, actions=3, horizon=2, rank=3, seed=seed)
    counts = counts_from(problem, 400, seed)
    model = SimplexClass(rank=3, sweeps=500).fit(counts, None, slack=1e-4, rng=np.random.default_rng(seed))
    truth = log_likelihood(counts, problem.phi, problem.mu)
    assert (model.log_likelihood >= truth - 1.0).all()
    assert np.abs(model.transitions - problem.transitions).sum(-1).mean() < 0.1


def test_warm_start_goes_on_from_the_previous_fit() -> None:
    problem = make_problem("random-simplex", states=10, actions=2, horizon=2, rank=3)
    counts = counts_from(problem, 100, 0)
    rng = np.random.default_rng(0)
    few = SimplexClass(rank=3, sweeps=3)
    first = few.fit(counts, None, slack=0.0, rng=rng)
    later = first
    for _ in range(30):
        later = few.fit(counts, later, slack=0.0, rng=rng)
    assert later.log_likelihood.sum() > first.log_likelihood.sum() + 1.0
    assert later.restarted_at == first.restarted_at == counts.sum()


def test_new_data_can_leave_a_zero_of_the_previous_fit() -> None:
    old = np.zeros((1, 3, 1, 3), dtype=np.int64)
    old[0, :, 0, 0] = 50
    new = old.copy()
    new[0, 1, 0] = [0, 0, 60]
    cls, rng = SimplexClass(rank=2, sweeps=200), np.random.default_rng(0)
    model = cls.fit(new, cls.fit(old, None, slack=0.0, rng=rng), slack=1e-9, rng=rng)
    assert model.transitions[0, 1, 0, 2] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("rank", [0, 16])
def test_rank_outside_one_to_pairs_is_refused(rank: int) -> None:
    with pytest.raises(InvalidInput, match=f"rank={rank} is out of range; .* between 1 and S·A = 15"):
        SimplexClass(rank=rank).check(states=5, actions=3)


def test_room_to_calculate_in_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, size=(2, 5, 3, 5))
    phi, mu = rng.dirichlet(np.ones(2), size=(2, 5, 3)), rng.dirichlet(np.ones(5), size=(2, 2))
    room = np.full((2, *counts.shape), np.nan)
    for fresh, reused in zip(em_sweep(counts, phi, mu), em_sweep(counts, phi, mu, room), strict=True):
        assert (fresh == reused).all()


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_em_over_the_transitions_seen_is_em_over_the_table(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, size=(3, 5, 2, 5))
    table, seen = DenseEvidence(counts), SparseEvidence(TransitionCounts.of(counts))
    assert seen.samples == table.samples and (seen.free == table.free).all()
    spread = [one.spread(rank, np.random.default_rng(seed)) for one in (table, seen)]
    assert spread[1] == pytest.approx(spread[0])
    phi, mu = rng.dirichlet(np.ones(rank), size=(3, 5, 2)), spread[0]
    for _ in range(3):
        dense, sparse = table.sweep(phi, mu), seen.sweep(phi, mu)
        for one, other in zip(dense, sparse, strict=True):
            assert other == pytest.approx(one, rel=1e-9, abs=1e-12)
        phi, mu, _ = dense
        assert seen.log_likelihood(phi, mu) == pytest.approx(table.log_likelihood(phi, mu))


@pytest.mark.parametrize("following", [6, 10, 19])
def test_starts_are_drawn_at_random_where_all_that_was_seen_is_alike(following: int) -> None:
    """Frequencies that sum to 1 but for rounding are no distance from themselves."""
    counts = np.zeros((1, 20, 1, 20), dtype=int)
    counts[0, 0, 0, :following], counts[0, 1, 0, :following] = 1, 2
    spread = [
        one.spread(3, np.random.default_rng(0))
        for one in (DenseEvidence(counts), SparseEvidence(TransitionCounts.of(counts)))
    ]
    assert spread[1] == pytest.approx(spread[0])


def test_three_thousand_states_are_fitted_without_a_table() -> None:
    """A table over (h, s, a, s') would be 1.4 GB; EM over the transitions seen finds more than the truth explains."""
    problem = make_problem("random-simplex", states=3000)
    rng = np.random.default_rng(0)
    uniform = np.full((1, 5, 3000, 4), 0.25)
    played = problem.simulator.play(uniform, rng, member=np.zeros(4000, dtype=int))
    counts = TransitionCounts.empty(5, 3000, 4).add_trajectories(played)
    tracemalloc.start()
    try:
        model = SimplexClass(rank=3, restarts=1).fit(counts, None, slack=1.0, rng=rng)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    truth = SparseEvidence(counts).log_likelihood(problem.phi, problem.mu)
    assert (model.log_likelihood > truth).all()


def test_every_start_is_an_sl_call_and_a_table_is_one() -> None:
    """Three fresh ones at first, the warm one alone, then both once the data have doubled."""
    rng = np.random.default_rng(0)
    counts = counts_from(random_problem(0), 10, seed=0)
    cls, model, calls = SimplexClass(rank=2, restarts=3), None, []
    for times in (1, 1.5, 2, 3.9, 4):
        seen = (times * counts).astype(int)
        model, bill = maximum_likelihood(cls, seen, model, slack=1e-3, rng=rng)
        calls.append(bill.SL)
    assert calls == [3, 1, 4, 1, 4]
    table = SimplexClass(rank=counts.shape[1], restarts=3)
    assert maximum_likelihood(table, counts, None, slack=1e-3, rng=rng)[1].SL == 1
