"""The decoder class: it finds latents that the data can tell apart, says what they leave open, and bills its starts."""

import numpy as np
import pytest

from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, make_problem
from optac.models import DecoderClass, TransitionCounts, linear_class
from optac.models.decoder import DecodedModel
from optac.models.latent_search import Latents, Observed, expected_counts, lower_bound, search
from optac.models.latent_starts import fresh_start, split
from optac.oracles import maximum_likelihood


def block_problem(seed: int, *, a_step_each: bool = False, states: int = 24, rank: int = 3) -> LowRankMDP:
    """Random tables between latents, each state showing one; with `a_step_each` another one in every step."""
    rng = np.random.default_rng(seed)
    horizon, actions = 3, 3
    latent = np.stack([rng.permutation(np.arange(states) % rank) for _ in range(horizon + 1)])
    if not a_step_each:
        latent[:] = latent[0]
    tables = rng.dirichlet(np.full(rank, 0.2), size=(horizon, rank, actions))
    phi = np.stack([tables[h][latent[h]] for h in range(horizon)])
    emission = np.stack([np.eye(rank)[latent[h + 1]].T for h in range(horizon)])
    mu = emission / emission.sum(-1, keepdims=True)
    return LowRankMDP(phi, mu, np.zeros((horizon, states, actions)), np.full(states, 1 / states))


def uniform_counts(problem: LowRankMDP, episodes: int, seed: int = 0) -> TransitionCounts:
    policy = np.full((1, *problem.shape), 1 / problem.actions)
    played = problem.simulator.play(
        policy, np.random.default_rng(seed), member=np.zeros(episodes, dtype=np.int64)
    )
    return TransitionCounts.empty(*problem.shape).add_trajectories(played)


def fit(problem: LowRankMDP, counts: TransitionCounts, rank: int = 3, **settings) -> DecodedModel:
    model = DecoderClass(rank, **settings).fit(counts, None, slack=1e-2, rng=np.random.default_rng(0))
    assert isinstance(model, DecodedModel)
    return model


def error(problem: LowRankMDP, model: DecodedModel) -> float:
    """The mean total variation of the steps whose transitions enter a value."""
    return float(0.5 * np.abs(problem.transitions - model.transitions)[:-1].sum(-1).mean())


@pytest.mark.parametrize("a_step_each", [False, True])
def test_finds_the_latents_from_few_visits_of_a_pair(a_step_each: bool) -> None:
    """24 states, 3 actions and 1,200 episodes are 17 visits a pair: the table of frequencies is far off."""
    problem = block_problem(1, a_step_each=a_step_each)
    counts = uniform_counts(problem, 1200)
    model = fit(problem, counts)
    assert model.latents is not None and model.latents.shared != a_step_each
    table = DecoderClass(problem.states).fit(counts, None, slack=0.0, rng=np.random.default_rng(0))
    off = 0.5 * np.abs(problem.transitions - table.transitions)[:-1].sum(-1).mean()
    assert error(problem, model) < 0.15 < 2 * error(problem, model) + 0.15 < off + 0.15


def test_factors_are_distributions_and_the_open_share_fills_them_up() -> None:
    problem = block_problem(0)
    model = fit(problem, uniform_counts(problem, 20))
    assert model.phi.min() >= 0 and model.phi.sum(-1) == pytest.approx(np.ones(problem.shape))
    assert model.mu.min() >= 0 and model.mu.sum(-1) == pytest.approx(np.ones((3, 3)))
    settled = model.settled().phi
    assert settled.min() >= -1e-12
    assert settled.sum(-1) == pytest.approx(1 - model.free)


def test_an_action_never_tried_is_open_from_every_state() -> None:
    problem = block_problem(0)
    table = uniform_counts(problem, 300).dense()
    table[:, :, 2] = 0
    model = fit(problem, TransitionCounts.of(table))
    assert model.free[:, :, 2] == pytest.approx(1.0) and (model.free[:, :, :2] < 0.01).all()


