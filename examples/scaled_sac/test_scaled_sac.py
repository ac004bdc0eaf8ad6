import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scaled_sac

import optac
from optac.agents import sac
from optac.extend import Statistics, Transitions
from optac.testing import AGENT_CHECKS

SMALL = {"width": 8, "batch_size": 8, "learning_starts": 20, "log_every": 20, "eval_every": 0}


@pytest.mark.parametrize("check", AGENT_CHECKS)
def test_conforms(check) -> None:
    check(scaled_sac)


def test_without_a_scale_it_is_soft_actor_critic() -> None:
    baseline = optac.SAC("Pendulum-v1", seed=1, **SMALL).learn(40)
    unscaled = optac.Agent("Pendulum-v1", agent=scaled_sac, seed=1, preset="unscaled", **SMALL).learn(40)
    assert unscaled.parameters_sha256 == baseline.parameters_sha256


def test_a_reward_is_worth_its_scale() -> None:
    """Where the future counts nothing, the critics learn the scaled reward itself."""
    quick = {"actor_every": 1, "batch_size": 64, "discount": 0.0, "learning_rate": 1e-2, "reward_scale": 0.01}
    agent = optac.Agent("Pendulum-v1", agent=scaled_sac, **(SMALL | quick)).learn(400)
    scaled = 0.01 * agent._learner.reward_moments.mean
    assert agent.rows[-1]["train/q_mean"] == pytest.approx(scaled, rel=0.2)


def test_values_are_bounded_by_scaled_returns() -> None:
    """The update is SAC's where rewards and returns are five times as large: the best of −10 bounds values at −50."""
    settings = scaled_sac.Settings(width=8, batch_size=8, reward_scale=5.0)
    state = eqx.filter_jit(sac.init)(settings, 3, 1, key=jax.random.key(0))
    obs = jax.random.normal(jax.random.key(1), (1, 8, 3))
    rows = Transitions(obs, jnp.zeros((1, 8, 1)), jnp.ones((1, 8)), obs + 1, jnp.zeros((1, 8)))
    seen = Statistics(np.zeros(3), np.ones(3), np.ones(()), np.float32(4.0), np.float32(-10.0))
    larger = seen._replace(return_std=np.float32(20.0), best_return=np.float32(-50.0))
    ours, _ = eqx.filter_jit(scaled_sac.update)(settings, state, rows, seen)
    theirs, _ = eqx.filter_jit(sac.update)(settings, state, rows._replace(reward=5 * rows.reward), larger)
    assert eqx.tree_equal(ours.critic, theirs.critic, rtol=1e-5, atol=1e-7)
    unbounded, _ = eqx.filter_jit(sac.update)(settings, state, rows._replace(reward=5 * rows.reward), seen)
    assert not eqx.tree_equal(ours.critic, unbounded.critic, rtol=1e-5, atol=1e-7)
