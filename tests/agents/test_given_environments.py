"""Environments that a user has made: taken as they are, copied for evaluations, left where a block breaks off."""

import signal
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import probe_environments
import pytest

import optac
from optac.agents.parts.replay import Replay
from optac.agents.parts.statistics import RunningMoments
from optac.agents.training.deadline import deadline
from optac.agents.training.learner import begin
from optac.agents.training.soundness import refuse_outliers
from optac.agents.training.store import ResumeWarning
from optac.environments import made_as
from optac.errors import InvalidInput, OptacWarning, RunFailed

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


def test_an_evaluation_has_the_wrappers_of_the_environment_that_was_given() -> None:
    once = optac.SAC(gymnasium.make("Pendulum-v1"), **TINY).evaluate(2)
    twice = optac.SAC(Doubled(gymnasium.make("Pendulum-v1")), **TINY).evaluate(2)
    assert twice.returns == pytest.approx(2 * once.returns)


class Client(gymnasium.Env[Any, Any]):
    """Plays in a simulator that is known by a number, as that of another process is."""

    running: ClassVar[set[int]] = set()
    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self) -> None:
        self.client = 1 + max(self.running, default=0)
        self.running.add(self.client)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self.client in self.running
        return np.zeros(1, np.float32), 0.0, True, False, {}

    def close(self) -> None:
        self.running.remove(self.client)


def test_a_simulator_is_neither_shared_nor_closed_by_evaluations() -> None:
    gymnasium.register("given/Client-v0", entry_point=Client, disable_env_checker=True)
    try:
        env = gymnasium.make("given/Client-v0")
        with pytest.warns(OptacWarning, match=r"Client\.client is not as in the one that was given"):
            agent = optac.SAC(env, **(TINY | {"eval_every": 20, "eval_episodes": 1})).learn(40)
        assert agent.steps == 40 and Client.running == {1}
    finally:
        gymnasium.registry.pop("given/Client-v0")
        Client.running.clear()


def test_a_copy_that_shares_a_simulator_does_not_close_it() -> None:
    try:
        agent = optac.SAC(Client(), **(TINY | {"eval_every": 20, "eval_episodes": 1})).learn(40)
        assert agent.steps == 40 and Client.running == {1}
    finally:
        Client.running.clear()


@pytest.mark.parametrize("name", ["Pendulum-v1", "HalfCheetah-v5"])
def test_a_change_by_hand_that_evaluations_do_not_have_is_named(name: str) -> None:
    evaluating, env = (
        TINY | {"eval_every": 40, "eval_episodes": 1},
        gymnasium.make(name, max_episode_steps=20),
    )
    optac.SAC(env, **evaluating).learn(20)  # which warns of nothing
    if name == "Pendulum-v1":
        env.unwrapped.g = 1.0  # type: ignore[attr-defined]
    else:
        env.unwrapped.model.opt.gravity[2] = -1.0  # type: ignore[attr-defined]
    agent = optac.SAC(env, **evaluating)
    with pytest.warns(OptacWarning, match=r"PendulumEnv\.g is not as|the MuJoCo model is not as"):
        agent.learn(20)
    agent.learn(20)  # it was said


def test_random_numbers_that_a_space_has_drawn_are_no_difference() -> None:
    env = gymnasium.make("Pendulum-v1")
    env.action_space.sample()
    optac.SAC(env, **(TINY | {"eval_every": 40, "eval_episodes": 1})).learn(20)  # warnings are errors


def test_what_a_space_has_drawn_does_not_renumber_what_comes_after_it() -> None:
    class Shared(probe_environments.Drifting):
        def __init__(self) -> None:
            self.action_space = gymnasium.spaces.Box(-2, 2, (1,), np.float32)
            self.wanted = self.target = np.zeros(2)

    env = Shared()
    agent = optac.SAC(env, **TINY).learn(10)
    env.action_space.sample()
    assert agent.learn(10)._learner.exact  # warnings are errors


def test_one_that_was_tried_before_the_first_step_is_not_called_changed() -> None:
    env = gymnasium.make("Pendulum-v1")
    agent = optac.SAC(env, **(TINY | {"eval_every": 40, "eval_episodes": 1}))
    env.reset(seed=7)
    with pytest.warns(OptacWarning) as caught:
        agent.learn(25)
    assert ["not as it was left" in str(one.message) for one in caught] == [True]


