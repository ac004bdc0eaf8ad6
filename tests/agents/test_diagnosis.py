"""What rows of metrics tell of an agent's health."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from optac.agents.agent import Agent
from optac.agents.training import diagnosis as module
from optac.agents.training.diagnosis import diagnosis, effective_rank

TINY: dict[str, Any] = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "actor_every": 1,
    "eval_every": 0,
    "log_every": 10,
}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 12)
    monkeypatch.setattr(module, "AHEAD", 8)


def test_features_of_equal_weight_count_each_and_a_single_direction_counts_once() -> None:
    assert effective_rank(np.eye(5, dtype=np.float32)) == pytest.approx(5.0)
    assert effective_rank(np.outer(np.arange(4.0), [1.0, 2.0, 0.0])) == pytest.approx(1.0)
    # σ² = 4 and 1: (4 + 1)²/(16 + 1)
    assert effective_rank(np.diag([2.0, 1.0])) == pytest.approx(25 / 17)
    assert effective_rank(np.zeros((3, 2))) == 0.0


def test_values_are_held_against_what_was_earned_and_what_they_say_of_the_state_reached() -> None:
    learner = Agent("Pendulum-v1", agent="sac", seed=0, discount=0.5, **TINY).learn(40)._learner
    constant = eqx.tree_at(
        lambda critic: (critic.layers[-1].weight, critic.layers[-1].bias),
        learner.state.critic,
        replace_fn=jnp.zeros_like,
    )
    constant = eqx.tree_at(lambda critic: critic.layers[-1].bias, constant, replace_fn=lambda x: x + 3)
    learner.state = dataclasses.replace(learner.state, critic=constant, value_scale=jnp.float32(2.0))
    learner.replay.rows.reward[:] = 1.0
    learner.replay.rows.obs[:] = learner.replay.rows.next_obs[:] = 0.0
    learner.replay.rows.terminated[:] = 0.0
    # Q is 6 everywhere: 6 − (1 + ½ + … + 2⁻⁷) − 2⁻⁸ · 6
    assert diagnosis(learner)["train/value_error"] == pytest.approx(6 - (2 - 2**-7) - 6 * 2**-8)


def test_values_are_of_the_observation_as_seen_and_of_the_action_the_policy_would_take() -> None:
    """The critics give x̃ + 2a: of each row's first number and action, and of the state eight steps on with the mode."""
    settings = TINY | {"layer_norm": False, "value_scale": False}
    learner = Agent("Pendulum-v1", agent="sac", seed=0, discount=0.9, **settings).learn(40)._learner
    critic = jax.tree.map(jnp.zeros_like, learner.state.critic)
    first, second, last = critic.layers
    # ELU passes what is above 0: a large bias on the way, taken off at the end.
    changed = (
        first.weight.at[:, 0, 0].set(1.0).at[:, 3, 0].set(2.0),
        first.bias.at[:, 0].set(100.0),
        second.weight.at[:, 0, 0].set(1.0),
        last.weight.at[:, 0, 0].set(1.0),
        last.bias - 100.0,
    )
    critic = eqx.tree_at(
        lambda c: (
            c.layers[0].weight,
            c.layers[0].bias,
            c.layers[1].weight,
            c.layers[2].weight,
            c.layers[2].bias,
        ),
        critic,
        changed,
    )
    learner.state = dataclasses.replace(learner.state, critic=critic)
    at = np.arange(40 - 8 - 12, 40 - 8)
    rows, seen = learner.replay.rows, learner.statistics()

    def value(obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        return np.asarray((obs[:, 0] - seen.next_obs_mean[0]) / seen.next_obs_std[0] + 2 * action[:, 0])

    later = rows.obs[at + 8]
    followed = sum(0.9**j * rows.reward[at + j] for j in range(8))
    expected = (
        value(rows.obs[at], rows.action[at]) - followed - 0.9**8 * value(later, learner.policy.mode(later))
    )
    assert diagnosis(learner)["train/value_error"] == pytest.approx(expected.mean(), abs=1e-3)


def test_values_with_a_bonus_in_them_are_not_held_against_rewards() -> None:
    learner = Agent("Pendulum-v1", agent="crffsac-bonus", seed=0, **TINY).learn(40)._learner
    assert diagnosis(learner).keys() == {"train/clipped", "train/feature_size", "train/feature_rank"}


@pytest.mark.parametrize("agent", ["sac", "crffsac"])
def test_a_row_has_it_once_there_were_updates_and_learning_is_the_same_without(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[dict[str, Any]] = []
    with_it = Agent("Pendulum-v1", agent=agent, seed=0, **TINY).learn(40, callback=rows.append)
    names = {"train/value_error", "train/clipped"}
    names |= {"train/feature_size", "train/feature_rank"} if agent == "crffsac" else set()
    assert [names <= row.keys() for row in rows] == [False, False, True, True]
    assert 0 <= rows[-1]["train/clipped"] <= 1
    if agent == "crffsac":
        assert 1 <= rows[-1]["train/feature_rank"] <= 128 and rows[-1]["train/feature_size"] > 0
    monkeypatch.setattr("optac.agents.training.loop.diagnosis", lambda learner: {})
    without = Agent("Pendulum-v1", agent=agent, seed=0, **TINY).learn(40)
    assert without.parameters_sha256 == with_it.parameters_sha256


def test_inputs_beyond_the_bound_are_counted() -> None:
    learner = Agent("Pendulum-v1", agent="sac", seed=0, **TINY).learn(40)._learner
    assert diagnosis(learner)["train/clipped"] == 0.0
    newest = np.arange(40 - 8 - 12, 40 - 8)
    learner.replay.rows.obs[newest[:3], 1] = 1e4
    assert diagnosis(learner)["train/clipped"] == pytest.approx(3 / (12 * 3))
