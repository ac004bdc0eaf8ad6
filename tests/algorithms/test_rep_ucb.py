"""Rep-UCB: the bonus's cut-off, random ties, and the ablation that leaves only the oracle different."""

import dataclasses

import numpy as np
import pytest

import optac
from optac.algorithms import rep_ucb
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import elliptical_bonus
from optac.mdp.sampling import Trajectories
from optac.models import LowRankModel, TransitionData


def test_ties_are_broken_at_random() -> None:
    """After one round on a lock nothing tells most actions apart: twelve seeds do not all pick action 0."""
    problem = optac.make_problem("combination-lock", horizon=3, actions=10)
    picks = set()
    for seed in range(12):
        run = prepare(problem, "rep-ucb", iterations=1, seed=seed)
        state = rep_ucb.init(run.settings, run.handle)
        state, _ = rep_ucb.step(run.settings, state, run.handle, run.rng)
        picks.add(int(state.policy[1, 1].argmax()))
    assert len(picks) > 3


def test_bonus_is_cut_off_at_two() -> None:
    """‖φ‖ = 1 under Λ = I, so α = 5 gives min(5, 2) = 2; three visits give min(5/2, 2) = 2, ninety-nine 0.5."""
    phi = np.ones((2, 1, 1, 1))
    model = LowRankModel(phi, np.ones((2, 1, 1)), np.zeros(2), np.zeros((2, 1, 1), dtype=bool))
    problem = optac.make_problem("combination-lock", horizon=2, actions=2)
    settings = dataclasses.replace(prepare(problem, "rep-ucb").settings, alpha=5.0, lam=1.0, gram="phi")
    for visits, expected in ((0, 2.0), (3, 2.0), (99, 0.5)):
        data = dataclasses.replace(TransitionData.empty(2, 1, 1), gram_visits=np.full((2, 1, 1), visits))
        bonus, _ = elliptical_bonus(settings, model, data, ceiling=settings.bonus_max)
        assert bonus.ravel().tolist() == pytest.approx([expected, 0.0])


def test_fit_takes_both_uniform_tuples_of_a_roll_in() -> None:
    """H = 3, every state met once: D'_h is the tuple of episode h at h, D_h that of episode h + 1 at h."""
    states = np.array([[0, 3, 6], [1, 4, 7], [2, 5, 8], [9, 9, 9]])
    actions = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 1]])
    empty = TransitionData.empty(3, 10, 2)
    played = Trajectories(states, actions)
    data = empty.add_roll_ins(played, whole_trajectories=False).add_steps_before(played)
    theirs = {(0, 0, 0, 1), (1, 4, 0, 5), (2, 8, 1, 9)}
    own = {(0, 3, 1, 4), (1, 7, 1, 8)}
    assert {tuple(index) for index in np.argwhere(data.counts)} == theirs | own
    alone = empty.add_roll_ins(Trajectories(states, actions), whole_trajectories=False)
    assert {tuple(index) for index in np.argwhere(alone.counts)} == theirs
    assert {tuple(index) for index in np.argwhere(data.gram_visits)} == {index[:3] for index in own}


def test_theory_preset_fits_both_tuples_of_every_episode() -> None:
    problem = optac.make_problem("combination-lock", horizon=4, actions=2)
    run = prepare(problem, "rep-ucb", iterations=1, preset="theory")
    state, _ = rep_ucb.step(run.settings, rep_ucb.init(run.settings, run.handle), run.handle, run.rng)
    assert state.data.counts.sum(axis=(1, 2, 3)).tolist() == [2, 2, 2, 1]


def test_practical_alpha_is_opt_acs_times_the_ratio_of_the_theorems() -> None:
    problem = optac.make_problem("combination-lock", horizon=5, actions=4)
    ours, theirs = prepare(problem, "opt-ac").settings.alpha, prepare(problem, "rep-ucb").settings.alpha
    assert theirs / ours == pytest.approx(np.sqrt((3**2 + 4) / 4))


@pytest.mark.parametrize("seed", range(3))
def test_rep_ucb_opens_a_lock_with_opt_acs_alpha_too(seed) -> None:
    problem = optac.make_problem("combination-lock", horizon=6, actions=5)
    alpha = prepare(problem, "opt-ac").settings.alpha
    assert optac.solve(problem, "rep-ucb", episodes=3000, seed=seed, alpha=alpha).last_gap <= 0.05