def test_evaluations_are_in_the_environment_that_is_given_for_them(tmp_path: Path) -> None:
    class Paid(probe_environments.Drifting):
        was_closed = False

        def outcome(self, action: float) -> tuple[float, float, bool]:
            place, _, ended = super().outcome(action)
            return place, 1.0, ended

        def close(self) -> None:
            self.was_closed = True

    env, other = probe_environments.Drifting(), Paid()
    settings = TINY | {"eval_every": 20, "eval_episodes": 2}
    agent = optac.SAC(env, eval_env=other, **settings).learn(20)
    assert agent.rows[-1]["eval/mean_reward"] == agent.evaluate(1).mean == 37 and not other.was_closed
    agent.save(tmp_path / "a")
    assert (
        optac.SAC.load(tmp_path / "a", probe_environments.Drifting(), eval_env=other).evaluate(1).mean == 37
    )
    assert optac.CRFFSAC(env, eval_env="probe/Drifting-v0", **settings).evaluate(1).mean < 0
    optac.SAC("probe/Drifting-v0", eval_env=other, **settings).learn(20).save(tmp_path / "b")
    with pytest.warns(
        OptacWarning, match="in an environment without an id, given as eval_env=; pass it again"
    ):
        optac.SAC.load(tmp_path / "b")
    optac.SAC.load(tmp_path / "b", eval_env=other)  # warnings are errors


def test_an_environment_for_evaluations_that_has_an_id_is_saved_with_the_agent(tmp_path: Path) -> None:
    agent = optac.SAC("Pendulum-v1", eval_env="Pendulum-v1 g=1.0", **TINY).learn(20)
    agent.save(tmp_path / "a")
    once, again = agent.evaluate(1), optac.SAC.load(tmp_path / "a").evaluate(1)
    assert once.returns == again.returns
    assert once.returns != optac.SAC.load(tmp_path / "a", eval_env="Pendulum-v1").evaluate(1).returns


def test_an_environment_that_was_used_elsewhere_begins_a_new_episode() -> None:
    env = probe_environments.Drifting()
    agent = optac.SAC(env, **TINY).learn(30)
    env.step(np.zeros(1, np.float32))
    with pytest.warns(
        OptacWarning, match=r"not as it was left \(.*\.(_np_random|count) is another\): a new episode begins"
    ):
        agent.learn(10)
    rows = agent._learner.replay.between(28, 34)
    assert rows.obs[2] == 0.0 and rows.next_obs[1] != 0.0 and not agent._learner.exact
    agent.learn(5)  # which is where it was left
    assert agent._learner.replay.between(40, 41).obs == agent._learner.replay.between(39, 40).next_obs
    first, second = (optac.SAC(env, seed=seed, **TINY) for seed in (1, 2))
    with pytest.warns(OptacWarning, match="not as it was left"):
        first.learn(5)
    with pytest.warns(OptacWarning, match="not as it was left"):
        second.learn(5)


def test_an_agent_that_is_saved_after_its_environment_was_used_begins_a_new_episode(tmp_path: Path) -> None:
    env = probe_environments.Drifting()
    agent = optac.SAC(env, **TINY).learn(30)
    env.reset(seed=5)
    env.step(np.ones(1, np.float32))
    with pytest.warns(OptacWarning, match="not as it was left"):
        agent.save(tmp_path / "a")
    with pytest.warns(ResumeWarning, match="a new episode begins"):
        loaded = optac.SAC.load(tmp_path / "a", probe_environments.Drifting())
    assert loaded.learn(5)._learner.replay.between(30, 31).obs == 0.0 and not loaded._learner.exact


def test_an_environment_that_no_evaluation_can_be_in_is_refused_at_once(tmp_path: Path) -> None:
    env = probe_environments.Drifting()
    refused: list[tuple[Any, str]] = [
        (gymnasium.wrappers.TimeLimit(env, 5), "eval_env= is the environment that is trained in"),
        ("Pendulum-v1", r"observations have shape \(3,\) in eval_env= and \(1,\) where training is"),
        ("Pendulm-v1", "Pendulm-v1"),
        (
            gymnasium.wrappers.RescaleAction(probe_environments.Drifting(), np.float32(-3), np.float32(3)),
            r"actions have low=\[-3\.\] in eval_env= and low=\[-2\.\] where training is",
        ),
    ]
    optac.SAC(env, **TINY).save(tmp_path / "a")
    env.reset(seed=1)
    left = env.count
    for given, said in refused:
        with pytest.raises(InvalidInput, match=said):
            optac.SAC(env, eval_env=given, **TINY)
        with pytest.raises(InvalidInput, match=said):
            optac.SAC.load(tmp_path / "a", env, eval_env=given)
    assert env.count == left, "what is refused changes nothing"


