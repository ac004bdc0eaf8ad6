"""Each formula against numbers worked out another way."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.stats import norm

from optac.agents import crffsac
from optac.agents.parts import squashed_gaussian
from optac.agents.parts.bonus import elliptical_bonus, inverse_root
from optac.agents.parts.features import fourier_layer, next_state_loss, transition_model
from optac.agents.parts.networks import MLP, Linear, each, elu, ensemble, mlp, towards
from optac.agents.parts.replay import Replay
from optac.agents.parts.soft_actor_critic import (
    Transitions,
    actor_loss,
    critic_loss,
    soft_policy,
    soft_state,
    soft_target,
    temperature_loss,
)
from optac.agents.parts.statistics import RunningMoments, Statistics
from optac.agents.parts.transitions import Later, as_seen
from optac.agents.settings import AgentSettings
from optac.errors import RunFailed
from optac.numpy_policy import Policy
from tests.agents.trees import same


def test_soft_target_takes_the_lower_critic_and_stops_at_a_termination() -> None:
    target = soft_target(
        jnp.array([1.0, 1.0]),
        0.9 * (1 - jnp.array([0.0, 1.0])),
        jnp.array([[4.0, 4.0], [2.0, 2.0]]),
        jnp.array([-1.0, -1.0]),
        jnp.float32(0.5),
    )
    np.testing.assert_allclose(target, [1 + 0.9 * (2 + 0.5), 1.0], rtol=1e-6)


def test_losses_are_their_formulas_by_hand() -> None:
    values = jnp.array([[1.0, 2.0], [3.0, 0.0]])
    assert critic_loss(values, jnp.array([1.0, 1.0])) == pytest.approx((0 + 1) / 2 + (4 + 1) / 2)
    assert actor_loss(values, jnp.array([-1.0, 1.0]), jnp.float32(0.5)) == pytest.approx((-1.5 + 0.5) / 2)
    loss = temperature_loss(jnp.float32(math.log(0.2)), jnp.array([1.0, 3.0]), -1.0)
    assert loss == pytest.approx(0.2 * (-2 + 1))


def test_temperature_rises_when_entropy_is_too_low() -> None:
    gradient = jax.grad(temperature_loss)
    assert gradient(jnp.float32(0.0), jnp.array([5.0]), -1.0) < 0
    assert gradient(jnp.float32(0.0), jnp.array([-5.0]), -1.0) > 0


def test_log_probability_is_that_of_the_squashed_gaussian() -> None:
    actor = mlp([3, 8, 4], key=jax.random.key(0))
    obs = jax.random.normal(jax.random.key(1), (5, 3))
    action, log_probability = squashed_gaussian.sample(actor, obs, key=jax.random.key(2))
    mean, log_std = squashed_gaussian.gaussian(actor, obs)
    u = jnp.arctanh(action)
    expected = norm.logpdf(u, mean, jnp.exp(log_std)) - jnp.log(1 - action**2)
    np.testing.assert_allclose(log_probability, expected.sum(axis=1), atol=1e-3)


def test_log_probability_stays_finite_for_saturated_actions() -> None:
    actor = MLP((Linear(jnp.zeros((1, 2)), jnp.array([50.0, 0.0])),), activate_last=False)
    action, log_probability = squashed_gaussian.sample(actor, jnp.zeros((1, 1)), key=jax.random.key(0))
    assert action[0, 0] == 1.0
    assert jnp.isfinite(log_probability[0])


def test_elu_and_its_slope_are_jaxs_and_never_overflow() -> None:
    x = jnp.array([-200.0, -20.0, -1.5, -1e-3, 0.0, 1e-3, 2.0, 200.0])
    np.testing.assert_allclose(elu(x), jax.nn.elu(x), atol=2e-7)
    slope = jax.grad(lambda x: jnp.sum(elu(x)))(x)
    np.testing.assert_allclose(slope, jnp.where(x > 0, 1.0, jnp.exp(jnp.minimum(x, 0.0))), atol=2e-7)


def test_a_slow_copy_moves_by_its_rate() -> None:
    assert towards(jnp.float32(1.0), jnp.float32(3.0), 0.25) == 1.5


def test_an_ensemble_is_its_members() -> None:
    networks = ensemble(3, [2, 4, 1], key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (5, 2))
    for i in range(3):
        member = jax.tree.map(lambda leaf, i=i: leaf[i], networks)
        np.testing.assert_allclose(each(networks, x)[i], member(x), rtol=1e-5)


def test_next_state_loss_standardises_the_target() -> None:
    model = transition_model(2, 1, 4, 3, key=jax.random.key(0))
    model = jax.tree.map(jnp.zeros_like, model)
    batch = Transitions(
        jnp.zeros((1, 2)), jnp.zeros((1, 1)), jnp.zeros(1), jnp.array([[3.0, 10.0]]), jnp.zeros(1)
    )
    statistics = Statistics(jnp.array([1.0, 4.0]), jnp.array([2.0, 3.0]), jnp.float32(1.0))
    assert next_state_loss(model, batch, statistics) == pytest.approx((1.0 + 4.0) / 2)


def test_a_change_is_counted_in_units_of_its_own_size_whatever_the_spread_of_the_states() -> None:
    model = transition_model(2, 1, 4, 3, key=jax.random.key(0))
    silent = jax.tree.map(jnp.zeros_like, model)  # predicts 0 for every change
    obs = jnp.array([[0.0, 100.0], [0.0, -100.0], [0.0, 100.0], [0.0, -100.0]])
    change = jnp.array([[3.0, 0.01], [-3.0, 0.01], [3.0, -0.01], [-3.0, -0.01]])
    batch = Transitions(obs, jnp.zeros((4, 1)), jnp.zeros(4), obs + change, jnp.zeros(4))
    wide = Statistics(np.zeros(2), np.array([3.0, 100.0]), np.ones(()))
    # Each dimension's changes have its own size as their root mean square; as states the second's would not be seen.
    assert next_state_loss(silent, batch, wide, change=True) == pytest.approx(1.0, rel=1e-3)
    rare = jnp.zeros((100, 2)).at[0].set(jnp.array([1.0, 2.0]))
    batch = Transitions(jnp.zeros((100, 2)), jnp.zeros((100, 1)), jnp.zeros(100), rare, jnp.zeros(100))
    # One change in a hundred is ten root mean squares, of which five count.
    assert next_state_loss(silent, batch, wide, change=True) == pytest.approx(25 / 100, rel=1e-3)


def test_bonus_is_the_elliptical_norm_of_the_ridge_covariance() -> None:
    rng = np.random.default_rng(0)
    phi, weight = rng.normal(size=(50, 4)).astype(np.float32), rng.uniform(1, 3, 50).astype(np.float32)
    covariance = 0.7 * np.eye(4) + sum(w * np.outer(f, f) for w, f in zip(weight, phi, strict=True))
    expected = 0.5 * np.sqrt([f @ np.linalg.solve(covariance, f) for f in phi])
    root = jnp.asarray(inverse_root(phi, weight, ridge=0.7))
    np.testing.assert_allclose(elliptical_bonus(jnp.asarray(phi), root, alpha=0.5), expected, rtol=1e-4)


def test_bonus_is_at_most_one_and_shrinks_with_visits() -> None:
    phi = np.array([[1.0, 0.0]], np.float32)

    def bonus(scale: float, visits: float) -> float:
        root = inverse_root(phi, np.array([visits], np.float32), ridge=1.0)
        return float(elliptical_bonus(jnp.asarray(scale * phi), jnp.asarray(root), alpha=1.0)[0])

    assert bonus(1.0, 1.0) == pytest.approx(math.sqrt(1 / 2))
    assert bonus(1.0, 99.0) == pytest.approx(0.1)
    assert bonus(100.0, 1.0) == 1.0


def test_a_direction_never_seen_keeps_its_bonus_after_a_million_steps() -> None:
    """Features of size 100 along one direction, a million times over: λ is 1e-10 of Λ's largest eigenvalue."""
    seen, unseen = np.array([[70.0, 70.0]], np.float32), np.array([[0.3, -0.3]], np.float32)
    root = jnp.asarray(inverse_root(seen, np.array([1e6], np.float32), ridge=1.0))
    bonus = elliptical_bonus(jnp.asarray(unseen), root, alpha=1.0)
    assert bonus[0] == pytest.approx(0.3 * math.sqrt(2), rel=1e-3)


