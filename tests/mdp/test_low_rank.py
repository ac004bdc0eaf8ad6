import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optac
from optac.errors import InvalidInput, InvalidProblem
from optac.mdp import LowRankMDP, MixturePolicy, TabularPolicy, make_problem, uniform_policy
from optac.mdp.validation import largest_integral
from tests.random_problems import random_policy, random_problem


def value_by_enumeration(problem: LowRankMDP, policy: np.ndarray) -> float:
    """Σ over all trajectories of probability times return."""
    horizon, states, actions = problem.shape
    total = 0.0
    for path in itertools.product(itertools.product(range(states), range(actions)), repeat=horizon):
        probability, reward = problem.initial[path[0][0]], 0.0
        for h, (s, a) in enumerate(path):
            probability *= policy[h, s, a]
            reward += problem.rewards[h, s, a]
            if h + 1 < horizon:
                probability *= problem.transitions[h, s, a, path[h + 1][0]]
        total += probability * reward
    return total


@given(st.integers(0, 10_000))
def test_value_equals_the_sum_over_all_trajectories(seed: int) -> None:
    problem = random_problem(seed, horizon=3, states=2, actions=2)
    policy = random_policy(seed, problem.shape)
    assert problem.value(policy) == pytest.approx(value_by_enumeration(problem, policy), abs=1e-12)


@given(st.integers(0, 10_000))
def test_optimal_value_is_the_best_deterministic_policys(seed: int) -> None:
    problem = random_problem(seed, horizon=2, states=2, actions=2)
    choices = itertools.product(range(2), repeat=4)
    best = max(problem.value(np.array(choice).reshape(2, 2)) for choice in choices)
    assert problem.optimal_value == pytest.approx(best, abs=1e-12)
    assert problem.value(problem.optimal_policy) == pytest.approx(best, abs=1e-12)
    assert problem.optimal_q_values[0].max(-1) @ problem.initial == pytest.approx(best, abs=1e-12)


def test_mixture_value_is_the_mean_of_member_values_not_the_value_of_mean_probabilities() -> None:
    problem = make_problem("combination-lock", horizon=2, actions=2)
    opens = problem.optimal_policy
    never = opens[..., ::-1]
    mixture = MixturePolicy([opens, never])
    assert problem.value(mixture) == pytest.approx((problem.value(opens) + problem.value(never)) / 2)
    averaged = problem.value((opens + never) / 2)
    assert abs(averaged - problem.value(mixture)) > 0.1


def test_mixture_draws_one_member_an_episode() -> None:
    members = [np.eye(3)[np.full((2, 1), a)] for a in range(3)]
    rng = np.random.default_rng(0)
    drawn = [MixturePolicy(members).sample(rng).probabilities[0, 0].argmax() for _ in range(3000)]
    assert np.bincount(drawn, minlength=3) / 3000 == pytest.approx(np.full(3, 1 / 3), abs=0.04)


def test_mixture_without_its_members_says_how_to_keep_them() -> None:
    with pytest.raises(InvalidInput, match="keep_members=True"):
        MixturePolicy([], size=5).sample(np.random.default_rng(0))


@given(st.integers(0, 10_000))
def test_value_is_the_reward_weighted_by_occupancy(seed: int) -> None:
    problem = random_problem(seed)
    policy = random_policy(seed, problem.shape)
    occupancy = problem.occupancy(policy)
    assert occupancy.sum(axis=1) == pytest.approx(np.ones(problem.horizon))
    assert (occupancy[..., None] * policy * problem.rewards).sum() == pytest.approx(problem.value(policy))


def test_deterministic_policy_as_integers_is_its_table() -> None:
    problem = random_problem(3)
    choice = problem.optimal_policy.argmax(-1)
    assert problem.value(choice) == problem.value(TabularPolicy(problem.optimal_policy))


def test_callers_arrays_are_neither_modified_nor_remembered() -> None:
    source = random_problem(0)
    phi, mu, rewards = source.phi.copy(), source.mu.copy(), source.rewards.copy()
    before = [array.copy() for array in (phi, mu, rewards)]
    problem = LowRankMDP(phi, mu, rewards)
    value = problem.optimal_value
    assert all((a == b).all() for a, b in zip((phi, mu, rewards), before, strict=True))
    phi[:] = rewards[:] = 0.0
    assert LowRankMDP(before[0], before[1], before[2]).optimal_value == value == problem.optimal_value
    with pytest.raises(ValueError, match="read-only"):
        problem.phi[0, 0, 0, 0] = 1.0


def test_an_axis_the_caller_broadcast_is_not_copied() -> None:
    problem = make_problem("river-swim", horizon=1000)
    assert (
        problem.transitions.strides[0]
        == problem.phi.strides[0]
        == problem.simulator._transitions.strides[0]
        == 0
    )


