"""The classes as a user meets them: refusals, determinism, save and load."""

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import probe_environments
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from threadpoolctl import threadpool_info

import optac
from optac.agents.agent import Agent
from optac.agents.training import checkpoint
from optac.agents.training.loop import NothingLearnt
from optac.agents.training.sealed_files import CheckpointCorrupt
from optac.agents.training.store import ResumeWarning
from optac.errors import InvalidInput, OptacError, RunFailed
from optac.threads import limit_threads

TINY = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 20,
    "eval_every": 50,
    "eval_episodes": 1,
    "log_every": 25,
}
TINY_FEATURES = TINY | {"feature_width": 8}
TINY_BONUS = TINY_FEATURES | {"bonus": True, "bonus_every": 20, "bonus_samples": 50}
KINDS = {
    "sac": (optac.SAC, TINY),
    "crffsac": (optac.CRFFSAC, TINY_FEATURES),
    "crffsac-bonus": (optac.CRFFSAC, TINY_BONUS),
}


def made(kind: str, env: Any = "probe/Drifting-v0", **more: Any) -> Agent:
    agent, settings = KINDS[kind]
    return agent(env, **({"seed": 3} | settings | more))


def rows_without_time(agent: Agent) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "time/fps"} for row in agent.rows]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_twice_is_the_same_agent_and_another_is_not(kind: str) -> None:
    one, other = made(kind).learn(60), made(kind).learn(60)
    assert one.parameters_sha256 == other.parameters_sha256
    assert rows_without_time(one) == rows_without_time(other)
    assert made(kind, seed=4).learn(60).parameters_sha256 != one.parameters_sha256


@pytest.mark.parametrize("name", ["next_obs_moments", "reward_moments", "returns"])
@pytest.mark.parametrize("part", ["mean", "squares"])
def test_every_running_moment_is_in_the_hash(name: str, part: str) -> None:
    agent = made("sac")
    before = agent.parameters_sha256
    running = getattr(agent._learner, name)
    moments = running.moments if name == "returns" else running
    setattr(moments, part, getattr(moments, part) + 1e-9)
    assert agent.parameters_sha256 != before


@pytest.mark.parametrize("kind", KINDS)
def test_save_load_continue_is_never_having_stopped(kind: str, tmp_path: Path) -> None:
    whole = made(kind).learn(45).learn(55)
    made(kind).learn(45).save(tmp_path / "saved.ckpt")
    resumed = type(whole).load(tmp_path / "saved.ckpt")
    assert resumed.steps == 45
    resumed.learn(55)
    assert resumed.parameters_sha256 == whole.parameters_sha256
    assert rows_without_time(resumed) == rows_without_time(whole)


def test_a_loaded_agent_predicts_as_the_saved_one(tmp_path: Path) -> None:
    agent = made("crffsac").learn(60)
    agent.save(tmp_path / "a.ckpt", replay=False)
    loaded = optac.CRFFSAC.load(tmp_path / "a.ckpt")
    obs = np.random.default_rng(0).normal(size=(20, 1)).astype(np.float32)
    np.testing.assert_array_equal(loaded.predict(obs)[0], agent.predict(obs)[0])
    assert not (tmp_path / "a.ckpt" / "replay").exists()
    assert loaded.learn(40).steps == 100


def test_saving_again_replaces_the_old(tmp_path: Path) -> None:
    agent = made("sac").learn(30)
    agent.save(tmp_path / "a.ckpt")
    agent.learn(30).save(tmp_path / "a.ckpt")
    assert optac.SAC.load(tmp_path / "a.ckpt").steps == 60
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


def test_loading_by_the_wrong_class_names_the_right_one(tmp_path: Path) -> None:
    made("sac").save(tmp_path / "a.ckpt")
    with pytest.raises(InvalidInput, match=r"optac\.SAC\.load"):
        optac.CRFFSAC.load(tmp_path / "a.ckpt")


def resaved(path: Path, **changed: Any) -> None:
    """Change what the saved agent's meta says, its hashes staying right."""
    found = checkpoint.load(path)
    checkpoint.save(path, found.arrays(), {**found.meta, **changed})


def test_settings_of_another_version_do_not_make_it_another_agent(tmp_path: Path) -> None:
    agent = made("sac")
    agent.save(tmp_path / "a.ckpt", replay=False)
    settings = checkpoint.load(tmp_path / "a.ckpt").meta["settings"]
    resaved(tmp_path / "a.ckpt", settings={k: v for k, v in settings.items() if k != "step_timeout"})
    assert optac.SAC.load(tmp_path / "a.ckpt").parameters_sha256 == agent.parameters_sha256


def test_loading_under_other_versions_warns(tmp_path: Path) -> None:
    made("sac").save(tmp_path / "a.ckpt", replay=False)
    versions = checkpoint.load(tmp_path / "a.ckpt").meta["versions"]
    assert {"optac", "machine", "jax", "numpy", "mujoco"} <= versions.keys()
    for name in ("optac", "machine", "mujoco"):
        resaved(tmp_path / "a.ckpt", versions={**versions, name: "other"})
        with pytest.warns(ResumeWarning, match=f"{name} other"):
            optac.SAC.load(tmp_path / "a.ckpt")


