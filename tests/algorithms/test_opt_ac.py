"""Opt-AC does what Algorithm 1 says, at the indices it says, and bills it."""

import dataclasses

import numpy as np
import pytest

import optac
from optac.algorithms import opt_ac
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import elliptical_bonus, gram_matrix, latent_norms
from optac.mdp import make_problem
from optac.mdp.sampling import Trajectories
from optac.models import LowRankModel, TransitionData
from tests.random_problems import random_policy, random_problem


def first_state(problem, **settings):
    run = prepare(problem, "opt-ac", iterations=50, **settings)
    return run, opt_ac.init(run.settings, run.handle)


def test_bill_is_two_sl_and_one_pe_an_iteration_and_nothing_else() -> None:
    result = optac.solve(make_problem("combination-lock", horizon=3, actions=2), iterations=37)
    assert (result.bill.SL, result.bill.PE, result.bill.PP, result.bill.CP) == (74, 37, 0, 0)
    assert result.bill.accuracy == result.settings.beta == 0.01
    assert optac.solve(make_problem("combination-lock", horizon=2), iterations=200).bill.accuracy == 1 / 200
    assert result.history[9]["bill"]["SL"] == 20
    assert result.certificate_bill.PP == 1 and result.certificate_bill.PE == 37


def test_an_iteration_plays_exactly_h_episodes() -> None:
    result = optac.solve(make_problem("combination-lock", horizon=5, actions=2), iterations=7)
    assert result.episodes == 35 and [row["episodes"] for row in result.history] == list(range(5, 36, 5))


def test_same_seed_same_bits() -> None:
    problem = make_problem("observed-lock", horizon=3, actions=2, observations=3)
    one, two = (optac.solve(problem, iterations=40, seed=3) for _ in range(2))
    assert (one.last_policy.probabilities == two.last_policy.probabilities).all()
    assert one.gap == two.gap and one.certificate == two.certificate
    other = optac.solve(problem, iterations=40, seed=4)
    assert (one.last_policy.probabilities != other.last_policy.probabilities).any()


def test_mixture_is_of_the_policies_played_and_the_last_comes_after_them() -> None:
    problem = make_problem("combination-lock", horizon=3, actions=3)
    result = optac.solve(problem, iterations=20)
    assert len(result.policy) == 20
    assert (result.policy[0].probabilities == 1 / 3).all()
    values = [problem.value(member) for member in result.policy]
    assert result.value == pytest.approx(np.mean(values)) == pytest.approx(problem.value(result.policy))
    assert result.last_gap == pytest.approx(1 - problem.value(result.last_policy))
    longer = optac.solve(problem, iterations=21)
    assert not np.allclose(result.last_policy.probabilities, result.policy[19].probabilities)
    assert longer.history[19]["gap"] == pytest.approx(result.gap)


def test_roll_in_states_at_the_grams_step_follow_the_policy_and_actions_are_uniform() -> None:
    """The index test: the Gram data at h have s_h ~ d^π_h and a_h uniform."""
    problem = random_problem(0, horizon=4)
    policy = random_policy(0, problem.shape)
    run, _ = first_state(problem)
    data = TransitionData.empty(*problem.shape)
    rounds = 4000
    for _ in range(rounds):
        data = data.add_roll_ins(run.handle.roll_in(policy), whole_trajectories=False)
    occupancy = problem.occupancy(policy)
    for h in range(3):
        expected = occupancy[h][:, None] / problem.actions
        assert data.gram_visits[h] / rounds == pytest.approx(np.broadcast_to(expected, (5, 3)), abs=0.035)
    assert data.gram_visits[3].sum() == 0
    one_past = [problem.initial]
    for h in range(3):
        one_past.append(np.einsum("s,san->n", occupancy[h] / problem.actions, problem.transitions[h]))
    for h in range(4):
        assert data.counts[h].sum((1, 2)) / rounds == pytest.approx(one_past[h], abs=0.035)


def test_roll_ins_are_taken_apart_at_the_right_indices() -> None:
    """Episode e visits state 10·h + e at step h, so that every count tells where it came from."""
    horizon = 3
    states = np.array([[10 * h + e for e in range(horizon)] for h in range(horizon + 1)])
    actions = np.zeros((horizon, horizon), dtype=np.int64)
    empty = TransitionData.empty(horizon, 40, 1)
    data = empty.add_roll_ins(Trajectories(states, actions), whole_trajectories=False)
    assert np.argwhere(data.counts)[:, [0, 1, 3]].tolist() == [[0, 0, 10], [1, 11, 21], [2, 22, 32]]
    assert np.argwhere(data.gram_visits)[:, :2].tolist() == [[0, 1], [1, 12]]
    whole = empty.add_roll_ins(Trajectories(states, actions), whole_trajectories=True)
    assert whole.counts.sum() == 9 and whole.counts[1, 10, 0, 20] == whole.counts[1, 12, 0, 22] == 1
    assert empty.counts.sum() == 0


