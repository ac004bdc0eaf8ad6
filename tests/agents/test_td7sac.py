"""TD7's embeddings and priorities by hand, and that replay, checkpoints and the exported policy follow them."""

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
from optac.agents import sac, td7sac
from optac.agents.parts import squashed_gaussian
from optac.agents.parts.embeddings import Encoder, Joined, avg_l1_norm, next_embedding_loss
from optac.agents.parts.lap import lap_loss, lap_priority
from optac.agents.parts.networks import MLP, Linear
from optac.agents.parts.replay import Replay
from optac.agents.parts.soft_actor_critic import Views, soft_update
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions
from optac.agents.record import AgentRecord
from optac.agents.training import checkpoint, checkpoints
from optac.agents.training.store import CheckpointStore, ResumeWarning, learner_of
from optac.errors import RunFailed
from tests.agents.trees import random_batches, same

TINY = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "actor_every": 1,
    "embedding_width": 4,
    "target_every": 7,
    "eval_every": 0,
    "replay_capacity": 60,
}
OBS, ACT, BATCH = 3, 2, 8
STATISTICS = Statistics(jnp.zeros(OBS), jnp.ones(OBS), jnp.float32(1.0))


def linear(weight: Any, bias: Any) -> Linear:
    return Linear(jnp.array(weight, jnp.float32), jnp.array(bias, jnp.float32))


def one_layer(weight: Any, bias: Any) -> MLP:
    return MLP((linear(weight, bias),), activate_last=False)


def by_hand(pair: Any) -> Encoder:
    """f the identity on two numbers, g linear on them and an action."""
    return Encoder(one_layer(np.eye(2), [0.0, 0.0]), one_layer(pair, [0.0, 0.0]))


ONE = Transitions(
    jnp.array([[3.0, -1.0]]), jnp.array([[0.5]]), jnp.zeros(1), jnp.array([[0.0, 4.0]]), jnp.zeros(1)
)


def batches(key: int = 0) -> Transitions:
    return random_batches(OBS, ACT, BATCH, seed=key)


def test_the_agent_is_one_short_file() -> None:
    assert len(Path(td7sac.__file__).read_text().splitlines()) < 120