def test_a_loaded_agents_random_predictions_go_on(tmp_path: Path) -> None:
    agent, obs = made("sac"), np.zeros(1, np.float32)
    agent.predict(obs, deterministic=False)
    agent.save(tmp_path / "a.ckpt")
    loaded = optac.SAC.load(tmp_path / "a.ckpt")
    for _ in range(3):
        assert agent.predict(obs, deterministic=False)[0] == loaded.predict(obs, deterministic=False)[0]


@pytest.mark.parametrize(
    "changed", [{"agent": "dqn"}, {"agent": []}, {"rows": 3}, {"predictions": {}}, {"settings": 7}]
)
def test_a_save_of_foreign_content_gives_a_typed_error(changed: dict[str, Any], tmp_path: Path) -> None:
    made("sac").save(tmp_path / "a.ckpt")
    resaved(tmp_path / "a.ckpt", **changed)
    with pytest.raises(OptacError):
        optac.SAC.load(tmp_path / "a.ckpt")


def test_a_save_that_was_killed_while_replacing_another_loads_as_the_other(tmp_path: Path) -> None:
    made("sac").save(tmp_path / "a.ckpt")
    (tmp_path / "a.ckpt").rename(tmp_path / "a.ckpt.replaced")
    assert optac.SAC.load(tmp_path / "a.ckpt").steps == 0


def test_a_damaged_save_is_corrupt_and_a_missing_one_refused(tmp_path: Path) -> None:
    made("sac").save(tmp_path / "a.ckpt")
    (tmp_path / "a.ckpt" / "meta.json").write_text("{}")
    with pytest.raises(CheckpointCorrupt, match=r"meta\.json"):
        optac.SAC.load(tmp_path / "a.ckpt")
    with pytest.raises(InvalidInput, match="does not exist"):
        optac.SAC.load(tmp_path / "b.ckpt")


def test_an_environment_without_an_id_is_asked_for_again(tmp_path: Path) -> None:
    agent = made("sac", probe_environments.Drifting()).learn(60)
    agent.save(tmp_path / "a.ckpt")
    with pytest.raises(InvalidInput, match="pass it as env="):
        optac.SAC.load(tmp_path / "a.ckpt")
    assert optac.SAC.load(tmp_path / "a.ckpt", probe_environments.Drifting()).steps == 60


def test_actions_are_in_the_environments_unit_and_bounds() -> None:
    agent = made("sac")
    obs = np.random.default_rng(0).normal(size=(500, 1)).astype(np.float32) * 100
    actions, state = agent.predict(obs, deterministic=False)
    assert state is None
    assert actions.dtype == np.float32
    assert np.abs(actions).max() <= 2.0 and np.abs(actions).max() > 1.0
    with pytest.raises(InvalidInput, match="last axis"):
        agent.predict(np.zeros(3, np.float32))


def test_a_callback_sees_every_row_and_can_stop() -> None:
    seen: list[int] = []

    def stop_at_50(row: dict[str, Any]) -> bool:
        seen.append(row["time/total_timesteps"])
        return row["time/total_timesteps"] < 50

    agent = made("sac").learn(200, callback=stop_at_50)
    assert seen == [30, 50]
    assert agent.steps == 50


@pytest.mark.parametrize(
    ("steps", "actor_every", "delay_ends", "warned"),
    [(40, 1, 50_000, True), (41, 1, 50_000, False), (41, 2, None, True), (40, 2, 0, True), (41, 2, 0, False)],
)
def test_a_training_without_an_update_says_so(
    steps: int, actor_every: int, delay_ends: int | None, warned: bool
) -> None:
    delay = {"actor_every": actor_every, "delay_ends": delay_ends}
    agent = optac.SAC("probe/Drifting-v0", **{**TINY, "learning_starts": 40, **delay})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent.learn(steps)
    said = [str(one.message) for one in caught if issubclass(one.category, NothingLearnt)]
    assert [
        f"no policy is learnt in {steps} steps" in text and "learning_starts=40" in text for text in said
    ] == ([True] * warned)
    assert (agent.rows[-1].get("train/critic_loss") is None) == warned


