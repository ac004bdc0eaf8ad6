"""Each agent solves environments whose values are known."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import probe_environments  # noqa: F401  registers the probes
import pytest

import optac
from optac.agents import crffsac, sac, td7sac
from optac.agents.agent import Agent
from optac.agents.parts.features import features

QUICK = {
    "width": 16,
    "batch_size": 16,
    "learning_starts": 100,
    "actor_every": 1,
    "learning_rate": 3e-3,
    "target_rate": 0.05,
    "discount": 0.5,
    "initial_temperature": 1e-3,
    "eval_every": 0,
}
PLAIN, BONUS = (pytest.param(agent, marks=pytest.mark.slow) for agent in ("crffsac", "crffsac-bonus"))
"""slow where another agent is tried that learns by the same formulas"""


def trained(agent: str, env: str, steps: int, **more: Any) -> Agent:
    if agent == "sac":
        return optac.SAC(env, seed=0, **(QUICK | more)).learn(steps)
    if agent == "td7sac":
        copies = {"embedding_width": 16, "target_rate": 1.0, "target_every": 20}
        return Agent(env, agent=agent, seed=0, **(QUICK | copies | more)).learn(steps)
    features = {"feature_width": 16, "feature_learning_rate": 3e-3, "feature_copy_rate": 0.05}
    if agent == "crffsac-bonus":
        features |= {"bonus": True, "bonus_scale": 0.01, "bonus_every": 200, "bonus_samples": 500}
    return optac.CRFFSAC(env, seed=0, **(QUICK | features | more)).learn(steps)


def value(agent: Agent, obs: float, action: float) -> float:
    """The lower critic, in the reward's unit, at an observation and an action in [−1, 1]."""
    learner = agent._learner
    state, settings = learner.state, learner.chosen.settings
    s, a = jnp.array([[obs]]), jnp.array([[action]])
    s = learner.statistics().standardised(s) if settings.normalise else s
    unit = 1.0 if state.value_scale is None else state.value_scale
    if isinstance(state, td7sac.State):
        return float(unit * sac.q_values(state.critic, state.encoders.fixed.for_critic(s, a)).min())
    if not isinstance(state, crffsac.State):
        return float(unit * sac.q_values(state.critic, sac.joined(s, a)).min())
    phi = features(state.slow_phi, s, a)
    seen = crffsac.beside(phi, s, a) if settings.raw_input else phi
    return float(unit * crffsac.q_values(state.critic, seen, state.fourier).min())


@pytest.mark.parametrize("agent", ["sac", PLAIN, "crffsac-bonus", "td7sac"])
def test_a_single_reward_is_its_own_value(agent: str) -> None:
    learnt = trained(agent, "probe/OneStep-v0", 600)
    assert value(learnt, 0.0, 0.3) == pytest.approx(1.0, abs=0.1)


def test_a_bonus_that_is_everywhere_1_adds_its_scale_to_the_value() -> None:
    learnt = trained("crffsac-bonus", "probe/OneStep-v0", 600, bonus_scale=0.5, bonus_alpha=1e6)
    assert value(learnt, 0.0, 0.3) == pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize("agent", ["sac", PLAIN, BONUS, "td7sac"])
def test_a_later_reward_is_discounted_and_states_are_told_apart(agent: str) -> None:
    learnt = trained(agent, "probe/TwoStep-v0", 1000)
    assert value(learnt, 1.0, 0.0) == pytest.approx(1.0, abs=0.1)
    assert value(learnt, 0.0, 0.0) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("agent", ["sac", PLAIN, BONUS, "td7sac"])
def test_a_time_limit_bootstraps(agent: str) -> None:
    learnt = trained(agent, "probe/Forever-v0", 1000)
    assert value(learnt, 0.0, 0.0) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("agent", ["sac", "crffsac", BONUS, "td7sac"])
def test_the_best_action_is_found_in_the_environments_unit(agent: str) -> None:
    delay = {"actor_every": 2} if agent == "sac" else {}
    learnt = trained(agent, "probe/SignOfAction-v0", 1500, **delay)
    action, _ = learnt.predict(np.zeros(1, np.float32))
    assert action[0] == pytest.approx(1.0, abs=0.3)


def test_the_literal_fourier_head_learns_too() -> None:
    learnt = trained("crffsac", "probe/SignOfAction-v0", 1500, head="fourier", fourier_bandwidth=10.0)
    action, _ = learnt.predict(np.zeros(1, np.float32))
    assert action[0] == pytest.approx(1.0, abs=0.3)
