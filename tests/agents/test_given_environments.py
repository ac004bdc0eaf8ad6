"""Environments that a user has made: taken as they are, copied for evaluations, left where a block breaks off."""

import signal
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import probe_environments
import pytest

import optac
from optac.agents.training.deadline import deadline
from optac.agents.training.environment_calls import another
from optac.agents.training.learner import begin
from optac.agents.training.store import ResumeWarning
from optac.errors import InvalidInput, RunFailed

TINY: dict[str, Any] = {"width": 8, "batch_size": 8, "learning_starts": 20, "log_every": 20, "eval_every": 0}


class InPlace(probe_environments.Drifting):
    """Writes each observation into the same array."""

    def __init__(self) -> None:
        self.seen = np.zeros(1, np.float32)

    def reset(self, **given: Any) -> tuple[np.ndarray, dict[str, Any]]:
        self.seen[:], info = super().reset(**given)
        return self.seen, info

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.seen[:], *others = super().step(action)
        return self.seen, *others


class Doubled(gymnasium.RewardWrapper[Any, Any]):
    """A wrapper that Gymnasium does not know how to make again."""

    def reward(self, reward: Any) -> Any:
        return 2 * reward


class Handle(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Holds what a copy of it would share."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.simulator = probe_environments.Outside()


def test_an_observation_that_is_written_over_is_kept_as_it_was() -> None:
    rows = optac.SAC(InPlace(), **TINY).learn(40)._learner.replay.between(0, 40)
    assert (rows.obs != rows.next_obs).all()
    same = optac.SAC(probe_environments.Drifting(), **TINY).learn(40)._learner.replay.between(0, 40)
    assert all(np.array_equal(one, other) for one, other in zip(rows, same, strict=True))


def test_an_evaluation_is_in_an_environment_like_the_one_that_was_given() -> None:
    gentle = gymnasium.make("Pendulum-v1")
    gentle.unwrapped.g = 1.0  # type: ignore[attr-defined]
    assert another(gentle).unwrapped.g == 1.0  # type: ignore[attr-defined]
    evaluating = TINY | {"eval_every": 40, "eval_episodes": 2}
    once = optac.SAC(gymnasium.make("Pendulum-v1"), **evaluating).evaluate(2)
    twice = optac.SAC(Doubled(gymnasium.make("Pendulum-v1")), **evaluating).evaluate(2)
    assert twice.returns == pytest.approx(2 * once.returns)
    held = gymnasium.make("Pendulum-v1")
    held.unwrapped.simulator = probe_environments.Outside()  # type: ignore[attr-defined]
    assert not hasattr(another(held).unwrapped, "simulator")  # made anew, since a copy would share it


def test_one_that_cannot_be_had_twice_is_refused_before_the_first_step() -> None:
    class Once(Handle):
        def __deepcopy__(self, memo: Any) -> Any:
            raise OSError("there is one robot")

    agent = optac.SAC(Once(gymnasium.make("Pendulum-v1")), **(TINY | {"eval_every": 40}))
    with pytest.raises(InvalidInput, match=r"second environment, and Once can't be copied .*eval_every=0"):
        agent.learn(60)
    assert agent.steps == 0
    assert optac.SAC(Once(gymnasium.make("Pendulum-v1")), **TINY).learn(20).steps == 20


def test_a_loaded_agent_leaves_an_environment_made_otherwise_as_it_is(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a")
    with pytest.warns(ResumeWarning, match=r"not made as the saved one was .* a new episode begins"):
        agent = optac.SAC.load(tmp_path / "a", gymnasium.make("Pendulum-v1", g=2.0))
    assert agent._learner.env.unwrapped.g == 2.0  # type: ignore[attr-defined]
    assert not agent._learner.exact and agent._learner.episodes.length == 0
    same = optac.SAC.load(tmp_path / "a", gymnasium.make("Pendulum-v1", render_mode="rgb_array"))
    assert same._learner.exact and same._learner.episodes.length == 30


def test_one_of_another_size_is_not_called_a_damaged_file(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a")
    with pytest.raises(InvalidInput, match=r"3 numbers in an observation and 1 in an action; .* has 1 and 1"):
        optac.SAC.load(tmp_path / "a", "probe/Drifting-v0")


def test_an_agent_saved_without_its_replay_does_not_claim_to_go_on_as_it_would_have(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a", replay=False)
    assert not optac.SAC.load(tmp_path / "a")._learner.exact


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError])
def test_a_block_that_is_broken_off_counts_for_nothing(fault: type[BaseException], tmp_path: Path) -> None:
    env = probe_environments.Drifting()
    agent = optac.SAC(env, **TINY).learn(40)
    learner, step, before = agent._learner, env.step, agent.parameters_sha256

    def third(action: np.ndarray) -> Any:
        outcome = step(action)
        if env.count == 6:
            raise fault
        return outcome

    env.step = third  # type: ignore[method-assign]
    with pytest.raises((KeyboardInterrupt, RunFailed)):
        agent.learn(40)
    del env.step  # type: ignore[method-assign]
    assert (agent.steps, learner.replay.added, learner.next_obs_moments.count) == (40, 40, 40)
    assert agent.parameters_sha256 == before and not learner.exact
    agent.save(tmp_path / "a")
    with pytest.warns(ResumeWarning, match="a new episode begins"):
        assert optac.SAC.load(tmp_path / "a", probe_environments.Drifting())._learner.episodes.length == 0
    agent.learn(20)
    rows = learner.replay.between(40, 60)
    assert rows.obs[0] == 0.0 and np.array_equal(rows.obs[1:], rows.next_obs[:-1])  # one new episode
    assert (agent.steps, learner.next_obs_moments.count, int(learner.state.updates)) == (60, 60, 40)


class Far(probe_environments.Drifting):
    """Numbers that are large as a rule, or become so once."""

    def __init__(self, large: float, since: int) -> None:
        self.large, self.since, self.life = large, since, 0

    def outcome(self, action: float) -> tuple[float, float, bool]:
        self.life += 1
        place, reward, ended = super().outcome(action)
        return (self.large * place if self.life > self.since else 0.0), reward, ended


@pytest.mark.parametrize(("large", "since", "at_once"), [(1e8, 0, 1), (1e12, 0, 1), (1e8, 14, 10), (1e8, 14, 1)])
def test_numbers_that_are_large_as_a_rule_are_no_fault(large: float, since: int, at_once: int) -> None:
    agent = optac.SAC(Far(large, since), **(TINY | {"updates_per_dispatch": at_once}))
    assert agent.learn(60).steps == 60


def test_seeds_are_whole_numbers_of_any_kind_and_size(tmp_path: Path) -> None:
    for seed in np.arange(2):
        optac.SAC("Pendulum-v1", seed=seed, **TINY).save(tmp_path / str(seed))
    low, high = (optac.SAC("Pendulum-v1", seed=7 + more, **TINY) for more in (0, 2**32))
    assert low.parameters_sha256 != high.parameters_sha256
    assert begin(low._learner.chosen, gymnasium.make("Pendulum-v1"), 7).seed == 7


def test_an_alarm_of_the_callers_own_still_rings() -> None:
    before = signal.setitimer(signal.ITIMER_REAL, 30)
    try:
        with deadline(5.0, "a step"):
            pass
        assert 29 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
