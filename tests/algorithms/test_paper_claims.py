"""The lemmas behind Theorem 2 as inequalities on data: each can fail, and each is named after its claim.

TV is half the L1 distance throughout, so that it lies in [0, 1].
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optac.algorithms import opt_ac
from optac.algorithms.loop.run import prepare
from optac.algorithms.parts.elliptical import elliptical_bonus, gram_matrix
from optac.mdp import make_problem
from optac.mdp.values import occupancies, policy_q_values, policy_values
from optac.models.simplex import SimplexClass
from tests.random_problems import random_policy, random_problem


def total_variation(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return 0.5 * np.abs(one - two).sum(axis=-1)


@given(st.integers(0, 10_000))
def test_value_difference_lemma(seed: int) -> None:
    """V^π_{θ,r} − V^π'_{θ',r'} ≤ V^π_{θ,r−r'} + Σ E_{θ,π}⟨Q^π'_{θ',r'}, π − π'⟩ + B Σ E_{θ,π} TV."""
    one, two = random_problem(seed), random_problem(seed + 1)
    pi, pi_prime = random_policy(seed, one.shape), random_policy(seed + 1, one.shape)
    start = one.initial

    def value(problem, rewards, policy):
        return float(policy_values(problem.transitions, rewards, policy[None], start)[0])

    left = value(one, one.rewards, pi) - value(two, two.rewards, pi_prime)
    occupancy = occupancies(one.transitions, pi, start)
    q_values = policy_q_values(two.transitions, two.rewards, pi_prime)
    largest_value = np.einsum("hsa,hsa->hs", pi_prime, q_values).max()
    improvement = np.einsum("hs,hsa,hsa->", occupancy, q_values, pi - pi_prime)
    error = np.einsum("hs,hsa,hsa->", occupancy, pi, total_variation(one.transitions, two.transitions))
    right = value(one, one.rewards - two.rewards, pi) + improvement + largest_value * error
    assert left <= right + 1e-12
    assert left > right - largest_value * error - largest_value * error - 1e-12


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0.05, 5.0))
def test_elliptical_potential_lemma(seed: int, dimension: int, lam: float) -> None:
    """Σ min(1, ‖Y_i‖²_{A_i⁻¹}) ≤ 2 log(det A_{n+1}/det λI) ≤ 2d log(1 + n/(λd)) for ‖Y‖ ≤ 1."""
    rng = np.random.default_rng(seed)
    gram, potential, count = lam * np.eye(dimension), 0.0, 60
    for _ in range(count):
        y = rng.normal(size=dimension)
        y /= max(1.0, np.linalg.norm(y))
        potential += min(1.0, float(y @ np.linalg.solve(gram, y)))
        gram += np.outer(y, y)
    log_det = np.linalg.slogdet(gram)[1] - dimension * np.log(lam)
    assert potential <= 2 * log_det + 1e-9
    assert 2 * log_det <= 2 * dimension * np.log(1 + count / (lam * dimension)) + 1e-9


@given(st.integers(0, 10_000), st.floats(0.001, 2.0), st.integers(1, 6))
def test_mirror_descent_stability(seed: int, eta: float, horizon: int) -> None:
    """Σ_k ⟨Q̂_k, π* − π⁽ᵏ⁾⟩ ≤ log|A|/η + 2ηH²K for any critics in [0, 2H] and any π*."""
    rng = np.random.default_rng(seed)
    actions, rounds = 4, 30
    critics = 2 * horizon * rng.random((rounds, 1, 1, actions)) ** rng.integers(1, 6)
    regret = np.zeros(actions)
    for k in range(rounds):
        policy = opt_ac.mirror_descent(critics[:k].sum(axis=0) if k else np.zeros((1, 1, actions)), eta)
        regret += critics[k, 0, 0] - (policy * critics[k]).sum()
    assert regret.max() <= np.log(actions) / eta + 2 * eta * horizon**2 * rounds + 1e-9


def test_mirror_descent_stability_needs_the_critics_range() -> None:
    """With critics ten times the range the lemma allows, its bound breaks."""
    horizon, eta, rounds = 1, 1.0, 40
    critics = np.zeros((rounds, 1, 1, 2))
    critics[::2, 0, 0, 0] = critics[1::2, 0, 0, 1] = 20 * horizon
    regret = np.zeros(2)
    for k in range(rounds):
        policy = opt_ac.mirror_descent(critics[:k].sum(axis=0) if k else np.zeros((1, 1, 2)), eta)
        regret += critics[k, 0, 0] - (policy * critics[k]).sum()
    assert regret.max() > np.log(2) / eta + 2 * eta * horizon**2 * rounds


class Recorded:
    """A run of Opt-AC with every roll-in kept, which the lemmas speak of and the learner forgets."""

    def __init__(self, problem, iterations: int, seed: int, **settings) -> None:
        self.problem = problem
        self.run = prepare(problem, "opt-ac", iterations=iterations, seed=seed, **settings)
        play = self.run.handle.roll_in
        self.roll_ins = []

        def keep(policy):
            self.roll_ins.append(play(policy))
            return self.roll_ins[-1]

        self.run.handle.roll_in = keep
        self.states = [opt_ac.init(self.run.settings, self.run.handle)]
        for _ in range(iterations):
            state, _ = opt_ac.step(self.run.settings, self.states[-1], self.run.handle, self.run.rng)
            self.states.append(state)
        self.model = self.states[-1].model
        self.data = self.states[-1].data

    def pairs(self, episode: int, step: int) -> tuple[np.ndarray, np.ndarray]:
        """(s_step, a_step) of the roll-in of step `episode`, over all iterations."""
        states = np.array([played.states[step, episode] for played in self.roll_ins])
        actions = np.array([played.actions[step, episode] for played in self.roll_ins])
        return states, actions


def norms(features: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """‖φ(s,a)‖_{Λ⁻¹}."""
    return np.sqrt(np.einsum("sad,de,sae->sa", features, np.linalg.inv(gram), features))


FAITHFUL = {"whole_trajectories": False, "gram": "phi", "untried": "uniform", "lam": 1.0}


@pytest.mark.parametrize("seed", range(3))
def test_one_step_back_tv_is_at_most_the_elliptical_norm(seed: int) -> None:
    """E_{θ̂,π}[TV_h | s_{h−1}, a_{h−1}] ≤ ‖φ̂_{h−1}‖_{Λ̂⁻¹} √(dλ + |A| Σ_n E_{s~T̂, a~u} TV²_h), the worst π."""
    problem = make_problem("random-simplex", states=8, actions=3, horizon=3, rank=2, seed=seed)
    recorded = Recorded(problem, 80, seed, **FAITHFUL)
    model, lam = recorded.model, recorded.run.settings.lam
    error = total_variation(problem.transitions, model.transitions)
    grams = gram_matrix(model, recorded.data, lam)
    for h in (1, 2):
        left = model.transitions[h - 1] @ error[h].max(axis=-1)
        before = recorded.pairs(episode=h, step=h - 1)
        spread = model.transitions[h - 1][before] @ (error[h] ** 2).mean(axis=-1)
        right = norms(model.phi[h - 1], grams[h - 1])
        right *= np.sqrt(problem.rank * lam + problem.actions * spread.sum())
        assert (left <= right + 1e-9).all()
        assert left.max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_empirical_bonus_is_at_most_the_true_one(seed: int) -> None:
    """E_{θ*,π}[min(1, ‖φ̂_h‖) | s_{h−1}, a_{h−1}] ≤ ‖φ*_{h−1}‖_{W⁻¹} √(dλ + |A| Σ_n E_{s~T*, a~u} min(1, ‖φ̂_h‖)²)."""
    problem = make_problem("random-simplex", states=8, actions=3, horizon=3, rank=2, seed=seed)
    recorded = Recorded(problem, 80, seed, **FAITHFUL)
    model, lam = recorded.model, recorded.run.settings.lam
    grams = gram_matrix(model, recorded.data, lam)
    h = 1
    clipped = np.minimum(1.0, norms(model.phi[h], grams[h]))
    left = problem.transitions[h - 1] @ clipped.max(axis=-1)
    before = recorded.pairs(episode=h + 1, step=h - 1)
    features = problem.phi[h - 1][before]
    true_gram = lam * np.eye(problem.rank) + features.T @ features
    spread = problem.transitions[h - 1][before] @ (clipped**2).mean(axis=-1)
    scale = np.sqrt(problem.rank * lam + problem.actions * spread.sum())
    assert (left <= norms(problem.phi[h - 1], true_gram) * scale + 1e-9).all()
    seen = recorded.pairs(episode=h + 1, step=h)
    on_data = norms(model.phi[h], grams[h])[seen] ** 2
    assert on_data.sum() <= problem.rank


def test_hellinger_bound_on_the_mle() -> None:
    """Σ_n D_H²(T_θ̂, T*) ≤ 2 log(|Θ|/δ) for the fitted θ̂ and, with the log-likelihood ratio added, for every θ.

    The candidates have full support and lie close together, so that likelihoods overlap and the MLE errs.
    """
    truth = make_problem("random-simplex", states=5, actions=2, horizon=2, rank=2, concentration=1.0)
    rng = np.random.default_rng(0)
    candidates = [(truth.phi, truth.mu)]
    for _ in range(30):
        nudge = rng.dirichlet(np.ones(2), size=truth.phi.shape[:3])
        candidates.append((0.8 * truth.phi + 0.2 * nudge, truth.mu))
    runs, delta, failures, wrong, spent = 40, 0.1, 0, 0, []
    for seed in range(runs):
        recorded = Recorded(truth, 25, seed, model_class=candidates, **FAITHFUL)
        counts = recorded.data.counts
        allowance = 2 * truth.horizon * np.log(len(candidates) / delta)
        excess = []
        for kernel in [recorded.model.transitions, *(phi @ mu[:, None] for phi, mu in candidates)]:
            hellinger = ((np.sqrt(kernel) - np.sqrt(truth.transitions)) ** 2).sum(axis=-1)
            distance = (counts.sum(axis=-1) * hellinger).sum()
            log_ratio = (counts * np.log(truth.transitions / kernel)).sum()
            excess.append(distance - max(log_ratio, 0.0) - allowance)
            spent.append((distance - log_ratio) / allowance)
        failures += max(excess) > 0
        wrong += not np.allclose(recorded.model.transitions, truth.transitions)
    assert failures <= delta * runs
    assert wrong > runs / 2, "the MLE should err here, or the bound is empty"
    assert max(spent) > 0.05, "some distance should not be paid for by the likelihood alone"


def smallest_margin(problem, seed: int, iterations: int = 60, **settings) -> tuple[float, float]:
    """min over iterations of V^{π*}_{θ̂_k, r + b̂_k} − V*, and the smallest bonus met on the way."""
    recorded = Recorded(problem, iterations, seed, model_class="finite", pe="exact", **settings)
    margins, bonuses = [], []
    for state in recorded.states[1:]:
        rewards = problem.rewards + recorded.run.settings.bonus_scale * state.bonus
        value = policy_values(state.model.transitions, rewards, problem.optimal_policy[None], problem.initial)
        margins.append(float(value[0]) - problem.optimal_value)
        bonuses.append(float(state.bonus[:-1].min()))
    return min(margins), min(bonuses)


def test_optimism_of_the_critic_at_theory_constants() -> None:
    """V^{π*}_{θ̂_k, r + b̂_k} ≥ V* in every iteration, also once the bonus is no longer clipped everywhere."""
    problem = make_problem("combination-lock", horizon=2, actions=2)
    for seed in range(2):
        margin, bonus = smallest_margin(problem, seed, iterations=700, preset="theory", candidates=4)
        assert margin >= 0 and bonus < 0.5


def test_optimism_fails_without_the_bonus() -> None:
    problem = make_problem("combination-lock", horizon=4, actions=3)
    assert all(smallest_margin(problem, seed, preset="theory", alpha=0.0)[0] < -0.1 for seed in range(5))


def test_one_step_back_tv_is_at_most_the_bonus_at_theory_constants() -> None:
    """E_{θ̂,π}[TV_h | s_{h−1}, a_{h−1}] ≤ α‖φ̂_{h−1}‖_{Λ̂⁻¹}, the theorem's α = √(dλ + |A|β): the saved factor d."""
    truth = make_problem("random-simplex", states=5, actions=2, horizon=2, rank=2, concentration=1.0)
    rng = np.random.default_rng(0)
    nudges = [rng.dirichlet(np.ones(2), size=truth.phi.shape[:3]) for _ in range(3)]
    candidates = [(0.7 * truth.phi + 0.3 * nudge, truth.mu) for nudge in nudges] + [(truth.phi, truth.mu)]
    recorded = Recorded(truth, 400, 0, preset="theory", pe="exact", model_class=candidates)
    settings, bonuses = recorded.run.settings, []
    for state in recorded.states[1:]:
        error = total_variation(truth.transitions, state.model.transitions)
        left = state.model.transitions[0] @ error[1].max(axis=-1)
        norm = norms(state.model.phi[0], gram_matrix(state.model, state.data, settings.lam)[0])
        bonuses.append(settings.alpha * norm)
        assert (left <= bonuses[-1] + 1e-12).all()
    assert bonuses[-1].min() < 1.0, "the bound should say something by now"