def test_the_bound_never_falls_with_a_decoder_a_step() -> None:
    problem = block_problem(2, a_step_each=True)
    seen = Observed(uniform_counts(problem, 200), 3, None)
    latents = fresh_start(seen, np.random.default_rng(0), None).for_every_step(3)
    bounds = []
    for _ in range(10):
        latents = search(seen, latents, sweeps=2, slack=-np.inf)
        bounds.append(latents.bound)
        assert latents.bound == pytest.approx(lower_bound(seen, latents))
    assert (np.diff(bounds) >= -1e-6 * abs(bounds[0])).all() and bounds[-1] > bounds[0] + 1


def test_as_many_latents_as_states_is_the_table() -> None:
    problem = block_problem(0, states=6)
    counts = uniform_counts(problem, 100)
    model = DecoderClass(6).fit(counts, None, slack=0.0, rng=np.random.default_rng(0))
    visits = counts.dense().sum(-1, keepdims=True)
    seen = visits[..., 0] > 0
    assert model.transitions[seen] == pytest.approx((counts.dense() / np.maximum(visits, 1))[seen])
    assert model.decoder is None


def test_every_start_is_an_sl_call_and_a_fit_between_two_rounds_of_starts_is_one() -> None:
    problem = block_problem(0)
    counts = uniform_counts(problem, 50)
    cls, rng = DecoderClass(3, restarts=2), np.random.default_rng(0)
    first, bill = maximum_likelihood(cls, counts, None, slack=0.01, rng=rng)
    assert bill.SL == 2 + 1 + 3 + 1, "two fresh, one a step each, three of its steps anew, one more"
    again, bill = maximum_likelihood(cls, counts, first, slack=0.01, rng=rng)
    assert bill.SL == 1 and again.log_likelihood.sum() == pytest.approx(first.log_likelihood.sum(), abs=1.0)


def test_features_decode_states_never_seen() -> None:
    problem = make_problem("observed-lock", horizon=4, actions=3, observations=40)
    counts = uniform_counts(problem, 120)
    model = linear_class(problem, 3).fit(counts, None, slack=1e-2, rng=np.random.default_rng(0))
    unseen = counts.visits[1].sum(-1) == 0
    assert unseen.sum() > 20
    row = np.arange(problem.states) // 40
    names = np.array(
        [np.bincount(row[model.decoder[1].argmax(-1) == z], minlength=3).argmax() for z in range(3)]
    )
    right = names[model.decoder[1].argmax(-1)] == row
    assert right[unseen].mean() > 0.9


def test_a_problem_without_features_has_no_linear_class() -> None:
    with pytest.raises(InvalidInput, match="river-swim has none; use model_class=decoder"):
        linear_class(make_problem("river-swim"), 3)
    with pytest.raises(InvalidInput, match="1 to 6 latents"):
        DecoderClass(7).check(6, 2)


@pytest.mark.parametrize("with_features", [False, True])
def test_a_split_leaves_the_maximum_that_takes_two_latents_for_one(with_features: bool) -> None:
    """Rows 0 and 1 of the lock in one latent, row 2 in two halves: sweeps stay there, one of three splits does not."""
    problem = make_problem("observed-lock", horizon=3, actions=3, observations=10)
    seen = Observed(uniform_counts(problem, 600), 3, problem.features if with_features else None)
    row = np.repeat([0, 1, 2], 10)
    wrong = np.where(row == 2, 1 + np.arange(30) % 2, 0)
    q = (0.98 * np.eye(3)[wrong] + 0.02 / 3)[None]
    weights = np.zeros((1, 4, 3)) if with_features else None
    stuck = search(seen, Latents(q, expected_counts(seen, q), weights), sweeps=60, slack=1e-2)
    stuck_at_every_step = stuck.for_every_step(3)
    assert (stuck.q[0][row < 2].argmax(-1) == stuck.q[0][0].argmax()).all()
    for start in (stuck, stuck_at_every_step):
        starts = [split(seen, start, k, np.random.default_rng(0)) for k in range(3)]
        found = max((search(seen, one, sweeps=60, slack=1e-2) for one in starts), key=lambda one: one.bound)
        assert found.bound > stuck.bound + 10
        assert len({tuple(np.unique(found.q[0][row == z].argmax(-1))) for z in range(3)}) == 3
