"""Which loss moves what, and that nothing in a state is idle."""

import dataclasses
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from optac.agents import crffsac, sac
from optac.agents.parts import squashed_gaussian
from optac.agents.parts.features import features, next_state_loss, side_by_side
from optac.agents.parts.networks import adam_step
from optac.agents.parts.soft_actor_critic import critic_loss, soft_target
from optac.agents.parts.statistics import Statistics
from optac.agents.parts.transitions import Transitions
from optac.agents.record import record_of
from tests.agents.trees import close, random_batches, same

SMALL = {"width": 8, "batch_size": 16}
OBS, ACT, BATCH = 3, 2, 16


def settings(agent: str, **more: Any) -> Any:
    features = {} if agent == "sac" else {"feature_width": 6}
    return record_of(agent).choose(SMALL | features | more)


def batches(key: int = 0, count: int = 1) -> Transitions:
    rows = random_batches(OBS, ACT, BATCH, count=count, seed=key)
    return rows._replace(terminated=rows.terminated.at[:, 0].set(1.0))


STATISTICS = Statistics(jnp.zeros(OBS), jnp.ones(OBS), jnp.float32(2.0))


@cache
def compiled(chosen: Any) -> tuple[Any, Any]:
    module = crffsac if isinstance(chosen, crffsac.Settings) else sac
    init = jax.jit(lambda key: module.init(chosen, OBS, ACT, key=key))
    return init, jax.jit(lambda s: module.update(chosen, s, batches(), STATISTICS)[0])


def step(agent: str, state: Any = None, **more: Any) -> tuple[Any, Any]:
    init, update = compiled(settings(agent, **more))
    before = init(jax.random.key(1)) if state is None else state
    return before, update(before)


@pytest.mark.parametrize("agent", ["sac", "crffsac", "crffsac-bonus"])
def test_an_update_moves_every_network(agent: str) -> None:
    before, after = step(agent)
    moving = ["actor", "critic", "target_critic", "log_temperature"]
    for name in moving + (["model", "slow_phi"] if agent != "sac" else []):
        assert not same(getattr(before, name), getattr(after, name)), name


@pytest.mark.parametrize("agent", ["crffsac", "crffsac-bonus"])
def test_rl_losses_do_not_move_the_features(agent: str) -> None:
    before, after = step(agent, feature_learning_rate=0.0)
    assert same(before.model, after.model)
    assert same(before.slow_phi, after.slow_phi)


def test_the_feature_loss_does_not_move_actor_or_critic() -> None:
    before, after = step("crffsac", learning_rate=0.0)
    assert same((before.actor, before.critic), (after.actor, after.critic))
    assert not same(before.model, after.model)


def test_features_take_the_step_that_the_next_state_loss_asks_for() -> None:
    before, after = step("crffsac")
    batch = jax.tree.map(lambda x: x[-1], batches())
    was, now = (next_state_loss(s.model, batch, STATISTICS, change=True) for s in (before, after))
    assert now < was


def test_the_critics_see_nothing_but_features() -> None:
    """Where φ is the same everywhere, it is no matter to the critic which observation a reward belongs to."""
    chosen = settings("crffsac", feature_learning_rate=0.0, raw_input=False)
    state = compiled(chosen)[0](jax.random.key(1))
    blind = jax.tree.map(jnp.zeros_like, state.slow_phi)
    state = dataclasses.replace(state, slow_phi=blind, model=dataclasses.replace(state.model, phi=blind))
    every = batches()
    turned = every._replace(obs=jnp.roll(every.obs, 1, axis=1), action=jnp.roll(every.action, 1, axis=1))
    update = jax.jit(lambda rows: crffsac.update(chosen, state, rows, STATISTICS)[0])
    assert same(update(every).critic, update(turned).critic)


def test_critic_and_actor_take_their_own_steps_alone() -> None:
    """The critic's step is Adam's on the critic's loss; the actor's loss, on the critic so moved, is not in it."""
    chosen = settings("sac")
    before, after = step("sac")
    batch = jax.tree.map(lambda x: x[-1], batches())
    _, key_next, _ = jax.random.split(before.key, 3)
    action, log_probability = squashed_gaussian.sample(before.actor, batch.next_obs, key=key_next)
    target = soft_target(
        batch.reward,
        chosen.discount * (1 - batch.terminated),
        sac.q_values(before.target_critic, sac.joined(batch.next_obs, action)),
        log_probability,
        jnp.exp(before.log_temperature),
    )
    x = sac.joined(batch.obs, batch.action)
    gradient = jax.grad(lambda critic: critic_loss(sac.q_values(critic, x), target))(before.critic)
    by_hand = adam_step(gradient, before.critic, before.critic_optimiser, learning_rate=chosen.learning_rate)
    assert close(by_hand.parameters, after.critic, rtol=1e-5, atol=1e-7)


