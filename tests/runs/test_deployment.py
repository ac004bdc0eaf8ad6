"""An exported policy acts as the agent does; a film is of the trained policy."""

import json

import numpy as np
import pytest

from optac import numpy_policy
from optac.cli import main
from optac.environments import make
from optac.errors import InvalidInput
from optac.runs.deployment import export_policy, film
from optac.runs.training import open_policy, train

ENVIRONMENT = "optac/InvertedPendulum-v0"
STEPS = 20


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A saved run; its policy is a random one, which differs from observation to observation just as well."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(ENVIRONMENT, "sac", steps=STEPS, settings={"eval_every": 0}, out=folder, show_progress=False)
    return folder


def test_a_runs_exported_policy_is_the_saved_agents_to_the_last_bit(run, tmp_path):
    export_policy(run, tmp_path / "policy.npz")
    policy = numpy_policy.load(tmp_path / "policy.npz")
    observations = np.random.default_rng(0).normal(scale=3.0, size=(500, 4)).astype(np.float32)
    saved = open_policy(run, print).policy
    expected = saved(observations)
    assert np.abs(expected).max() > 0.1 and expected.std() > 0.01
    assert np.array_equal(policy(observations), expected)
    assert np.array_equal(policy(observations[0]), saved(observations[0]))


def test_export_on_the_command_line_prints_one_json_object(run, tmp_path, capsys):
    assert main(["export", str(run), str(tmp_path / "policy.npz"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["environment"] == ENVIRONMENT and said["trained_steps"] == STEPS
    assert numpy_policy.load(said["policy"]).observation_size == 4


@pytest.mark.parametrize("file", ["policy.npy", "nowhere/policy.npz"])
def test_export_refuses_a_file_it_cannot_write(run, tmp_path, file, capsys):
    assert main(["export", str(run), str(tmp_path / file)]) == 2
    assert capsys.readouterr().err.startswith("optac: error: ")


def test_a_folder_that_is_no_run_is_refused(tmp_path, capsys):
    assert main(["export", str(tmp_path), str(tmp_path / "policy.npz")]) == 2
    assert main(["enjoy", str(tmp_path), "--video", str(tmp_path / "a.mp4")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_film_refuses_another_kind_of_file_before_playing(run, tmp_path):
    with pytest.raises(InvalidInput, match=r"\.mp4"):
        film(run, tmp_path / "a.gif")


@pytest.mark.video
def test_the_film_is_of_the_trained_policy(run, tmp_path, capsys):
    assert main(["enjoy", str(run), "--video", str(tmp_path / "a.mp4"), "--seed", "4", "--json"]) == 0
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    env, act, total = make(ENVIRONMENT), open_policy(run, print).policy, 0.0
    observation, _ = env.reset(seed=4)
    for _ in range(100):
        observation, reward, *_ = env.step(act(observation))
        total += reward
    assert said["episode_return"] == pytest.approx(total) and said["steps"] == 100
    assert (tmp_path / "a.mp4").stat().st_size > 1000 and printed.err == ""
