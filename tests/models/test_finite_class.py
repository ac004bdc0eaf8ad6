import numpy as np
import pytest

from optac.errors import InvalidInput
from optac.mdp import make_problem
from optac.models import FiniteClass, truth_among_decoys
from tests.random_problems import random_problem


def fit(cls, counts, previous=None, slack=0.0):
    return cls.fit(counts, previous, slack=slack, rng=np.random.default_rng(0))


def test_likeliest_candidate_is_chosen_at_every_step() -> None:
    problems = [random_problem(seed) for seed in range(5)]
    cls = FiniteClass([(p.phi, p.mu) for p in problems])
    counts = np.random.default_rng(0).multinomial(60, problems[3].transitions)
    model = fit(cls, counts)
    assert (model.choice == 3).all()
    by_hand = [(counts * np.log(p.transitions)).sum((1, 2, 3)) for p in problems]
    assert model.log_likelihood == pytest.approx(np.max(by_hand, axis=0))


def test_previous_candidate_stays_while_it_is_within_the_slack() -> None:
    problems = [random_problem(seed) for seed in range(5)]
    cls = FiniteClass([(p.phi, p.mu) for p in problems])
    counts = np.random.default_rng(0).multinomial(60, problems[3].transitions)
    start = fit(cls, np.zeros_like(counts))
    assert (start.choice == 0).all()
    assert (fit(cls, counts, start, slack=1e9).choice == 0).all()
    assert (fit(cls, counts, start, slack=0.0).choice == 3).all()


def test_truth_hides_among_its_decoys_and_data_find_it() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=5)
    cls = truth_among_decoys(problem.phi, problem.mu, size=64, seed=0)
    places = [
        i for i, (phi, mu) in enumerate(cls.candidates) if (phi @ mu[:, None] == problem.transitions).all()
    ]
    assert len(cls.candidates) == 64 and len(places) == 1
    counts = np.random.default_rng(0).multinomial(40, problem.transitions)
    assert fit(cls, counts).transitions == pytest.approx(problem.transitions)


def test_truths_place_depends_on_the_problems_seed() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=5)
    places = set()
    for seed in range(8):
        cls = truth_among_decoys(problem.phi, problem.mu, size=64, seed=seed)
        places |= {i for i, (phi, mu) in enumerate(cls.candidates) if phi is problem.phi and mu is problem.mu}
    assert len(places) > 4


def test_pairs_are_free_exactly_where_equally_likely_candidates_disagree() -> None:
    problem = make_problem("combination-lock", horizon=2, actions=3)
    other = problem.phi.copy()
    other[0, 0] = np.roll(other[0, 0], 1, axis=0)
    cls = FiniteClass([(problem.phi, problem.mu), (other, problem.mu)])
    nothing = np.zeros((2, 3, 3, 3), dtype=np.int64)
    expected = np.abs(problem.phi - other).max(-1) > 0
    contested, looked_at = fit(cls, nothing).contested()
    assert (contested == expected).all() and expected.any() and looked_at == 4
    told = np.random.default_rng(0).multinomial(10, problem.transitions)
    contested, looked_at = fit(cls, told).contested()
    assert not contested.any() and looked_at == 3, "the second step's two candidates are equal"


def test_unfit_candidates_are_refused() -> None:
    small, large = random_problem(0), random_problem(0, states=6)
    with pytest.raises(InvalidInput, match="at least one candidate"):
        FiniteClass([])
    with pytest.raises(InvalidInput, match="candidate 1 has phi"):
        FiniteClass([(small.phi, small.mu), (large.phi, large.mu)]).check(states=5, actions=3)
    with pytest.raises(InvalidInput, match="one rank"):
        FiniteClass([(p.phi, p.mu) for p in (small, random_problem(0, rank=3))])