def test_the_fourier_layer_is_never_trained_and_its_head_is_linear() -> None:
    before, after = step("crffsac", head="fourier")
    assert same(before.fourier, after.fourier)
    assert len(before.critic.layers) == 1
    assert not same(before.critic, after.critic)


def test_the_target_network_moves_only_when_due() -> None:
    before, once = step("sac", target_every=2)
    _, twice = step("sac", once, target_every=2)
    assert same(before.target_critic, once.target_critic)
    assert not same(once.target_critic, twice.target_critic)


def test_four_feature_steps_use_four_batches_and_the_critic_the_last() -> None:
    chosen = settings("crffsac", feature_steps=4)
    state = compiled(chosen)[0](jax.random.key(1))
    four = batches(count=4)
    update = jax.jit(lambda rows: crffsac.update(chosen, state, rows, STATISTICS)[0])
    expected = update(four)
    for i in range(4):
        assert not same(expected.model, update(four._replace(next_obs=four.next_obs.at[i].add(1.0))).model), i
        rewarded = update(four._replace(reward=four.reward.at[i].add(1.0)))
        assert same(expected.critic, rewarded.critic) == (i < 3), i


@pytest.mark.parametrize(
    ("agent", "more"),
    [
        ("sac", {}),
        ("crffsac", {}),
        ("crffsac-bonus", {"bonus_alpha": 0.01}),  # below 1, where it would hide what Λ is
        ("crffsac", {"head": "fourier", "target_every": 2}),
    ],
)
def test_every_field_of_the_state_influences_the_next(agent: str, more: dict[str, Any]) -> None:
    _, warm = step(agent, **more)
    _, expected = step(agent, warm, **more)
    for name in type(warm).__dataclass_fields__:
        if getattr(warm, name) is None:
            continue
        changed = eqx.tree_at(lambda s, n=name: getattr(s, n), warm, _disturbed(getattr(warm, name)))
        _, after = step(agent, changed, **more)
        others = [n for n in type(warm).__dataclass_fields__ if n != name and getattr(warm, n) is not None]
        influences = any(not same(getattr(after, n), getattr(expected, n)) for n in others)
        # The number of updates matters where targets do not move at each.
        assert influences or (name == "updates" and "target_every" not in more), name


def _disturbed(part: Any) -> Any:
    def disturb(leaf: Any) -> Any:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.fold_in(leaf, 7)
        return leaf + 1 if jnp.issubdtype(leaf.dtype, jnp.integer) else leaf * 1.5 + 0.1

    return jax.tree.map(disturb, part)


@pytest.mark.parametrize(("unit", "raised"), [("one", 0.5), ("deviation", 1.0)])
def test_the_bonus_raises_the_target_by_its_share_of_its_unit(unit: str, raised: float) -> None:
    chosen = settings("crffsac-bonus", bonus_scale=0.5, bonus_unit=unit)
    state = compiled(chosen)[0](jax.random.key(1))
    huge = eqx.tree_at(lambda s: s.inverse_root, state, 1e6 * jnp.eye(12))
    none = eqx.tree_at(lambda s: s.inverse_root, state, jnp.zeros((12, 12)))
    every = batches()
    shifted = every._replace(reward=every.reward + raised)
    update = jax.jit(lambda state, rows: crffsac.update(chosen, state, rows, STATISTICS))
    with_bonus, info = update(huge, every)
    by_hand, _ = update(none, shifted)
    assert info.bonus_mean == 1.0
    assert same(with_bonus.critic, by_hand.critic)


def test_the_covariance_is_rebuilt_under_the_present_features() -> None:
    chosen = settings("crffsac-bonus")
    state = compiled(chosen)[0](jax.random.key(1))
    batch = jax.tree.map(lambda x: np.asarray(x[-1]), batches())
    weight = np.full(BATCH, 3.0, np.float32)
    rebuilt = crffsac.rebuild_covariance(chosen, state, batch.obs, batch.action, weight)
    phi = side_by_side(features(state.slow_phi, jnp.asarray(batch.obs), jnp.asarray(batch.action)))
    covariance = jnp.eye(12) + 3 * phi.T @ phi
    assert jnp.allclose(rebuilt.inverse_root @ covariance @ rebuilt.inverse_root.T, jnp.eye(12), atol=1e-3)