def test_a_wrapper_of_ones_own_is_copied_with_its_environment() -> None:
    class Tenth(gymnasium.wrappers.TransformReward[Any, Any]):
        """Gymnasium knows the words of the wrapper that it extends, and not these."""

        def __init__(self, env: Any) -> None:
            super().__init__(env, lambda reward: reward / 10)

    settings = TINY | {"eval_every": 20, "eval_episodes": 1}
    agent = optac.SAC(Tenth(gymnasium.make("Pendulum-v1")), **settings).learn(20)
    whole = optac.SAC("Pendulum-v1", **settings).learn(20)
    mine, theirs = (one.rows[-1]["eval/mean_reward"] for one in (agent, whole))
    assert mine == pytest.approx(theirs / 10)
    trained_in = agent._learner.env.unwrapped
    assert agent._another().unwrapped is not trained_in and agent.evaluate(1).mean < 0


class Raising(optac.Callback):
    """Goes wrong before the first step."""

    def on_start(self, training: Any) -> None:
        raise ValueError("no disk")


def test_a_callback_that_fails_at_the_start_hides_no_move_of_the_environment() -> None:
    env = probe_environments.Drifting()
    agent = optac.SAC(env, **TINY).learn(30)
    with pytest.raises(RunFailed, match="no disk"):
        agent.learn(10, callback=Raising())
    env.step(np.zeros(1, np.float32))
    with pytest.warns(OptacWarning, match="not as it was left"):
        agent.learn(10)


def test_an_agent_is_loaded_into_other_wrappers(tmp_path: Path) -> None:
    optac.SAC(probe_environments.Drifting(), **TINY).learn(30).save(tmp_path / "a")
    wrapped = gymnasium.wrappers.TimeLimit(probe_environments.Drifting(), 5)
    with pytest.warns(
        ResumeWarning, match=r"not made as the saved one was \(.*Drifting\) and a new episode begins"
    ):
        agent = optac.SAC.load(tmp_path / "a", wrapped)
    assert agent.learn(20).steps == 50 and not agent._learner.exact


def test_one_that_cannot_be_had_twice_is_refused_before_the_first_step() -> None:
    class Once(Handle):
        def __deepcopy__(self, memo: Any) -> Any:
            raise OSError("there is one robot")

    agent = optac.SAC(Once(gymnasium.make("Pendulum-v1")), **(TINY | {"eval_every": 40}))
    with pytest.raises(InvalidInput, match=r"second environment, and Once can't be copied .*eval_every=0"):
        agent.learn(60)
    assert agent.steps == 0
    assert optac.SAC(Once(gymnasium.make("Pendulum-v1")), **TINY).learn(20).steps == 20


def test_one_that_cannot_be_made_again_is_not_copied_instead() -> None:
    class Single(Client):
        def __init__(self) -> None:
            if self.running:
                raise OSError("there is one robot")
            super().__init__()

    gymnasium.register("given/Single-v0", entry_point=Single, disable_env_checker=True)
    Client.running.clear()
    try:
        agent = optac.SAC(gymnasium.make("given/Single-v0"), **(TINY | {"eval_every": 20}))
        with pytest.raises(
            InvalidInput, match=r"given/Single-v0 can't be made again \(.*one robot\).*eval_env="
        ):
            agent.learn(40)
        assert agent.steps == 0
    finally:
        gymnasium.registry.pop("given/Single-v0")
        Client.running.clear()