def test_two_actions_of_a_roll_in_are_uniform_and_the_rest_the_policys() -> None:
    problem = random_problem(0, horizon=4)
    always_zero = np.eye(3)[np.zeros(problem.shape[:2], dtype=int)]
    run, _ = first_state(problem)
    differs = np.zeros((4, 4))
    for _ in range(600):
        differs += run.handle.roll_in(always_zero).actions > 0
    step, episode = np.indices((4, 4))
    uniform = (step == episode) | (step == episode - 1)
    assert (differs[~uniform] == 0).all()
    assert differs[uniform] / 600 == pytest.approx(np.full(uniform.sum(), 2 / 3), abs=0.08)


def hand_model() -> LowRankModel:
    phi = np.array([[[[1.0, 0.0], [0.5, 0.5]]], [[[0.0, 1.0], [1.0, 0.0]]]])
    return LowRankModel(
        phi, np.full((2, 2, 1), 1.0), np.zeros(2), np.array([[[False, True]], [[False, False]]])
    )


def test_bonus_by_hand() -> None:
    """Λ = diag(1 + 3, 1) at the first step: norms ½ and √(¼·¼ + ¼) = √5/4; the last step has no bonus."""
    data = dataclasses.replace(TransitionData.empty(2, 1, 2), gram_visits=np.array([[[3, 0]], [[9, 9]]]))
    assert gram_matrix(hand_model(), data, 1.0)[0].tolist() == [[4.0, 0.0], [0.0, 1.0]]
    run, _ = first_state(make_problem("combination-lock", horizon=2, actions=2))
    plain = dataclasses.replace(run.settings, alpha=0.8, lam=1.0, gram="phi")
    assert elliptical_bonus(plain, hand_model(), data)[0].ravel().tolist() == pytest.approx(
        [0.4, 0.8 * np.sqrt(5) / 4, 0.0, 0.0]
    )
    clipped = dataclasses.replace(plain, alpha=1.9)
    assert elliptical_bonus(clipped, hand_model(), data)[0].ravel().tolist() == pytest.approx(
        [0.95, 1.0, 0, 0]
    )
    ties = dataclasses.replace(plain, optimistic_ties=True)
    assert elliptical_bonus(ties, hand_model(), data)[0].ravel().tolist() == pytest.approx([0.4, 1.0, 0, 0])


def test_policy_is_the_softmax_of_the_summed_critics_and_one_mirror_step() -> None:
    rng = np.random.default_rng(0)
    critics = rng.random((5, 2, 3, 4))
    policy = np.full((2, 3, 4), 0.25)
    for k in range(5):
        weights = policy * np.exp(0.7 * critics[k])
        policy = weights / weights.sum(-1, keepdims=True)
    assert opt_ac.mirror_descent(critics.sum(0), 0.7) == pytest.approx(policy)
    assert np.isfinite(opt_ac.mirror_descent(1e5 * critics.sum(0), 10.0)).all()


def test_iteration_zero_fits_its_own_episodes_and_evaluates_the_uniform_policy() -> None:
    problem = make_problem("combination-lock", horizon=3, actions=2)
    run, state = first_state(problem)
    after, info = opt_ac.step(run.settings, state, run.handle, run.rng)
    assert state.data.counts.sum() == 0 and after.data.counts.sum() == 9
    still_to_come = np.array([1.05, 1.0, 0.0])[:, None, None]
    rewards = problem.rewards + still_to_come * after.bonus
    settled = np.where(after.model.free[..., None], 0.0, after.model.transitions)
    assert after.model.free.any()
    q_values = np.zeros((3, 3, 2))
    value = np.zeros(3)
    for h in (2, 1, 0):
        q_values[h] = rewards[h] + settled[h] @ value
        value = q_values[h].mean(-1)
    assert after.critic_sum == pytest.approx(q_values)
    assert info.optimistic_value == pytest.approx(value[0])


def test_critic_is_clipped_to_its_range() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=3)
    run, state = first_state(problem, preset="theory", pe="exact")
    after, info = opt_ac.step(run.settings, state, run.handle, run.rng)
    assert info.optimistic_value > 2 * 4
    assert after.critic_sum.max() == 2 * 4
    printed, state = first_state(problem, preset="theory", pe="exact", critic_max=0)
    assert opt_ac.step(printed.settings, state, printed.handle, printed.rng)[0].critic_sum.max() > 2 * 4


def test_theory_preset_shows_the_theorems_constants() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=5)
    settings = prepare(problem, "opt-ac", iterations=100, preset="theory", model_class="finite").settings
    beta = np.log(100 * 64.0**4 / 0.1)
    assert settings.beta == pytest.approx(beta)
    assert settings.lam == pytest.approx(1 / 3) and settings.alpha == pytest.approx(np.sqrt(1 + 5 * beta))
    assert settings.eta == pytest.approx(np.sqrt(np.log(5) / (16 * 100))) and settings.bonus_scale == 12
    assert settings.pe == "regression" and settings.pe_accuracy == 0.1
    assert not settings.whole_trajectories and not settings.optimistic_ties
    assert (settings.gram, settings.untried, settings.bonus_range) == ("phi", "uniform", "one")


