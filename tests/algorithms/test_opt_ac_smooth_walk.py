"""Opt-AC on a continuous problem: it learns, it bills, it repeats bit by bit, it refuses what makes no sense."""

import json

import numpy as np
import pytest

import optac
from optac.cli import main
from optac.errors import InvalidInput
from optac.mdp.families.smooth_walk import SmoothWalk
from optac.mdp.grid import GridPolicy
from optac.models import FourierChoice, walk_among_decoys
from optac.oracles import evaluate, evaluate_by_regression

SMALL = {"frequencies": 1024, "next_samples": 1024, "candidates": 32}


def solved(iterations=120, seed=0, **settings):
    walk = optac.make_problem("smooth-walk")
    return walk, optac.solve(walk, iterations=iterations, seed=seed, **{**SMALL, **settings})


def test_gap_falls_below_five_percent_where_the_class_holds_the_truth() -> None:
    walk, result = solved()
    assert result.gap <= 0.05 * (walk.optimal_value - walk.uniform_value)
    assert result.last_gap <= result.gap
    assert result.bill.asdict() | {"accuracy": None} == {
        "SL": 240,
        "PE": 120,
        "PP": 0,
        "CP": 0,
        "accuracy": None,
    }
    assert result.episodes == 600
    assert result.certificate is None


def test_same_seed_same_bits() -> None:
    one, two, other = (solved(iterations=5, seed=s)[1] for s in (3, 3, 4))
    np.testing.assert_array_equal(one.last_policy.probabilities, two.last_policy.probabilities)
    assert (one.last_policy.probabilities != other.last_policy.probabilities).any()


def test_policies_act_in_continuous_states_and_are_valued_exactly() -> None:
    walk, result = solved(iterations=5)
    member = result.policy.sample(np.random.default_rng(0))
    assert isinstance(member, GridPolicy) and isinstance(result.last_policy, GridPolicy)
    assert result.last_policy.act(0, np.array([0.3]), np.random.default_rng(0)) in range(walk.actions)
    assert walk.value(result.last_policy) == pytest.approx(result.optimal_value - result.last_gap, rel=1e-12)
    assert walk.value(result.policy) == pytest.approx(result.value, rel=1e-12)


def test_evaluation_by_regression_over_continuous_samples_finds_the_critic() -> None:
    """Against the recursion in the same model on the grid: E_ρ|Q̂ − Q| ≤ 1e-3."""
    walk = optac.make_problem("smooth-walk")
    kernels = walk_among_decoys(walk, 8, FourierChoice(frequencies=1024, next_samples=0))
    rng = np.random.default_rng(0)
    model = kernels.fit(rng.normal(size=(8, 5)), None, slack=0.0, rng=rng)
    rho = walk.uniform_pairs()
    samples = walk.pairs(rng.choice(rho.size, size=300, p=rho.ravel()), rng)
    policy = walk.optimal_policy
    fitted, bill = evaluate_by_regression(
        model, policy, np.array(walk.rewards), rho=rho, samples=samples, accuracy=1e-3
    )
    exact = evaluate(model, policy, np.array(walk.rewards))[0].q_values
    assert np.einsum("sa,hsa->h", rho, np.abs(fitted.q_values - exact)).max() <= 1e-3
    assert (bill.SL, bill.PE) == (1, 1)


def test_interpolating_the_critic_between_grid_points_costs_little() -> None:
    """Q̂ at 500 random states against its interpolation from the grid: at most 0.02 off, 5e-4 on average."""
    walk, result = solved(iterations=30)
    critic, _ = evaluate(result.model, result.last_policy.probabilities, np.array(walk.rewards))
    states = np.random.default_rng(0).random((500, 1))
    for h in range(walk.horizon):
        between = walk.grid.interpolate(critic.q_values[h], states)
        for action in range(walk.actions):
            pairs = np.concatenate([states, np.full((500, 1), action)], axis=-1)
            direct = walk.reward(states) + result.model.at(h, pairs) @ critic.weights[h]
            error = np.abs(between[:, action] - direct)
            assert error.max() < 0.02 and error.mean() < 5e-4


def test_learnt_policy_has_the_same_value_on_a_grid_twice_as_fine() -> None:
    walk, result = solved(iterations=30)
    finer = SmoothWalk(walk.theta, walk.noise, dim=1, actions=walk.actions, cells=2 * walk.grid.cells)
    assert finer.value(result.last_policy.probabilities_at) == pytest.approx(
        walk.value(result.last_policy), abs=2e-4
    )


def test_command_solves_it_and_writes_a_policy_with_its_grid(tmp_path, capsys) -> None:
    arguments = ["solve", "smooth-walk", "kernel=gaussian", "misspecification=0.2", "--iterations", "3"]
    settings = [
        "--set",
        "frequencies=256",
        "--set",
        "next_samples=0",
        "--json",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main([*arguments, *settings]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["problem"] == "smooth-walk" and printed["bill"]["PE"] == 3
    with np.load(tmp_path / "run" / "policy.npz", allow_pickle=False) as stored:
        assert stored["probabilities"].shape == (5, 129, 4) and stored["points"].shape == (129, 1)


@pytest.mark.parametrize(
    ("algorithm", "settings", "message"),
    [
        ("epsilon-greedy", {}, "solve it with opt-ac"),
        ("opt-ac", {"model_class": "simplex"}, "list of candidate kernels"),
        ("opt-ac", {"rank": 3}, "list of candidate kernels"),
        ("opt-ac", {"frequencies": 0.5}, "frequencies=0.5"),
        ("opt-ac", {"frequency": 3}, "frequency"),
    ],
)
def test_what_makes_no_sense_is_refused(algorithm, settings, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        optac.solve(optac.make_problem("smooth-walk"), algorithm, iterations=2, **settings)


def test_fourier_settings_are_unknown_to_finite_problems() -> None:
    with pytest.raises(InvalidInput, match="unknown setting 'frequencies'"):
        optac.solve(optac.make_problem("combination-lock"), iterations=2, frequencies=8)