def test_a_covariance_that_has_no_factor_is_refused_by_the_setting_that_is_too_small() -> None:
    phi = np.random.default_rng(0).normal(size=(8, 128)).astype(np.float32) * 4
    with pytest.raises(RunFailed, match=r"bonus_lambda=1e-08 is lost .* Raise bonus_lambda"):
        inverse_root(phi, np.full(8, 1e6, np.float32), ridge=1e-8)
    phi[3, 5] = np.nan
    with pytest.raises(RunFailed, match="φ is not finite where Λ is rebuilt"):
        inverse_root(phi, np.ones(8, np.float32), ridge=1.0)


def test_fourier_layer_estimates_a_gaussian_kernel() -> None:
    layer = fourier_layer(2, 200_000, 1.0, key=jax.random.key(0))
    points = jnp.array([[0.0, 0.0], [1.0, 0.5]])
    features = layer(points)
    kernel = features[0] @ features[1] / features.shape[1]
    assert kernel == pytest.approx(math.exp(-(1 + 0.25) / (2 * 2)), abs=0.01)


def test_running_moments_are_the_moments_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal(3, 2, (100, 2)).astype(np.float32)
    moments = RunningMoments.empty((2,))
    for block in np.split(rows, [1, 7, 50]):
        moments.add(block)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0, dtype=np.float64), rtol=1e-12)
    np.testing.assert_allclose(moments.std(), rows.std(axis=0, dtype=np.float64), rtol=1e-12)


