"""What the defaults add to "plain": inputs and values of one scale, bounded targets, features; and a delayed actor."""

import dataclasses
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import probe_environments  # noqa: F401  registers the probes
import pytest

import optac
from optac.agents import crffsac, sac
from optac.agents.agent import Agent
from optac.agents.parts import squashed_gaussian
from optac.agents.parts.features import features, next_state_loss, transition_model
from optac.agents.parts.networks import mlp, standardised
from optac.agents.parts.soft_actor_critic import critic_loss, in_units_of, soft_target
from optac.agents.parts.statistics import Returns, RunningMoments, Statistics, value_bound
from optac.agents.parts.transitions import Later, Transitions
from optac.agents.record import record_of
from tests.agents.trees import close, random_batches, same

TINY = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "actor_every": 1,  # compiles in half the time
    "eval_every": 0,
    "log_every": 20,
}
AGENTS = {
    "sac": TINY,
    "crffsac": TINY | {"feature_width": 6},
    "crffsac-bonus": TINY | {"feature_width": 6, "bonus_every": 30, "bonus_samples": 50},
}
PAIRS = {"actor_every": 2, "updates_per_dispatch": 5}
OBS, ACT, BATCH = 3, 2, 16
STATISTICS = Statistics(np.zeros(OBS), np.ones(OBS), np.ones(()), np.full((), 4.0), np.full((), 100.0))


def batches() -> Transitions:
    return random_batches(OBS, ACT, BATCH)


def made(agent: str, env: str = "probe/Drifting-v0", **more: Any) -> Agent:
    return Agent(env, agent=agent, **({"seed": 3} | AGENTS[agent] | more))


def test_observations_are_standardised_and_clipped() -> None:
    statistics = Statistics(np.array([1.0, 4.0]), np.array([2.0, 0.5]), np.ones(()))
    seen = statistics.standardised(jnp.array([[3.0, 4.5], [1.0, -2.0]]))
    np.testing.assert_allclose(seen, [[1.0, 1.0], [0.0, -10.0]])