def broken(what: str) -> dict[str, np.ndarray]:
    problem = random_problem(1)
    arrays = {"phi": problem.phi.copy(), "mu": problem.mu.copy(), "rewards": problem.rewards.copy()}
    if what == "phi shape":
        arrays["phi"] = arrays["phi"][0]
    elif what == "mu shape":
        arrays["mu"] = arrays["mu"][:, :, :-1]
    elif what == "rewards shape":
        arrays["rewards"] = arrays["rewards"][:-1]
    elif what == "nan phi":
        arrays["phi"][1, 2, 0, 1] = np.nan
    elif what == "nan reward":
        arrays["rewards"][1, 2, 0] = np.nan
    elif what == "negative":
        arrays["phi"][1, 2, 0] = [1.5, -0.5]
        arrays["mu"][1, 1] = np.eye(5)[0]
        arrays["mu"][1, 0] = np.eye(5)[1]
    elif what == "unnormalised":
        arrays["phi"][1, 2, 0] *= 0.9
    elif what == "reward":
        arrays["rewards"][1, 2, 0] = 1.00001
    elif what == "phi norm":
        arrays["phi"], arrays["mu"] = 1.2 * arrays["phi"], arrays["mu"] / 1.2
        arrays["phi"][1, 2, 0] = [1.2, 0.0]
    elif what == "mu norm":
        arrays["phi"], arrays["mu"] = arrays["phi"] / 1.5, 1.5 * arrays["mu"]
    return arrays


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("phi shape", r"phi must have shape \(H, S, A, d\); got \(5, 3, 2\)"),
        ("mu shape", r"needs mu of shape \(H, d, S\) = \(4, 2, 5\); got \(4, 2, 4\)"),
        ("rewards shape", r"needs rewards of shape .* got \(3, 5, 3\)"),
        ("nan phi", r"phi has nan at .* \(1, 2, 0, 1\)"),
        ("nan reward", r"rewards has nan at \(h, s, a\) = \(1, 2, 0\)"),
        ("negative", r"negative; .* \(h, s, a\) = \(1, 2, 0\) reaches -0.5"),
        ("unnormalised", r"sum to 1; .* \(h, s, a\) = \(1, 2, 0\) sums to 0.9"),
        ("reward", r"\[0, 1\]; at \(h, s, a\) = \(1, 2, 0\) it is 1.00001"),
        ("phi norm", r"‖phi‖₂ must be at most 1; at \(h, s, a\) = "),
        ("mu norm", r"√d = 1.41421 .* at h = 0 it reaches 2.12132"),
    ],
)
def test_bad_arrays_are_refused_naming_the_first_offender(what: str, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        LowRankMDP(**broken(what))


@pytest.mark.parametrize("initial", [5, -1, [0.5, 0.6, 0, 0, 0], [1.0], [1.5, -0.5, 0, 0, 0]])
def test_bad_initial_states_are_refused(initial: object) -> None:
    source = random_problem(1)
    with pytest.raises(InvalidProblem, match="initial_state"):
        LowRankMDP(source.phi, source.mu, source.rewards, initial)


def test_errors_within_the_tolerance_are_cleaned() -> None:
    source = random_problem(2)
    phi = source.phi * (1 + 5e-7)
    problem = LowRankMDP(phi, source.mu, np.clip(source.rewards + 5e-7, 0, 1 + 9e-7))
    assert problem.transitions.sum(-1) == pytest.approx(np.ones((4, 5, 3)), abs=1e-15)
    assert problem.rewards.max() <= 1.0


@given(st.integers(0, 10_000))
def test_largest_integral_is_attained_at_a_corner(seed: int) -> None:
    mu = np.random.default_rng(seed).normal(size=(2, 6))
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    assert largest_integral(mu) == pytest.approx(np.linalg.norm(corners @ mu.T, axis=1).max())


def test_rotated_features_are_a_low_rank_mdp_too() -> None:
    """The factorisation is free up to an invertible matrix; signs may mix as long as T stays a kernel."""
    source = random_problem(4)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    problem = LowRankMDP(source.phi @ turn, turn.T @ source.mu, source.rewards, source.initial)
    assert problem.optimal_value == pytest.approx(source.optimal_value)
    assert problem.facts["eta_min"] is None


def test_problem_survives_its_file(tmp_path) -> None:
    problem = random_problem(5)
    problem.save(tmp_path / "mine.npz")
    again = optac.make_problem(str(tmp_path / "mine.npz"))
    assert again.optimal_value == pytest.approx(problem.optimal_value, abs=1e-12)


def test_bad_files_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidProblem, match="no such file"):
        make_problem(str(tmp_path / "none.npz"))
    np.savez(tmp_path / "partial.npz", phi=np.ones(3))
    with pytest.raises(InvalidProblem, match="lacks mu, rewards"):
        make_problem(str(tmp_path / "partial.npz"))
    (tmp_path / "noise.npz").write_bytes(b"not a zip")
    with pytest.raises(InvalidProblem, match=r"is not an \.npz file"):
        make_problem(str(tmp_path / "noise.npz"))


@pytest.mark.parametrize("policy", [np.ones((4, 5, 3)), np.full((4, 5, 2), 0.5), np.full((4, 5), 7)])
def test_bad_policies_are_refused(policy: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="polic"):
        random_problem(0).value(policy)


def test_uniform_policy_acts_uniformly() -> None:
    policy = TabularPolicy(uniform_policy(2, 1, 4))
    rng = np.random.default_rng(0)
    acted = np.bincount([policy.act(1, 0, rng) for _ in range(4000)], minlength=4)
    assert acted / 4000 == pytest.approx(np.full(4, 0.25), abs=0.03)