def test_avg_l1_norm_divides_by_the_mean_absolute_value() -> None:
    rows = jnp.array([[3.0, -1.0], [0.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(avg_l1_norm(rows), [[1.5, -0.5], [0.0, 2.0], [0.0, 0.0]], rtol=1e-6)


def test_the_embedding_loss_is_its_formula_by_hand() -> None:
    """z_s = (1.5, −0.5), z_s' = (0, 2), z_sa = (1.5 + 2·0.5, −0.5)."""
    encoder = by_hand([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    loss, gradient = jax.value_and_grad(next_embedding_loss)(encoder, ONE)
    assert loss == pytest.approx((2.5**2 + 2.5**2) / 2)
    np.testing.assert_allclose(gradient.of_pair.layers[0].bias, [2.5, -2.5], rtol=1e-6)


def test_the_next_states_embedding_is_a_constant_to_its_loss() -> None:
    """With a g that does not look at z_s, f is in the target alone, and nothing moves it."""
    gradient = jax.grad(next_embedding_loss)(by_hand([[0.0, 0.0], [0.0, 0.0], [2.0, 1.0]]), ONE)
    assert not np.any(gradient.of_state.layers[0].weight)
    assert np.any(gradient.of_pair.layers[0].weight)


def test_critics_see_both_embeddings_and_the_pair_actors_that_of_the_state() -> None:
    encoder = by_hand([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    np.testing.assert_allclose(
        encoder.for_critic(ONE.obs, ONE.action), [[3, -1, 0.5, 2.5, -0.5, 1.5, -0.5]], rtol=1e-6
    )
    np.testing.assert_allclose(encoder.for_actor(ONE.obs), [[3, -1, 1.5, -0.5]], rtol=1e-6)
    network = Joined(
        one_layer([[1.0], [10.0], [100.0]], [0.0]).layers, False, first=linear([[1.0, 1.0]], [0.0, 2.0])
    )  # x = 2 becomes (2, 4), then (2, 4)/3
    assert network(jnp.array([2.0, 0.5])) == pytest.approx(np.array([2 / 3 + 40 / 3 + 50]))


def test_the_critics_loss_and_the_priorities_are_laps() -> None:
    values, target = jnp.array([[1.5, 4.0], [-1.0, 1.0]]), jnp.ones(2)
    assert lap_loss(values, target, None) == pytest.approx((0.125 + 3) / 2 + (2 + 0) / 2)
    assert lap_loss(values, target, jnp.float32(2.0)) == pytest.approx((0.03125 + 1.5) / 2 + (1 + 0) / 2)
    np.testing.assert_allclose(lap_priority(jnp.array([0.3, 1.0, 32.0]), 0.4), [1.0, 1.0, 4.0], rtol=1e-6)


@pytest.mark.parametrize("scaled", [False, True])
def test_an_update_keeps_the_larger_error_of_each_row(scaled: bool) -> None:
    """With γ = 0 the target is the reward."""
    settings = td7sac.Settings.choose(TINY | {"discount": 0.0, "value_scale": scaled})
    state = eqx.filter_jit(td7sac.init)(settings, OBS, ACT, key=jax.random.key(0))
    batch = jax.tree.map(lambda x: x[-1], batches())
    seen = state.encoders.fixed.for_critic(batch.obs, batch.action)
    statistics = STATISTICS._replace(return_std=jnp.float32(4.0))
    after, _ = jax.jit(lambda s: td7sac.update(settings, s, batches(), statistics, actor=False))(state)
    values = sac.q_values(state.critic, seen)
    expected = np.abs(values - batch.reward / (4.0 if scaled else 1.0)).max(axis=0)
    np.testing.assert_allclose(after.errors, expected, rtol=1e-4)
    uniform = td7sac.Settings.choose(TINY | {"prioritised": False})
    assert td7sac.init(uniform, OBS, ACT, key=jax.random.key(0)).errors is None


def test_copies_stand_still_and_are_replaced_together() -> None:
    settings = td7sac.Settings.choose(TINY | {"target_every": 3})
    state = eqx.filter_jit(td7sac.init)(settings, OBS, ACT, key=jax.random.key(0))
    update = jax.jit(lambda s, rows: td7sac.update(settings, s, rows, STATISTICS)[0])
    states = [state]
    for i in range(6):
        states.append(update(states[-1], batches(i)))
    assert all(same(s.encoders.fixed, state.encoders.learnt) for s in states[:3])
    assert not same(states[2].encoders.learnt, state.encoders.learnt)
    assert all(same(s.target_critic, state.target_critic) for s in states[:3])
    for s in states[3:6]:
        assert same(s.encoders.fixed, states[3].encoders.learnt)
        assert same(s.encoders.target, state.encoders.learnt)
    for copied, network in zip(
        jax.tree.leaves(states[3].target_critic), jax.tree.leaves(states[3].critic), strict=True
    ):
        np.testing.assert_allclose(copied, network, atol=1e-6)
    assert same(states[6].encoders.fixed, states[6].encoders.learnt)
    assert same(states[6].encoders.target, states[3].encoders.learnt)


def test_target_critics_see_what_the_agent_says_they_see() -> None:
    """Where they see nothing but zeros, which next observations there are is no matter to the critics."""
    settings = sac.Settings.choose({"width": 8, "batch_size": BATCH, "return_bound": False})
    state = eqx.filter_jit(sac.init)(settings, OBS, ACT, key=jax.random.key(0))
    actor = jax.tree.map(jnp.zeros_like, state.actor)  # so that a' is the same everywhere
    state = dataclasses.replace(state, actor=actor)

    def critic(views: Views, rows: Transitions) -> MLP:
        batch = jax.tree.map(lambda x: x[-1], rows)
        return soft_update(settings, state, batch, STATISTICS, views, actor=False)[0].critic

    rows = batches()
    other = rows._replace(next_obs=rows.next_obs + 1.0)
    seen = Views(sac.joined, sac.q_values)
    blind = seen._replace(target=lambda obs, action: 0 * sac.joined(obs, action))
    assert not same(critic(seen, rows), critic(seen, other))
    assert same(critic(blind, rows), critic(blind, other))


def filled(capacity: int, rows: int) -> Replay:
    replay = Replay.empty(capacity, 1, 1)
    for i in range(rows):
        replay.add(np.full(1, float(i)), np.zeros(1), float(i), np.zeros(1), False)
    return replay


def shares(replay: Replay, draws: int = 70_000) -> np.ndarray:
    slots = replay.draw((draws,), generator=np.random.default_rng(0))
    return np.bincount(slots, minlength=len(replay)) / draws


def test_rows_are_drawn_in_proportion_and_new_ones_like_the_largest() -> None:
    replay = filled(4, 3)
    np.testing.assert_allclose(shares(replay), [1 / 3] * 3, atol=0.01)
    replay.prioritise(np.array([0, 1]), np.array([1.0, 2.0], np.float32))
    np.testing.assert_allclose(shares(replay), [1 / 5, 2 / 5, 2 / 5], atol=0.01)
    replay.prioritise(np.array([[2], [2]]), np.array([[9.0], [4.0]], np.float32))  # the later counts
    np.testing.assert_allclose(shares(replay), [1 / 7, 2 / 7, 4 / 7], atol=0.01)
    for i in range(2):  # the second takes the place of row 0
        replay.add(np.zeros(1), np.zeros(1), float(i), np.zeros(1), False)
    np.testing.assert_allclose(shares(replay), [4 / 14, 2 / 14, 4 / 14, 4 / 14], atol=0.01)


@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan, np.inf])
def test_an_unsound_priority_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not above 0 and finite"):
        filled(4, 3).prioritise(np.array([0]), np.array([wrong], np.float32))


def test_an_unsound_priority_ends_the_run_with_the_agents_name() -> None:
    bad = dataclasses.replace(td7sac.AGENT, name="mine", priorities=lambda settings, state: 0 * state.errors)
    with pytest.raises(
        RunFailed, match="not above 0 and finite at step 30: fix `priorities` of the agent 'mine'"
    ):
        optac.Agent("probe/Drifting-v0", agent=bad, **TINY).learn(40)


def by_reward() -> AgentRecord:
    """A row's priority is 1 more than the size of its reward, so that each can be checked."""

    def update(settings: Any, state: Any, rows: Transitions, statistics: Statistics, *, actor: bool) -> Any:
        state, info = td7sac.update(settings, state, rows, statistics, actor=actor)
        return dataclasses.replace(state, errors=jnp.abs(rows.reward[-1]) + 1), info

    return dataclasses.replace(td7sac.AGENT, update=update, priorities=lambda settings, state: state.errors)


def test_every_row_that_was_learnt_from_has_the_priority_of_its_own_update() -> None:
    """The first block has room for twelve updates, in rounds of three, and one round is made."""
    settings = TINY | {"actor_every": 3, "learning_starts": 26, "batch_size": 5}
    agent = optac.Agent("Pendulum-v1", agent=by_reward(), **settings).learn(30)
    replay = agent._learner.replay
    assert replay.priorities is not None
    for most in (3 * 5, 60):
        given = np.flatnonzero(replay.priorities)
        assert most / 2 < len(given) <= most
        np.testing.assert_array_equal(replay.priorities[given], np.abs(replay.rows.reward[given]) + 1)
        agent.learn(25)


def test_priorities_are_saved_and_a_resumed_run_draws_the_same(tmp_path: Path) -> None:
    """Of 80 rows the last 60 are held, so that the newest are before the oldest."""
    agent = optac.Agent("probe/Drifting-v0", agent="td7sac", **TINY)
    agent.learn(80).save(tmp_path / "saved")
    loaded = optac.load(tmp_path / "saved")
    assert isinstance(loaded, optac.Agent)
    held = agent._learner.replay
    np.testing.assert_array_equal(loaded._learner.replay.priorities, held.priorities)
    assert held.priorities is not None and len(set(held.priorities)) > 10
    drawn = [a._learner.replay.draw((99,), generator=np.random.default_rng(1)) for a in (agent, loaded)]
    np.testing.assert_array_equal(*drawn)
    assert loaded.learn(30).parameters_sha256 == agent.learn(30).parameters_sha256
    np.testing.assert_array_equal(loaded._learner.replay.priorities, held.priorities)


def test_without_its_replay_an_agent_goes_on_with_all_rows_alike(tmp_path: Path) -> None:
    agent = optac.Agent("probe/Drifting-v0", agent="td7sac", **TINY).learn(60)
    agent.save(tmp_path / "saved", replay=False)
    loaded = optac.load(tmp_path / "saved")
    assert isinstance(loaded, optac.Agent) and loaded._learner.replay.priorities is None
    assert loaded.learn(20).steps == 80


def test_after_a_loss_of_rows_those_left_are_drawn_alike(tmp_path: Path) -> None:
    """Rows that are left have new numbers, and priorities are kept by the old ones."""
    agent = optac.Agent("probe/Drifting-v0", agent="td7sac", **TINY)
    store = CheckpointStore(tmp_path, {})
    for _ in range(2):
        store.save(agent.learn(25)._learner)
    newest = checkpoints.checkpoint_path(tmp_path, 50)
    found = checkpoint.load(newest, checkpoints.pieces_folder(tmp_path))
    whole = learner_of(found, agent._learner.chosen, agent._learner.env)
    np.testing.assert_array_equal(whole.replay.priorities, agent._learner.replay.priorities)
    with pytest.warns(ResumeWarning, match="rows of replay are lost"):
        left = learner_of(
            dataclasses.replace(found, damaged=found.pieces[:1]), agent._learner.chosen, agent._learner.env
        )
    assert len(left.replay) == 25 and left.replay.priorities is None


def test_agents_that_give_no_priorities_draw_uniformly() -> None:
    agent = optac.Agent("probe/Drifting-v0", agent="td7sac", prioritised=False, **TINY).learn(40)
    assert agent._learner.replay.priorities is None


def test_what_acts_is_the_actor_on_the_fixed_embedding() -> None:
    agent = optac.Agent("probe/Drifting-v0", agent="td7sac", **TINY).learn(80)
    learner = agent._learner
    rows = np.random.default_rng(0).normal(size=(20, learner.observation.size)).astype(np.float32)
    seen = learner.state.encoders.fixed.for_actor(learner.statistics().standardised(jnp.asarray(rows)))
    mean, _ = squashed_gaussian.gaussian(learner.state.actor, seen)
    np.testing.assert_allclose(learner.policy.mode(rows), jnp.tanh(mean), atol=1e-5)
    stale = learner.state.encoders.target.for_actor(learner.statistics().standardised(jnp.asarray(rows)))
    other, _ = squashed_gaussian.gaussian(learner.state.actor, stale)
    assert np.abs(np.tanh(other) - learner.policy.mode(rows)).max() > 1e-4