def test_a_constant_entry_has_spread_one() -> None:
    moments = RunningMoments.empty(())
    moments.add(np.full(10, 5.0, np.float32))
    assert moments.std() == 1.0


def test_replay_forgets_the_oldest_and_numbers_the_rest() -> None:
    replay = Replay.empty(3, 1, 1)
    for i in range(5):
        replay.add(
            np.array([i], np.float32), np.zeros(1, np.float32), float(i), np.zeros(1, np.float32), False
        )
    assert (len(replay), replay.oldest()) == (3, 2)
    np.testing.assert_array_equal(replay.between(2, 5).reward, [2, 3, 4])
    drawn = replay.at(replay.draw((1000,), generator=np.random.default_rng(0)))
    assert set(drawn.reward.tolist()) == {2.0, 3.0, 4.0}


def played(replay: Replay, obs: float, reward: float, next_obs: float, *, terminated: bool = False) -> None:
    as_row = [np.array([x], np.float32) for x in (obs, 0.0, next_obs)]
    replay.add(as_row[0], as_row[1], float(reward), as_row[2], terminated)


def test_rewards_ahead_end_where_the_episode_does_and_where_the_rows_do() -> None:
    replay = Replay.empty(8, 1, 1)
    played(replay, 0, 1, 1)
    played(replay, 1, 2, 2, terminated=True)  # the MDP ends: no value after it, even if the next begins there
    played(replay, 2, 4, 10)
    played(replay, 10, 8, 11)  # a time limit: the value takes over here
    played(replay, 20, 16, 21)
    played(replay, 21, 32, 22)
    played(replay, 22, 64, 23)  # the newest row
    reward, later, discount = replay.ahead(np.arange(7), 3, 0.5)
    np.testing.assert_array_equal(reward, [1 + 1, 2, 4 + 4, 8, 16 + 16 + 16, 32 + 32, 64])
    np.testing.assert_array_equal(later[:, 0], [2, 2, 11, 11, 23, 23, 23])
    np.testing.assert_array_equal(discount, [0, 0, 0.25, 0.5, 0.125, 0.25, 0.5])


def test_rewards_ahead_go_on_around_the_ring_but_not_from_the_newest_row_to_the_oldest() -> None:
    replay = Replay.empty(3, 1, 1)
    for i in range(4):  # slots hold steps 3, 1, 2
        played(replay, i, 10**i, i + 1)
    reward, later, discount = replay.ahead(np.arange(3), 2, 0.1)
    np.testing.assert_allclose(reward, [1000, 10 + 10, 100 + 100])
    np.testing.assert_array_equal(later[:, 0], [4, 3, 4])
    np.testing.assert_allclose(discount, [0.1, 0.01, 0.01])
    played(replay, 4, 5, 2)  # slots hold steps 3, 4, 2: the newest leads to where the oldest began
    np.testing.assert_allclose(replay.ahead(np.array([1]), 2, 0.1)[0], [5])


