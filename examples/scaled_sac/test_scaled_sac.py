import pytest
import scaled_sac

import optac
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
    quick = {"batch_size": 64, "discount": 0.0, "learning_rate": 1e-2, "reward_scale": 0.01}
    agent = optac.Agent("Pendulum-v1", agent=scaled_sac, **(SMALL | quick)).learn(400)
    scaled = 0.01 * agent._learner.reward_moments.mean
    assert agent.rows[-1]["train/q_mean"] == pytest.approx(scaled, rel=0.2)