def test_a_loaded_agent_leaves_an_environment_made_otherwise_as_it_is(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a")
    with pytest.warns(ResumeWarning, match=r"not made as the saved one was .* a new episode begins"):
        agent = optac.SAC.load(tmp_path / "a", gymnasium.make("Pendulum-v1", g=2.0))
    assert agent._learner.env.unwrapped.g == 2.0  # type: ignore[attr-defined]
    assert not agent._learner.exact and agent._learner.episodes.length == 0
    same = optac.SAC.load(tmp_path / "a", gymnasium.make("Pendulum-v1", render_mode="rgb_array"))
    assert same._learner.exact and same._learner.episodes.length == 30


def test_the_time_limit_is_part_of_how_an_environment_was_made_and_the_order_of_arguments_is_not() -> None:
    made = made_as(gymnasium.make("HalfCheetah-v5", ctrl_cost_weight=1, reset_noise_scale=0.2))
    assert made == made_as(gymnasium.make("HalfCheetah-v5", reset_noise_scale=0.2, ctrl_cost_weight=1.0))
    assert made_as(gymnasium.make("Pendulum-v1")) != made_as(
        gymnasium.make("Pendulum-v1", max_episode_steps=50)
    )


def test_one_of_another_size_is_not_called_a_damaged_file(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a")
    with pytest.raises(InvalidInput, match=r"3 numbers in an observation and 1 in an action; .* has 1 and 1"):
        optac.SAC.load(tmp_path / "a", "probe/Drifting-v0")


def test_an_agent_saved_without_its_replay_does_not_claim_to_go_on_as_it_would_have(tmp_path: Path) -> None:
    optac.SAC("Pendulum-v1", **TINY).learn(30).save(tmp_path / "a", replay=False)
    assert not optac.SAC.load(tmp_path / "a")._learner.exact


class Breaking(probe_environments.Drifting):
    """Raises `fault` after `left` more steps; on the class, for what an environment holds is its state."""

    left: ClassVar[int] = 1_000_000
    fault: ClassVar[type[BaseException]] = OSError

    def step(self, action: np.ndarray) -> Any:
        outcome = super().step(action)
        Breaking.left -= 1
        if Breaking.left == 0:
            raise Breaking.fault
        return outcome


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError])
def test_a_block_that_is_broken_off_counts_for_nothing(
    fault: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = optac.SAC(Breaking(), **TINY).learn(40)
    learner, before = agent._learner, agent.parameters_sha256
    monkeypatch.setattr(Breaking, "left", 3)
    monkeypatch.setattr(Breaking, "fault", fault)
    with pytest.raises((KeyboardInterrupt, RunFailed)):
        agent.learn(40)
    assert (agent.steps, learner.replay.added, learner.next_obs_moments.count) == (40, 40, 40)
    assert agent.parameters_sha256 == before and not learner.exact
    agent.save(tmp_path / "a")
    with pytest.warns(ResumeWarning) as said:
        assert optac.SAC.load(tmp_path / "a", Breaking())._learner.episodes.length == 0
    assert any("a block was broken off, and a new episode begins" in str(one.message) for one in said)
    agent.learn(20)
    rows = learner.replay.between(40, 60)
    assert rows.obs[0] == 0.0 and np.array_equal(rows.obs[1:], rows.next_obs[:-1])  # one new episode
    assert (agent.steps, learner.next_obs_moments.count, int(learner.state.updates)) == (60, 60, 40)


def test_a_broken_block_gives_back_the_rows_that_it_took_the_place_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ring of 50 rows is full after 96 steps; the next block, of 4, breaks off at its second or third."""
    agent = optac.SAC(Breaking(), **(TINY | {"replay_capacity": 50, "updates_per_dispatch": 10})).learn(96)
    learner = agent._learner
    for taken in (2, 3):
        monkeypatch.setattr(Breaking, "left", taken)
        before, policy = learner.replay.between(46, 96), learner.policy
        with pytest.raises(RunFailed):
            agent.learn(14)
        after = learner.replay.between(46, 96)
        assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
        assert learner.policy is policy and learner.step == 96


def test_priorities_of_a_broken_block_are_taken_back() -> None:
    replay = Replay.empty(4, 1, 1)
    for number in range(6):
        replay.add(np.array([float(number)]), np.zeros(1), float(number), np.zeros(1), False)
    replay.prioritise(np.arange(4), np.arange(1.0, 5.0))
    before = replay.before(3)
    for number in range(6, 9):
        replay.add(np.array([float(number)]), np.zeros(1), float(number), np.zeros(1), False)
    replay.prioritise(np.arange(4), np.full(4, 9.0))
    replay.undo(before)
    assert replay.rows.reward.tolist() == [4, 5, 2, 3] and replay.added == 6
    assert replay.priorities is not None and replay.priorities.tolist() == [1, 2, 3, 4]


def test_a_number_far_from_a_large_mean_is_a_fault() -> None:
    moments = RunningMoments.empty((1,))
    moments.add(1000 + np.random.default_rng(0).standard_normal((1000, 1)))
    refuse_outliers(np.array([[9e5]]), moments, first_step=0)
    with pytest.raises(RunFailed, match=r"number 0 of the observation is 2e\+06 at step 7"):
        refuse_outliers(np.array([[2e6]]), moments, first_step=7)


class Far(probe_environments.Drifting):
    """Numbers that are large as a rule, or become so once."""

    def __init__(self, large: float, since: int) -> None:
        self.large, self.since, self.life = large, since, 0

    def outcome(self, action: float) -> tuple[float, float, bool]:
        self.life += 1
        place, reward, ended = super().outcome(action)
        return (self.large * place if self.life > self.since else 0.0), reward, ended


@pytest.mark.parametrize(
    ("large", "since", "at_once"), [(1e8, 0, 1), (1e12, 0, 1), (1e8, 14, 10), (1e8, 14, 1)]
)
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