class Odd(probe_environments.Drifting):
    """An environment with whatever spaces it is given."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space


BOX = Box(-1, 1, (1,), np.float32)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (Odd(BOX, Discrete(3)), "Discrete"),
        (Odd(Dict({"x": BOX}), BOX), "Dict"),
        (Odd(BOX, Box(-np.inf, np.inf, (1,), np.float32)), "unbounded"),
        (Odd(Box(-1, 1, (4,), np.float32), BOX), r"shape \(1,\).*says \(4,\)"),
        (gymnasium.make("CartPole-v1"), "Discrete"),
        ("NoSuchEnv-v3", "unknown environment"),
    ],
)
def test_what_an_agent_cannot_learn_in_is_refused_before_training(env: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        made("sac", env)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"batch_sizes": 3}, "batch_size"),
        ({"batch_size": 0}, "at least 1"),
        ({"batch_size": 2.5}, "a whole number"),
        ({"discount": 1.5}, "at least 0.0 and at most 1.0"),
        ({"discount": float("nan")}, "finite"),
        ({"learning_rate": float("inf")}, "finite"),
        ({"target_entropy": float("-inf")}, "finite"),
        ({"seed": -1}, "seed=-1 .* must be a whole number, at least 0"),
        ({"seed": True}, "seed=True .* must be a whole number"),
        ({"replay_capacity": 10**12}, "a full replay would take .* lower replay_capacity"),
        ({"preset": "papers"}, "paper"),
        ({"replay_capacity": 5}, "updates_per_dispatch"),
        ({"learning_starts": True}, "a whole number"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        optac.SAC("probe/Drifting-v0", **settings)


def test_the_presets_share_protocol_between_the_agents() -> None:
    for preset in ("default", "plain", "paper"):
        baseline = optac.SAC("probe/Drifting-v0", preset=preset).settings
        features = optac.CRFFSAC("probe/Drifting-v0", preset=preset, bonus=True).settings
        for name in vars(baseline):
            assert getattr(baseline, name) == getattr(features, name), name
    assert features.learning_starts == 25_000
    assert features.feature_steps == 4
    assert features.batch_size == 256


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nan reward", "reward is nan at step 149"),
        ("infinite reward", "reward is inf at step 149"),
        ("huge reward", "gradient"),
        ("nan observation", "observation's entry 0 is nan at step 149"),
        ("infinite observation", "observation's entry 0 is inf at step 149"),
        ("huge observation", "number 0 of the observation is .* at step 149"),
        ("shape", r"shape \(2,\)"),
        ("raise", "OSError at step 149: the simulator is gone"),
        ("hang", "longer than step_timeout=0.5 seconds"),
        ("four values", "step 149 returned a tuple of 4"),
        ("no outcome", "step 149 returned a NoneType"),
        ("no observation", r"observation at step 149 has shape \(\)"),
        ("text observation", "observation at step 149 is a str"),
        ("no reward", "reward None.*step 149"),
    ],
)
def test_what_goes_wrong_in_an_environment_is_named_with_its_step(fault: str, words: str) -> None:
    env = probe_environments.Faulty(fault, at=150)
    agent = made("sac", env, step_timeout=0.5, eval_every=0)
    with pytest.raises(RunFailed, match=words):
        agent.learn(400)
    state = agent._learner.state
    leaves = [np.asarray(layer.weight) for layer in (*state.actor.layers, *state.critic.layers)]
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    assert agent.predict(np.zeros(1, np.float32))[0].shape == (1,)


@pytest.mark.parametrize("at", [1, 6, 15])
def test_a_huge_observation_is_named_in_the_first_block_too(at: int) -> None:
    agent = made("sac", probe_environments.Faulty("huge observation", at=at), eval_every=0)
    with pytest.raises(RunFailed, match=f"number 0 of the observation is 1e\\+12 at step {at - 1}, where"):
        agent.learn(40)
    kept = made("sac", probe_environments.Faulty("huge observation", at=at), eval_every=0, normalise=False)
    kept.learn(18)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise", "OSError at step 30: the simulator is gone"),
        ("hang", "reset took longer than step_timeout=0.5"),
        ("nan", "entry 0 is nan at step 30"),
        ("shape", r"at step 30 has shape \(2,\)"),
        ("bare", "reset at step 30 returned a ndarray"),
    ],
)
def test_what_goes_wrong_in_the_reset_of_a_loaded_agent_is_named(
    fault: str, words: str, tmp_path: Path
) -> None:
    made("sac", probe_environments.FaultyReset(), step_timeout=0.5, eval_every=0).learn(30).save(
        tmp_path / "a"
    )
    env = probe_environments.FaultyReset()
    env.fault, env.broken = fault, True
    with pytest.raises(RunFailed, match=words):
        optac.SAC.load(tmp_path / "a", env)


@pytest.mark.parametrize("fault", ["raise", "nan reward", "hang", "no reward"])
def test_what_goes_wrong_in_an_evaluation_is_named_too(fault: str) -> None:
    env = probe_environments.Faulty(fault, at=70)
    agent = made("sac", env, step_timeout=0.5, eval_episodes=3)
    with pytest.raises(RunFailed, match=r"in the evaluation at step 50: .*(simulator|nan|longer|None)"):
        agent.learn(60)


def test_an_agent_keeps_arithmetic_to_one_thread_unless_told_otherwise() -> None:
    made("sac")
    assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
    for refused in (0, True):
        with pytest.raises(InvalidInput, match=f"threads={refused}"):
            made("sac", threads=refused)
    limit_threads(np.int64(1))