def test_a_target_of_several_steps_is_the_one_computed_by_hand() -> None:
    """Three rows, n = 2, γ = 1/2: the first is bootstrapped after its second reward, which ended nothing."""
    replay = Replay.empty(3, 1, 1)
    played(replay, 0, 1, 1)
    played(replay, 1, 2, 2)
    played(replay, 2, 4, 3, terminated=True)
    settings = AgentSettings(n_step=2, discount=0.5)
    slots = np.random.default_rng(0).integers(0, 3, (50,))
    batch = Transitions.drawn(replay, (50,), settings, generator=np.random.default_rng(0))
    assert batch.later is not None
    value = jnp.array([0.0, 0.0, 100.0, 1000.0])[batch.later.obs[:, 0].astype(int)]
    target = soft_target(batch.reward, batch.later.discount, value[None], jnp.zeros(50), jnp.float32(0.1))
    by_hand = np.array([1 + 0.5 * 2 + 0.25 * 100, 2 + 0.5 * 4, 4.0])
    np.testing.assert_allclose(target, by_hand[slots])
    np.testing.assert_allclose(batch.next_obs[:, 0], 1.0 + slots)  # φ still predicts the very next state


def test_critics_learn_from_what_came_later_and_features_from_what_came_next() -> None:
    settings = crffsac.Settings(n_step=3, width=8, feature_width=6)
    state = eqx.filter_jit(crffsac.init)(settings, 3, 1, key=jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 3)
    obs, next_obs, later = (jax.random.normal(key, (1, 8, 3)) for key in keys)
    rows = Transitions(obs, jnp.zeros((1, 8, 1)), jnp.ones((1, 8)), next_obs, jnp.zeros((1, 8)))
    ahead = rows._replace(later=Later(later, jnp.full((1, 8), 0.9)))
    statistics = Statistics(np.zeros(3), np.ones(3), np.ones(()))
    update = jax.jit(lambda rows: crffsac.update(settings, state, rows, statistics)[0])
    one, other = update(rows), update(ahead)
    assert same(one.model, other.model)
    assert not same(one.critic, other.critic)
    assert same(other.critic, update(ahead._replace(terminated=jnp.ones((1, 8)))).critic)


def test_what_came_later_is_standardised_as_what_came_next_is() -> None:
    obs = jnp.full((4, 3), 6.0)
    rows = Transitions(obs, jnp.zeros((4, 1)), jnp.ones(4), obs, jnp.zeros(4), Later(obs, jnp.ones(4)))
    statistics = Statistics(np.full(3, 2.0), np.full(3, 4.0), np.ones(()))
    seen, _ = as_seen(AgentSettings(normalise=True, n_step=2), rows, statistics)
    assert seen.later is not None
    np.testing.assert_array_equal(seen.later.obs, jnp.ones((4, 3)))
    np.testing.assert_array_equal(seen.next_obs, seen.later.obs)


def host_policy(actor: MLP) -> Policy:
    state = soft_state(AgentSettings(), actor, actor, key=jax.random.key(0))
    bounds = np.ones(2, np.float32)
    statistics = Statistics(np.zeros(3, np.float32), np.ones(3, np.float32), np.ones((), np.float32))
    return Policy(**soft_policy(AgentSettings(), state, statistics), action_low=-bounds, action_high=bounds)


def test_the_host_policy_acts_as_the_actor() -> None:
    actor = mlp([3, 16, 16, 4], key=jax.random.key(0))
    obs = jax.random.normal(jax.random.key(1), (10, 3))
    mean, _ = squashed_gaussian.gaussian(actor, obs)
    np.testing.assert_allclose(host_policy(actor).mode(np.asarray(obs)), jnp.tanh(mean), atol=1e-6)


def test_the_host_policy_samples_with_the_actors_spread() -> None:
    actor = mlp([3, 16, 16, 4], key=jax.random.key(0))
    obs = np.zeros((20_000, 3), np.float32)
    _, log_std = squashed_gaussian.gaussian(actor, jnp.zeros((1, 3)))
    sampled = host_policy(actor).sample(obs, generator=np.random.default_rng(0))
    spread = np.arctanh(np.clip(sampled, -1 + 1e-6, 1 - 1e-6)).std(axis=0)
    np.testing.assert_allclose(spread, np.exp(log_std[0]), rtol=0.05)