def test_practical_preset_is_one_rule_for_all_problems() -> None:
    for name in ("combination-lock", "deep-sea"):
        settings = prepare(make_problem(name), "opt-ac").settings
        assert (settings.alpha, settings.lam) == pytest.approx((0.02, 0.0004))
        assert (settings.eta, settings.bonus_scale, settings.bonus_range) == (1, 1, "rewards")
        assert (settings.gram, settings.untried, settings.optimistic_ties) == ("latents", "nowhere", False)


def test_latent_bonus_by_hand() -> None:
    """Two states of one latent share what is known of an action: 3 visits of one are 3 of the other, ½q counts ¼."""
    visits = np.array([[[3, 0], [1, 0], [0, 0]]])
    counted = latent_norms(None, visits, 0.25)[0]
    assert counted == pytest.approx(1 / np.sqrt(0.25 + visits[0]))
    decoder = np.array([[[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]])
    norms = latent_norms(decoder, visits, 0.25)[0]
    assert norms[:2, 0] == pytest.approx(1 / np.sqrt(0.25 + 4)) and norms[:2, 1] == pytest.approx(2.0)
    assert norms[2, 0] == pytest.approx(np.sqrt(0.25 / 4.25 + 0.25 / 0.25))
    assert norms[2, 1] == pytest.approx(np.sqrt(0.5 / 0.25))
    one_hot = np.eye(3)[None]
    assert latent_norms(one_hot, visits, 0.25) == pytest.approx(latent_norms(None, visits, 0.25))


def test_regression_and_recursion_learn_alike() -> None:
    problem = make_problem("combination-lock", horizon=3, actions=3)
    exact = optac.solve(problem, iterations=60)
    regressed = optac.solve(problem, iterations=60, pe="regression", pe_accuracy=1e-7)
    assert regressed.bill.SL == exact.bill.SL
    assert exact.last_gap < 0.05 and regressed.last_gap < 0.05


def test_nothing_a_learner_keeps_grows_with_k_but_the_list_of_transitions_seen() -> None:
    def held(state) -> int:
        arrays = [state.policy, state.critic_sum, state.bonus, state.data.gram_visits]
        fitted = [state.model.phi, state.model.mu, state.model.log_likelihood, state.model.free]
        return sum(array.nbytes for array in arrays + fitted)

    problem = make_problem("observed-lock", horizon=3, actions=2, observations=2)
    run, state = first_state(problem)
    sizes = []
    for _ in range(60):
        state, _ = opt_ac.step(run.settings, state, run.handle, run.rng)
        sizes.append(held(state))
    assert len(set(sizes)) == 1
    assert len(state.data.evidence.keys) <= (problem.transitions > 0).sum()
    kept = {name for name, value in vars(state).items() if value is not None and value is not False}
    assert kept == {"policy", "critic_sum", "data", "model", "bonus", "bill"}


@pytest.mark.parametrize(
    "seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 20))]
)
def test_lock_of_six_steps_and_ten_actions_opens_within_two_thousand_episodes(seed: int) -> None:
    problem = make_problem("combination-lock", horizon=6, actions=10)
    assert optac.solve(problem, episodes=2000, seed=seed).last_gap <= 0.05


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 5))]
)
def test_lock_of_twelve_steps_opens_within_fifteen_thousand_episodes(seed: int) -> None:
    problem = make_problem("combination-lock", horizon=12, actions=10)
    assert optac.solve(problem, episodes=15_000, seed=seed).last_gap <= 0.05


def test_epsilon_greedy_does_not_open_the_lock() -> None:
    result = optac.solve(
        make_problem("combination-lock", horizon=6, actions=10), "epsilon-greedy", episodes=2000
    )
    assert result.gap >= 0.9 and result.last_gap >= 0.9
    assert (result.bill.SL, result.bill.PE, result.bill.PP) == (333 * 7, 0, 333)


def test_finite_class_opens_the_lock_too() -> None:
    problem = make_problem("combination-lock", horizon=6, actions=10, seed=4)
    assert optac.solve(problem, iterations=333, model_class="finite").last_gap <= 0.05
    listed = optac.solve(
        problem, iterations=333, model_class=[problem, make_problem("combination-lock", seed=5)]
    )
    assert listed.last_gap <= 0.05


def test_one_action_is_allowed() -> None:
    for preset in ("practical", "theory"):
        result = optac.solve(
            make_problem("combination-lock", horizon=3, actions=1), iterations=5, preset=preset
        )
        assert result.gap == pytest.approx(0.0) and result.last_gap == pytest.approx(0.0)


def test_horizon_of_one_is_a_bandit_with_known_rewards() -> None:
    result = optac.solve(make_problem("combination-lock", horizon=1, actions=4), iterations=40)
    assert result.last_gap < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_lock_of_a_hundred_steps_opens_within_a_hundred_thousand_episodes(seed: int) -> None:
    problem = make_problem("combination-lock", horizon=100, actions=10)
    assert optac.solve(problem, episodes=100_000, seed=seed, keep_members=False).last_gap <= 0.05