def test_true_elliptical_potential_of_a_run_is_bounded() -> None:
    """Along a real run, Σ_k min(1, ‖φ*(s_h, a_h)‖²_{W⁻¹}) ≤ 2d log(1 + K/(dλ)) at every step."""
    problem = make_problem("random-simplex", states=8, actions=3, horizon=3, rank=2)
    recorded = Recorded(problem, 80, 0)
    for h in range(2):
        gram, potential = np.eye(problem.rank), 0.0
        for s, a in zip(*recorded.pairs(episode=h + 1, step=h), strict=True):
            feature = problem.phi[h, s, a]
            potential += min(1.0, float(feature @ np.linalg.solve(gram, feature)))
            gram += np.outer(feature, feature)
        assert potential <= 2 * problem.rank * np.log(1 + 80 / problem.rank)


def test_bonus_shrinks_with_visits() -> None:
    problem = random_problem(0)
    recorded = Recorded(problem, 10, 0)
    few = recorded.data
    settings = dataclasses.replace(recorded.run.settings, alpha=0.5, gram="phi")
    many = dataclasses.replace(few, gram_visits=few.gram_visits * 10)
    model = SimplexClass(rank=2).fit(few.counts, None, slack=0.1, rng=np.random.default_rng(0))
    less, _ = elliptical_bonus(settings, model, many)
    more, _ = elliptical_bonus(settings, model, few)
    assert (less <= more + 1e-12).all() and less.sum() < more.sum()
