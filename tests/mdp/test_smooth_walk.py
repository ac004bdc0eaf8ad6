"""`smooth-walk`: its noise, its grid truth, its misspecification, its episodes and policies."""

import numpy as np
import pytest

import optac
from optac.errors import InvalidInput
from optac.mdp.families.smooth_walk import SmoothWalk
from optac.mdp.grid import Grid
from optac.mdp.noise import BumpNoise, GaussianNoise
from optac.mdp.policies import uniform_policy

NOISES = [
    BumpNoise(1, 0.25, 3),
    BumpNoise(2, 0.25, 4),
    GaussianNoise(1, 0.25, 0.09),
    GaussianNoise(2, 0.25, 0.09),
]


def grid_optimal_value(walk: SmoothWalk, cells: int) -> float:
    """V* on a grid of so many cells, row block by row block so that no whole table is held."""
    grid = Grid(walk.dim, cells)
    value = np.zeros(len(grid))
    for h in reversed(range(walk.horizon)):
        continuation = np.empty((len(grid), walk.actions))
        for rows in np.array_split(np.arange(len(grid)), max(1, len(grid) // 100)):
            mass = walk.density(h, grid.points[rows], grid.points) * grid.weights
            continuation[rows] = (mass @ value) / mass.sum(axis=-1)
        value = walk.reward(grid.points) + continuation.max(axis=-1)
    return float(value[grid.index(walk.start)])


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_noise_density_integrates_to_one_and_peaks_at_the_centre(noise) -> None:
    grid = Grid(noise.dim, 400 if noise.dim == 2 else 4000, -0.25, 0.25)
    assert (noise.density(grid.points) * grid.weights).sum() == pytest.approx(1.0, abs=1e-3)
    assert noise.density(np.zeros(noise.dim)) == pytest.approx(noise.peak, rel=1e-12)
    assert noise.density(np.full(noise.dim, 0.2501)) == 0.0


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_characteristic_function_is_the_transform_of_the_density(noise) -> None:
    grid = Grid(noise.dim, 300 if noise.dim == 2 else 4000, -0.25, 0.25)
    t = np.array([[0.0] * noise.dim, [7.0] * noise.dim, [25.0, -11.0][: noise.dim]])
    integral = np.exp(1j * t @ grid.points.T) @ (noise.density(grid.points) * grid.weights)
    np.testing.assert_allclose(noise.characteristic(t), integral.real, atol=1e-3)
    assert np.abs(integral.imag).max() < 1e-10


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_noise_samples_have_the_characteristic_function(noise) -> None:
    samples = noise.sample(np.random.default_rng(0), 40_000)
    t = np.array([[3.0] * noise.dim, [10.0] * noise.dim])
    empirical = np.exp(1j * samples @ t.T).mean(axis=0)
    np.testing.assert_allclose(empirical, noise.characteristic(t), atol=4 / np.sqrt(40_000))


def test_bump_derivative_norm_by_hand() -> None:
    """D = 1, m = 1, ρ = 1: the density ¾(1 − y²) has ∫|−1.5 y| = 1.5."""
    assert BumpNoise(1, 1.0, 1).derivative_norm() == pytest.approx(1.5, rel=1e-6)


def test_bump_derivative_norm_matches_the_plane() -> None:
    """D = 2, m = 2: ∫|∂²ₓ c(1 − x² − y²)²| by brute force."""
    noise = BumpNoise(2, 1.0, 2)
    grid = Grid(2, 600, -1.0, 1.0)
    x, y = grid.points.T
    second = noise.peak * np.abs(-4 * (1 - x**2 - y**2) + 8 * x**2) * (x**2 + y**2 < 1)
    assert noise.derivative_norm() == pytest.approx((second * grid.weights).sum(), rel=1e-2)


@pytest.mark.parametrize("kernel", ["bump", "gaussian"])
@pytest.mark.parametrize("seed", [0, 1])
def test_halving_the_cell_changes_the_optimal_value_by_less_than_a_thousandth(kernel, seed) -> None:
    walk = optac.make_problem("smooth-walk", kernel=kernel, seed=seed)
    finer = grid_optimal_value(walk, 2 * walk.grid.cells)
    assert grid_optimal_value(walk, walk.grid.cells) == pytest.approx(walk.optimal_value, abs=1e-9)
    assert abs(finer - walk.optimal_value) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["bump", "gaussian"])
def test_halving_the_cell_in_the_plane_changes_the_optimal_value_by_less_than_a_thousandth(kernel) -> None:
    walk = optac.make_problem("smooth-walk", dim=2, kernel=kernel)
    assert abs(grid_optimal_value(walk, 2 * walk.grid.cells) - walk.optimal_value) < 1e-3


def test_values_agree_with_episodes_in_continuous_space() -> None:
    """The mean return of 20 000 episodes of the optimal and of the uniform policy, to three standard errors."""
    walk = optac.make_problem("smooth-walk", misspecification=0.5)
    rng = np.random.default_rng(2)
    for policy in (walk.optimal_policy, uniform_policy(*walk.shape)):
        played = walk.simulator.play(policy[None], rng, member=np.zeros(20_000, dtype=np.int64))
        returns = walk.reward(played.states[:-1]).sum(axis=0)
        # Between grid points the optimal policy switches somewhere in a cell, hence the 0.003.
        assert returns.mean() == pytest.approx(walk.value(policy), abs=3 * returns.std() / 141 + 0.003)


def test_misspecification_is_the_sup_distance_to_the_class() -> None:
    walk = optac.make_problem("smooth-walk", misspecification=0.4)
    exact = optac.make_problem("smooth-walk")
    points = walk.grid.points
    distance = max(
        np.abs(walk.density(h, points, points) - exact.density(h, points, points)).max() for h in range(5)
    )
    assert walk.facts["zeta"] == pytest.approx(distance, rel=1e-9)
    assert distance == pytest.approx(0.4, rel=1e-3)
    assert exact.facts["zeta"] == 0.0


def test_densities_stay_inside_and_vanish_on_the_boundary() -> None:
    walk = optac.make_problem("smooth-walk", dim=2, misspecification=1.0)
    edge = walk.grid.points[(walk.grid.points == 0).any(-1) | (walk.grid.points == 1).any(-1)]
    assert walk.density(0, walk.grid.points[::50], edge).max() == 0.0


def test_rows_are_distributions_and_rewards_lie_in_the_unit_interval() -> None:
    walk = optac.make_problem("smooth-walk", dim=2)
    np.testing.assert_allclose(walk.transitions.sum(axis=-1), 1.0, atol=1e-12)
    assert walk.rewards.min() >= 0 and walk.rewards.max() <= 1
    assert walk.optimal_value > 5 * walk.uniform_value


def test_seed_draws_the_instance() -> None:
    one, same, other = (optac.make_problem("smooth-walk", seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.theta, same.theta)
    assert (one.theta != other.theta).all()


def test_policy_is_its_table_on_the_grid_and_a_softmax_of_interpolated_critics_between() -> None:
    walk = optac.make_problem("smooth-walk")
    rng = np.random.default_rng(0)
    critics = rng.normal(size=walk.shape)
    table = np.exp(critics) / np.exp(critics).sum(axis=-1, keepdims=True)
    policy = walk.policy(table)
    np.testing.assert_allclose(policy.probabilities_at(2, walk.grid.points), table[2], rtol=1e-12)
    between = (walk.grid.points[10:11] + walk.grid.points[11:12]) / 2
    logits = (critics[2, 10] + critics[2, 11]) / 2
    expected = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(policy.probabilities_at(2, between)[0], expected, rtol=1e-12)
    drawn = np.bincount([policy.act(2, between[0], rng) for _ in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(drawn, expected, atol=0.03)


def test_value_takes_a_function_of_the_state() -> None:
    walk = optac.make_problem("smooth-walk")
    uniform = walk.value(lambda h, states: np.full((len(states), walk.actions), 0.25))
    assert uniform == pytest.approx(walk.uniform_value, rel=1e-12)


def test_interpolation_is_exact_for_bilinear_functions() -> None:
    grid = Grid(2, 7, -1.0, 2.0)
    states = np.random.default_rng(1).uniform(-1, 2, (50, 2))

    def bilinear(points):
        return 1 + 2 * points[:, 0] - points[:, 1] + 3 * points[:, 0] * points[:, 1]

    np.testing.assert_allclose(grid.interpolate(bilinear(grid.points), states), bilinear(states), atol=1e-12)
    assert grid.weights.sum() == pytest.approx(9.0)


def test_uniform_pairs_are_uniform_in_space() -> None:
    walk = optac.make_problem("smooth-walk")
    rng = np.random.default_rng(3)
    rho = walk.uniform_pairs()
    pairs = walk.pairs(rng.choice(rho.size, size=20_000, p=rho.ravel()), rng)
    assert pairs[:, 0].min() >= 0 and pairs[:, 0].max() <= 1
    np.testing.assert_allclose(np.histogram(pairs[:, 0], 10, (0, 1))[0] / 20_000, 0.1, atol=0.01)
    np.testing.assert_allclose(np.bincount(pairs[:, 1].astype(int)) / 20_000, 0.25, atol=0.015)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dim": 3}, "dim=3"),
        ({"kernel": "box"}, "bump"),
        ({"misspecification": 3.0}, "at most half of that"),
        ({"misspecification": float("nan")}, "misspecification=nan"),
        ({"actions": 1}, "actions=1"),
    ],
)
def test_bad_parameters_are_refused(parameters, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        optac.make_problem("smooth-walk", **parameters)