def test_a_normalised_first_layer_forgets_its_outputs_scale_and_shift() -> None:
    network = mlp([3, 16, 1], normalised=1, key=jax.random.key(0))
    first, last = network.layers
    moved = dataclasses.replace(first, weight=5 * first.weight, bias=5 * first.bias + 2)
    x = 10 * jax.random.normal(jax.random.key(1), (20, 3))
    other = dataclasses.replace(network, layers=(moved, last))
    np.testing.assert_allclose(other(x), network(x), atol=1e-3)
    rows = standardised(x @ first.weight)
    np.testing.assert_allclose(rows.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(rows.var(axis=1), 1, rtol=1e-3)


def test_normalised_features_have_a_bounded_norm() -> None:
    sizes = {"obs": 3, "act": 2, "width": 16, "feature": 12}
    far = 1e3 * jax.random.normal(jax.random.key(1), (50, 5))
    bounded = transition_model(**sizes, normalised=True, key=jax.random.key(0)).phi(far)
    assert float(jnp.linalg.norm(bounded, axis=1).max()) <= np.sqrt(12) + 1e-3
    free = transition_model(**sizes, key=jax.random.key(0)).phi(far)
    assert float(jnp.linalg.norm(free, axis=1).max()) > 100


def test_a_running_return_and_the_largest_that_was_seen() -> None:
    returns = Returns(0.5, RunningMoments.empty(()))
    assert returns.step(1.0, terminated=False, truncated=False) == 1.0
    assert returns.step(1.0, terminated=True, truncated=False) == 1.5
    assert returns.best == 1.5
    assert returns.step(1.0, terminated=False, truncated=False) == 1.0
    assert returns.step(1.0, terminated=False, truncated=True) == 1.5
    assert returns.best == 2.0  # 1.5 / (1 − ½²): cut off, it is taken to have gone on with 1 a step
    assert (returns.total, returns.length) == (0.0, 0)


def test_a_running_return_has_what_was_paid_before_in_it() -> None:
    """Not the return that followed: the state before the last step was worth 10."""
    returns = Returns(0.5, RunningMoments.empty(()))
    for reward in (-1.0, -1.0):
        returns.step(reward, terminated=False, truncated=False)
    assert returns.step(10.0, terminated=True, truncated=False) == returns.best == 9.25


def test_the_spread_of_returns_has_a_floor() -> None:
    returns = Returns(0.5, RunningMoments.empty(()))
    returns.moments.add(np.array([1.0, 1.001]))
    assert returns.spread() == 0.01
    returns.moments.add(np.array([3.0, -1.0]))
    assert returns.spread() == pytest.approx(np.std([1.0, 1.001, 3.0, -1.0]))


def test_no_next_state_is_worth_more_than_the_bound() -> None:
    target = soft_target(
        jnp.array([1.0, 1.0, 1.0]),
        0.5 * (1 - jnp.array([0.0, 0.0, 1.0])),
        jnp.array([[9.0, 3.0, 9.0], [8.0, 4.0, 9.0]]),
        jnp.zeros(3),
        jnp.float32(0.1),
        bound=jnp.float32(5.0),
    )
    np.testing.assert_allclose(target, [1 + 0.5 * 5, 1 + 0.5 * 3, 1.0])


def test_the_bound_leaves_room_for_a_bonus_and_ends_with_discounting() -> None:
    chosen = record_of("sac").choose({"discount": 0.9})
    assert value_bound(chosen, STATISTICS, 0.0) == 100.0
    assert value_bound(chosen, STATISTICS, 2.0) == pytest.approx(120.0)
    assert value_bound(record_of("sac").choose({"discount": 1.0}), STATISTICS, 0.0) is None
    assert value_bound(record_of("sac").choose({"return_bound": False}), STATISTICS, 0.0) is None


def test_values_stay_where_they_are_when_their_unit_changes() -> None:
    chosen = record_of("sac").choose(TINY)
    fresh = eqx.filter_jit(sac.init)(chosen, OBS, ACT, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (BATCH, OBS + ACT))
    begun = in_units_of(fresh, jnp.float32(4.0))
    assert same(begun.critic, fresh.critic)
    later = in_units_of(begun, jnp.float32(7.0))
    assert later.value_scale == 7.0
    for name in ("critic", "target_critic"):
        before, after = (sac.q_values(getattr(state, name), x) for state in (begun, later))
        np.testing.assert_allclose(7 * after, 4 * before, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("agent", ["sac", "crffsac"])
def test_the_critics_learn_in_units_of_the_returns_spread(agent: str) -> None:
    """All rewards and returns ten times as large, no entropy: the same critics in a unit ten times as large."""
    module = {"sac": sac, "crffsac": crffsac}[agent]
    chosen = record_of(agent).choose(AGENTS[agent] | {"initial_temperature": 1e-8})
    state = eqx.filter_jit(module.init)(chosen, OBS, ACT, key=jax.random.key(0))
    every = batches()
    larger = every._replace(reward=10 * every.reward)
    tenfold = STATISTICS._replace(
        return_std=10 * STATISTICS.return_std, best_return=10 * STATISTICS.best_return
    )
    one, _ = eqx.filter_jit(module.update)(chosen, state, every, STATISTICS)
    other, _ = eqx.filter_jit(module.update)(chosen, state, larger, tenfold)
    assert close(one.critic, other.critic, rtol=1e-4, atol=1e-6)
    assert not same(one.critic, state.critic)


def test_the_critics_see_the_raw_input_where_features_say_nothing() -> None:
    chosen = record_of("crffsac").choose(AGENTS["crffsac"] | {"feature_learning_rate": 0.0})
    state = eqx.filter_jit(crffsac.init)(chosen, OBS, ACT, key=jax.random.key(1))
    blind = jax.tree.map(jnp.zeros_like, state.slow_phi)
    state = dataclasses.replace(state, slow_phi=blind, model=dataclasses.replace(state.model, phi=blind))
    every = batches()
    turned = every._replace(obs=jnp.roll(every.obs, 1, axis=1), action=jnp.roll(every.action, 1, axis=1))
    update = jax.jit(lambda rows: crffsac.update(chosen, state, rows, STATISTICS)[0])
    assert not same(update(every).critic, update(turned).critic)


@pytest.mark.parametrize("agent", ["sac", "crffsac"])
def test_when_it_is_not_the_actors_turn_actor_and_temperature_rest(agent: str) -> None:
    module = {"sac": sac, "crffsac": crffsac}[agent]
    chosen = record_of(agent).choose(AGENTS[agent])
    state = eqx.filter_jit(module.init)(chosen, OBS, ACT, key=jax.random.key(0))
    after, _ = eqx.filter_jit(module.update)(chosen, state, batches(), STATISTICS, actor=False)
    for name in ("actor", "actor_optimiser", "log_temperature", "temperature_optimiser"):
        assert same(getattr(state, name), getattr(after, name)), name
    assert not same(state.critic, after.critic)


@pytest.mark.parametrize("agent", AGENTS)
def test_updates_come_in_whole_rounds_and_one_is_made_up_for(agent: str) -> None:
    learnt = made(agent, **PAIRS)
    counts = []
    for steps in (20, 5, 4, 1, 11):
        learnt.learn(steps)
        state = learnt._learner.state
        turns = int(state.actor_optimiser[0].count)
        assert 2 * turns == int(state.updates)
        counts.append(int(state.updates))
    assert counts == [0, 4, 8, 10, 20]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_stopped_between_two_updates_of_a_round_goes_on_to_the_bit(agent: str, tmp_path: Path) -> None:
    whole = made(agent, **PAIRS).learn(45).learn(56)
    made(agent, **PAIRS).learn(45).save(tmp_path / "a.ckpt")
    resumed = Agent.load(tmp_path / "a.ckpt")
    assert int(resumed._learner.state.updates) == 24  # of 25 steps past the random ones
    resumed.learn(56)
    assert resumed.parameters_sha256 == whole.parameters_sha256
    assert resumed._learner.returns == whole._learner.returns


@pytest.mark.parametrize("agent", AGENTS)
def test_an_exported_policy_standardises_as_the_agent_does(agent: str, tmp_path: Path) -> None:
    learnt = made(agent, "optac/HalfCheetah-v0", width=64, learning_starts=40).learn(40)
    learnt.export(tmp_path / "policy.npz")
    policy = optac.numpy_policy.load(tmp_path / "policy.npz")
    rows = (np.random.default_rng(0).normal(size=(500, 17)) * 30).astype(np.float32)
    np.testing.assert_array_equal(policy(rows), learnt.predict(rows)[0], strict=True)
    learner = learnt._learner
    seen = learner.statistics().standardised(jnp.asarray(rows))
    assert float(jnp.mean(jnp.abs(seen) == 10)) > 0.05
    mean, _ = squashed_gaussian.gaussian(learner.state.actor, seen)
    np.testing.assert_allclose(learner.policy.mode(rows), jnp.tanh(mean), atol=1e-5)


def test_the_bonus_sees_the_features_that_its_covariance_was_built_from() -> None:
    chosen = record_of("crffsac-bonus").choose(AGENTS["crffsac-bonus"])
    state = eqx.filter_jit(crffsac.init)(chosen, OBS, ACT, key=jax.random.key(1))
    rows = jax.tree.map(lambda x: np.asarray(x[-1]), batches())
    state = crffsac.rebuild_covariance(chosen, state, rows.obs, rows.action, np.full(BATCH, 1e6, np.float32))
    _, seen = eqx.filter_jit(crffsac.update)(chosen, state, batches(), STATISTICS)
    other = eqx.filter_jit(crffsac.init)(chosen, OBS, ACT, key=jax.random.key(2)).slow_phi
    moved = dataclasses.replace(state, slow_phi=other)
    _, kept = eqx.filter_jit(crffsac.update)(chosen, moved, batches(), STATISTICS)
    _, drifted = eqx.filter_jit(crffsac.update)(
        chosen, dataclasses.replace(moved, bonus_phi=other), batches(), STATISTICS
    )
    # A million visits leave next to nothing of it, however the critics' φ has moved since.
    assert kept.bonus_mean == seen.bonus_mean < 0.001 < drifted.bonus_mean


@pytest.mark.parametrize(("spread", "unit"), [(0.01, 0.5), (3.0, 3.0)])
def test_where_the_bonus_is_larger_than_all_returns_values_are_counted_in_its_size(
    spread: float, unit: float
) -> None:
    chosen = record_of("crffsac-bonus").choose({**AGENTS["crffsac-bonus"], "bonus_scale": 0.5})
    state = eqx.filter_jit(crffsac.init)(chosen, OBS, ACT, key=jax.random.key(1))
    statistics = STATISTICS._replace(return_std=jnp.float32(spread))
    state, _ = eqx.filter_jit(crffsac.update)(chosen, state, batches(), statistics)
    assert float(state.value_scale) == unit


def own_features(**more: Any) -> crffsac.Settings:
    given = {"own_features": True, "width": 8, "feature_width": 6, "batch_size": BATCH}
    return crffsac.Settings.choose(given | more)


def test_a_critic_with_features_of_its_own_does_not_depend_on_the_others() -> None:
    settings = own_features()
    state = eqx.filter_jit(crffsac.init)(settings, OBS, ACT, key=jax.random.key(1))
    obs, action = batches().obs[0], batches().action[0]
    phi = features(state.slow_phi, obs, action)
    assert phi.shape == (2, BATCH, 6) and bool((phi[0] != phi[1]).any(axis=1).all())
    # Learnt apart: without the other, a φ gets the same gradient, up to the mean over both.
    whole = eqx.filter_jit(jax.grad(next_state_loss))(state.model, one_batch(), STATISTICS)
    alone = jax.tree.map(lambda leaf: leaf[1], state.model)
    single = eqx.filter_jit(jax.grad(next_state_loss))(alone, one_batch(), STATISTICS)
    for both, one in zip(jax.tree.leaves(whole), jax.tree.leaves(single), strict=True):
        np.testing.assert_allclose(2 * both[1], one, rtol=1e-4, atol=1e-7)


def one_batch() -> Transitions:
    return jax.tree.map(lambda x: x[0], batches())


def test_the_bonus_sees_the_features_of_all_critics() -> None:
    settings = own_features(bonus=True)
    state = eqx.filter_jit(crffsac.init)(settings, OBS, ACT, key=jax.random.key(1))
    assert state.inverse_root.shape == (12, 12)
    rows = one_batch()
    state = crffsac.rebuild_covariance(
        settings, state, np.asarray(rows.obs), np.asarray(rows.action), np.ones(BATCH, np.float32)
    )
    phi = np.hstack(features(state.slow_phi, rows.obs, rows.action))
    covariance = np.eye(12) + phi.T @ phi
    expected = np.minimum(np.sqrt(np.einsum("ij,jk,ik->i", phi, np.linalg.inv(covariance), phi)), 1.0)
    _, info = eqx.filter_jit(crffsac.update)(settings, state, batches(), STATISTICS)
    np.testing.assert_allclose(info.bonus_mean, expected.mean(), rtol=1e-4)


def test_errors_far_beyond_the_median_count_linearly() -> None:
    """Errors 0, 1, −1, 20: the median of their sizes is 1, and what exceeds 5 has the slope 10 of 5² there."""
    values = jnp.array([[0.0, 1.0, -1.0, 20.0]])
    bootstrapped = jnp.zeros(4, bool)
    loss = critic_loss(values, jnp.zeros(4), exact=bootstrapped)
    assert float(loss) == pytest.approx((0 + 1 + 1 + (2 * 5 * 20 - 5**2)) / 4)
    slope = jax.grad(lambda v: critic_loss(v, jnp.zeros(4), exact=bootstrapped))(values)
    np.testing.assert_allclose(slope[0], np.array([0, 2, -2, 10]) / 4, rtol=1e-6)
    # In another unit it is the same loss, in squares of that unit.
    assert float(
        critic_loss(4 * values, jnp.zeros(4), jnp.float32(4.0), exact=bootstrapped)
    ) == pytest.approx(float(loss))


def test_an_error_at_the_end_of_the_mdp_counts_in_full_however_large() -> None:
    """Its target is a reward that was paid, not a guess: 0, 1, −1 and 20 as above, the 20 where the MDP ended."""
    ended = jnp.array([False, False, False, True])
    loss = critic_loss(jnp.array([[0.0, 1.0, -1.0, 20.0]]), jnp.zeros(4), exact=ended)
    assert float(loss) == pytest.approx((0 + 1 + 1 + 20**2) / 4)


@pytest.mark.parametrize("n_step", [1, 2])
def test_what_an_update_counts_in_full_is_where_the_mdp_ended(n_step: int) -> None:
    losses = {}
    for ended in (0.0, 1.0):
        rows = batches()
        rows = rows._replace(
            reward=rows.reward.at[0, 0].set(1e3), terminated=jnp.zeros_like(rows.reward).at[0, 0].set(ended)
        )
        if n_step > 1:
            rows = rows._replace(later=Later(rows.next_obs, 0.5 * (1 - rows.terminated)))
        settings = sac.Settings.choose({"width": 8, "batch_size": BATCH, "n_step": n_step})
        state = eqx.filter_jit(sac.init)(settings, OBS, ACT, key=jax.random.key(1))
        _, info = eqx.filter_jit(sac.update)(settings, state, rows, STATISTICS)
        losses[ended] = float(info.critic_loss)
    assert losses[1.0] > 20 * losses[0.0]


def test_one_huge_error_moves_the_critics_no_more_than_a_large_one_does() -> None:
    rows = batches()
    rows = rows._replace(reward=rows.reward.at[0, 0].set(1e4))
    losses = {}
    for huber in (True, False):
        settings = sac.Settings.choose({"width": 8, "batch_size": BATCH, "huber_loss": huber})
        state = eqx.filter_jit(sac.init)(settings, OBS, ACT, key=jax.random.key(1))
        _, info = eqx.filter_jit(sac.update)(settings, state, rows, STATISTICS)
        losses[huber] = float(info.critic_loss)
    assert losses[True] < 0.05 * losses[False]


def test_features_learn_in_the_random_start_and_nothing_else_does() -> None:
    early, late = (
        made("crffsac", env="Pendulum-v1", learning_starts=600, predict_change=False, early_features=chosen)
        .learn(590)
        ._learner
        for chosen in (True, False)
    )
    unmoved = ("actor", "critic", "target_critic", "critic_optimiser", "updates", "key")
    assert all(same(getattr(early.state, name), getattr(late.state, name)) for name in unmoved)
    assert same(early.state.slow_phi, early.state.model.phi), (
        "the critics begin on φ as it is, not on an old copy"
    )
    rows = early.replay.at(np.arange(590))
    seen = early.statistics().standardised(jnp.asarray(rows.obs))
    after = early.statistics().standardised(jnp.asarray(rows.next_obs))
    batch = Transitions(seen, jnp.asarray(rows.action), jnp.asarray(rows.reward), after, jnp.zeros(590))
    plain = Statistics(np.zeros(3), np.ones(3), np.ones(()))
    learnt, untaught = (float(next_state_loss(one.state.model, batch, plain)) for one in (early, late))
    assert learnt < 0.5 * untaught


def test_a_run_cut_in_its_random_start_goes_on_to_the_same_features(tmp_path: Path) -> None:
    whole = made("crffsac").learn(60)
    first = made("crffsac").learn(10)
    first.save(tmp_path / "half")
    again = Agent.load(tmp_path / "half").learn(50)
    assert same(whole._learner.state, again._learner.state)
