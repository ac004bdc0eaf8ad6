"""Callbacks are told of every row, evaluation, checkpoint and end, may stop a training, and change nothing else."""

import importlib
import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import probe_environments
import pytest

import optac
from optac import numpy_policy
from optac.cli import build_parser, main
from optac.environments import environment_name, make
from optac.errors import InvalidInput, RunFailed
from optac.runs.command_lines import train_command
from optac.runs.folder import RunFolder
from optac.runs.training import evaluate, resume, train

ENV = "probe/Drifting-v0"
TINY = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 40,
    "actor_every": 1,
    "eval_every": 60,
    "eval_episodes": 1,
    "log_every": 30,
    "checkpoint_every": 50,
}


class Told(optac.Callback):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def on_start(self, training: Any) -> None:
        self.calls.append(("start", training.step))

    def on_row(self, training: Any, row: dict[str, Any]) -> None:
        assert row is training.rows[-1] and row["time/total_timesteps"] == training.step
        self.calls.append(("row", training.step))

    def on_evaluation(self, training: Any, row: dict[str, Any]) -> None:
        assert math.isfinite(row["eval/mean_reward"])
        self.calls.append(("evaluation", training.step))

    def on_checkpoint(self, training: Any) -> None:
        assert (training.folder / "checkpoints" / f"ckpt_{training.step:012d}").is_dir()
        self.calls.append(("checkpoint", training.step))

    def on_end(self, training: Any) -> None:
        self.calls.append(("end", training.step))


def trained(out: Path, steps: int = 120, settings: Any = TINY, *, seed: int = 1, **more: Any) -> Any:
    return train(ENV, "sac", steps=steps, seed=seed, settings=settings, out=out, **more)


def test_a_callback_is_told_of_everything_in_order_and_changes_nothing(tmp_path: Path) -> None:
    told = Told()
    with_it, without = trained(tmp_path / "a", callback=told), trained(tmp_path / "b")
    assert with_it.parameters_sha256 == without.parameters_sha256
    assert told.calls == [
        ("start", 0),
        ("row", 30),
        ("checkpoint", 50),
        ("row", 60),
        ("evaluation", 60),
        ("row", 90),
        ("checkpoint", 100),
        ("row", 120),
        ("evaluation", 120),
        ("checkpoint", 120),
        ("end", 120),
    ]
    agent = optac.load(tmp_path / "a")
    later = Told()
    agent.learn(60, callback=[later, lambda row: None])
    assert later.calls == [("start", 120), ("row", 150), ("row", 180), ("evaluation", 180), ("end", 180)]


def test_an_agent_that_a_callback_saves_learns_as_if_it_had_not(tmp_path: Path) -> None:
    agent = optac.SAC(ENV, **TINY)
    agent.learn(75, callback=lambda row: agent.save(tmp_path / str(row["time/total_timesteps"])))
    without = optac.SAC(ENV, **TINY).learn(75)
    assert agent._learner.exact and agent._learner.episodes == without._learner.episodes
    assert agent.parameters_sha256 == without.parameters_sha256
    again = optac.SAC.load(tmp_path / "30")
    assert again.learn(45).parameters_sha256 == without.parameters_sha256 and again._learner.exact


def test_the_command_of_a_run_stopped_below_zero_is_read_again() -> None:
    config = {
        "environment": ENV,
        "agent": "sac",
        "steps": 9,
        "seed": 0,
        "settings": {},
        "stop_on_reward": -1e-05,
    }
    asked = build_parser().parse_args(shlex.split(train_command(config))[1:])
    assert asked.stop_on_reward == -1e-05


def test_stopping_at_a_reward_needs_evaluations() -> None:
    agent = optac.SAC(ENV, **(TINY | {"eval_every": 0}))
    with pytest.raises(InvalidInput, match="a reward of 5 needs evaluations; set eval_every above 0"):
        agent.learn(20, callback=optac.StopOnReward(5))


def test_a_run_that_is_stopped_is_finished_says_why_and_goes_on_exactly_when_asked(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole")
    words = [word for name, value in TINY.items() for word in ("--set", f"{name}={value}")]
    asked = ["--steps", "120", "--seed", "1", "--stop-on-reward", "-1000000", "--quiet", "--out"]
    assert main(["train", ENV, "--agent", "sac", *words, *asked, str(tmp_path / "run")]) == 0
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "finished"
    assert status.why is not None and "at step 60 is at least -1e+06" in status.why
    assert resume(tmp_path / "run").steps == 60
    assert resume(tmp_path / "run", steps=120).parameters_sha256 == whole.parameters_sha256
    assert RunFolder.open(tmp_path / "run").status.why is None
    never = trained(tmp_path / "never", callback=optac.StopOnReward(1e9))
    assert never.parameters_sha256 == whole.parameters_sha256


def run_config(path: Path) -> dict[str, Any]:
    return RunFolder.open(path).config


def test_a_resumed_run_still_stops_where_it_was_told_to(tmp_path: Path) -> None:
    """Killed before the evaluation that is enough, and between it and the end; the first command alone names it."""
    once = trained(tmp_path / "once", stop_on_reward=-1e6)
    assert once.steps == 60

    class Killed(optac.Callback):
        def __init__(self, step: int) -> None:
            self.step = step

        def on_checkpoint(self, training: Any) -> None:
            if training.step == self.step:
                raise KeyboardInterrupt

    for step, every in ((30, 30), (60, 60)):
        run = tmp_path / f"killed at {step}"
        settings = {**TINY, "checkpoint_every": every}
        with pytest.raises(KeyboardInterrupt):
            trained(run, settings=settings, callback=Killed(step), stop_on_reward=-1e6)
        again = resume(run)
        assert (again.steps, again.parameters_sha256, again.exact) == (60, once.parameters_sha256, True)
        assert "at step 60 is at least -1e+06" in str(RunFolder.open(run).status)


def test_an_agent_that_learns_on_is_stopped_by_a_new_evaluation_alone() -> None:
    agent = optac.SAC(ENV, seed=1, **TINY)
    for reached in (60, 120):
        assert agent.learn(200, callback=optac.StopOnReward(-1e6)).steps == reached


def test_what_stops_a_run_is_changed_openly_and_used_up_once_it_has(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained(run, stop_on_reward=-1e6)
    assert resume(run, stop_on_reward=1e9).steps == 60 and run_config(run)["stop_on_reward"] == -1e6
    assert resume(run, steps=120, stop_on_reward=-2e6).steps == 60  # enough as it is
    with pytest.raises(InvalidInput, match="give a number above that"):
        resume(run, steps=100)
    assert run_config(run)["stop_on_reward"] == -2e6, "what is refused changes nothing"
    assert resume(run, steps=120).steps == 120 and "stop_on_reward" not in run_config(run)


def test_what_has_not_stopped_a_run_is_not_used_up(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert trained(run, steps=60, stop_on_reward=1e8).steps == 60
    assert resume(run, steps=120).steps == 120 and run_config(run)["stop_on_reward"] == 1e8


def scored(path: Path) -> list[tuple[float, int]]:
    rows = RunFolder.open(path).rows()
    return [
        (row["eval/mean_reward"], row["time/total_timesteps"]) for row in rows if "eval/mean_reward" in row
    ]


def test_the_best_evaluations_policy_is_kept_and_deployed_beside_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policies: dict[int, numpy_policy.Policy] = {}

    class Keep(optac.Callback):
        def on_evaluation(self, training: Any, row: dict[str, Any]) -> None:
            policies[training.step] = training.policy

    run = tmp_path / "run"
    trained(run, steps=300, callback=Keep())
    scores = scored(run)
    _, step = max(scores, key=lambda pair: pair[0])
    assert step != 300 and len({score for score, _ in scores}) > 1  # else this test says nothing
    observations = np.linspace(-2, 2, 50, dtype=np.float32)[:, None]
    kept = numpy_policy.load(run / "best.npz")
    assert np.array_equal(kept(observations), policies[step](observations))
    assert evaluate(run, best=True).steps == step and evaluate(run).steps == 300
    assert main(["eval", str(run), "--best", "--episodes", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["steps"] == step and said["parameters_sha256"] is said["exact"] is None
    assert main(["eval", str(run), "--best", "--episodes", "2"]) == 0
    assert f"{step}, where its best evaluation was" in capsys.readouterr().out
    assert main(["export", str(run), str(tmp_path / "best.npz"), "--best", "--quiet"]) == 0
    assert np.array_equal(numpy_policy.load(tmp_path / "best.npz")(observations), kept(observations))


def test_a_changed_configuration_is_refused_for_the_best_policy_too(tmp_path: Path) -> None:
    trained(tmp_path / "run", steps=100)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    (tmp_path / "run" / "config.json").write_text(json.dumps({**config, "environment": "Pendulum-v1"}))
    with pytest.raises(RunFailed, match="says environment='Pendulum-v1', but the run was saved with"):
        evaluate(tmp_path / "run", best=True)


def test_one_best_checkpoint_watches_two_runs_each_in_its_own_folder(tmp_path: Path) -> None:
    keeper = optac.BestCheckpoint()
    for name in ("one", "two"):
        trained(tmp_path / name, steps=100, callback=keeper)
        assert keeper._written == tmp_path / name / "best.npz"


def test_a_resumed_run_keeps_the_best_of_all_its_evaluations(tmp_path: Path) -> None:
    trained(tmp_path / "whole", steps=300)
    trained(tmp_path / "run", steps=180)
    resume(tmp_path / "run", steps=300)
    assert (tmp_path / "run" / "best.npz").read_bytes() == (tmp_path / "whole" / "best.npz").read_bytes()
    assert scored(tmp_path / "run") == scored(tmp_path / "whole")


@pytest.mark.parametrize("killed", [False, True])
def test_the_best_of_an_end_that_a_longer_run_has_not_is_none_of_its_own(
    tmp_path: Path, killed: bool
) -> None:
    """70 steps end between the evaluations at 60 and 120, with the best of the three; killed right after it, too."""

    class Killed(optac.Callback):
        def on_evaluation(self, training: Any, row: dict[str, Any]) -> None:
            if training.step == 70:
                raise KeyboardInterrupt

    run, whole = tmp_path / "run", tmp_path / "whole"
    asked = {"seed": 11, "settings": {**TINY, "checkpoint_every": 60}, "stop_on_reward": -0.2}
    if killed:
        with pytest.raises(KeyboardInterrupt):
            trained(run, steps=70, callback=Killed(), **asked)
        resume(run)
    else:
        trained(run, steps=70, **asked)
    assert evaluate(run, best=True).steps == 70
    at_the_end = (run / "best.npz").read_bytes()
    trained(whole, **asked)
    assert resume(run, steps=120).steps == 120
    assert scored(run) == scored(whole) and evaluate(run, best=True).steps == 60
    assert (run / "best.npz").read_bytes() == (whole / "best.npz").read_bytes() != at_the_end
    assert sorted(path.name for path in run.glob("best*")) == ["best.npz"]
    assert run_config(run)["stop_on_reward"] == -0.2, "what was reached at 70 steps alone has stopped nothing"


def test_a_best_checkpoint_that_begins_later_keeps_the_best_from_then_on(tmp_path: Path) -> None:
    agent = optac.SAC(ENV, seed=11, **TINY).learn(70)
    agent.learn(50, callback=optac.BestCheckpoint(tmp_path / "later.npz"))
    observations = np.linspace(-2, 2, 50, dtype=np.float32)[:, None]
    kept = numpy_policy.load(tmp_path / "later.npz")
    assert np.array_equal(kept(observations), agent.predict(observations)[0])


def test_a_checkpoint_is_told_of_once_where_a_callback_stops_the_run_at_it(tmp_path: Path) -> None:
    told = Told()
    trained(
        tmp_path / "run",
        settings={**TINY, "checkpoint_every": 60},
        callback=[told, optac.StopOnReward(-1e6)],
    )
    assert [call for call in told.calls if call[0] == "checkpoint"] == [("checkpoint", 60)]


def test_a_callback_that_raises_fails_the_run_in_one_line_that_names_it(tmp_path: Path) -> None:
    class Broken(optac.Callback):
        def on_checkpoint(self, training: Any) -> None:
            raise ZeroDivisionError("oh")

    with pytest.raises(RunFailed, match="the callback Broken raised ZeroDivisionError in on_checkpoint: oh"):
        trained(tmp_path / "run", callback=Broken())
    assert RunFolder.open(tmp_path / "run").status.state == "failed"
    agent = optac.SAC(probe_environments.Drifting(), **TINY)
    with pytest.raises(InvalidInput, match=r"extends optac\.Callback"):
        agent.learn(10, callback=[Told])
    with pytest.raises(InvalidInput, match=r"best\.npz has no place"):
        agent.learn(10, callback=optac.BestCheckpoint())
    with pytest.raises(InvalidInput, match=r"ends in \.npz"):
        agent.learn(10, callback=optac.BestCheckpoint(tmp_path / "mine"))
    assert agent.steps == 0
    agent.learn(60, callback=optac.BestCheckpoint(tmp_path / "mine.npz"))
    assert numpy_policy.load(tmp_path / "mine.npz").observation_size == 1


MODULE = """
import csv
import gymnasium
import optac

gymnasium.register("mine/Pendulum-v0", "gymnasium.envs.classic_control:PendulumEnv", max_episode_steps=20)

class Csv(optac.Callback):
    def on_start(self, training):
        self.file = open(training.folder / "log.csv", "w", newline="")
    def on_row(self, training, row):
        csv.writer(self.file).writerow([row["time/total_timesteps"]])
    def on_end(self, training):
        self.file.close()
"""


def test_environments_and_callbacks_of_ones_own_are_found_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_rl_code.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    words = [word for name, value in TINY.items() for word in ("--set", f"{name}={value}")]
    train_it = ["train", "my_rl_code:mine/Pendulum-v0", "--agent", "sac", "--steps", "60", "--quiet", *words]
    more = ["--env-kwargs", "g=5.0", "--callback", "my_rl_code:Csv", "--out", "run"]
    assert main([*train_it, *more]) == 2
    assert "--path" in capsys.readouterr().err
    assert main([*train_it, *more, "--path", "."]) == 0
    assert (tmp_path / "run" / "log.csv").read_text().split() == ["30", "60"]
    config = RunFolder.open(tmp_path / "run").config
    assert config["environment"] == "my_rl_code:mine/Pendulum-v0 g=5.0"
    assert optac.load("run")._learner.env.unwrapped.g == 5.0


def test_an_environments_arguments_have_one_form_and_reach_it() -> None:
    assert environment_name("Pendulum-v1  g=9.00 a=[1,2.50]") == "Pendulum-v1 a=[1,2.5] g=9.0"
    assert environment_name("Pendulum-v1 on=True x=none t=a") == "Pendulum-v1 on=true t=a x=none"
    words = 'Pendulum-v1 a=[null,"annulled"]'
    assert environment_name(words) == words
    assert make("Pendulum-v1 g=3").unwrapped.g == 3
    assert make("Hopper-v5 healthy_z_range=[0.5,9.0]").unwrapped._healthy_z_range == [0.5, 9.0]
    for words in ("Pendulum-v1 g", "Pendulum-v1 gg=3", "Pendulum-v1 g=[1"):
        with pytest.raises(InvalidInput):
            make(words)


def test_watching_says_what_to_install_before_it_looks_at_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("optac.errors.find_spec", lambda name: None)
    assert main(["enjoy", str(tmp_path), "--video", str(tmp_path / "a.mp4")]) == 2
    assert capsys.readouterr().err.strip().endswith("pip install 'optac[video]'")


def test_the_example_logs_every_evaluation_into_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    monkeypatch.chdir(tmp_path)
    example = importlib.import_module("log_elsewhere")
    example.main("rows.sqlite", 1_000)
    step, reward = capsys.readouterr().out.split()
    assert step == "1000" and -2_000 < float(reward) < 0
    assert numpy_policy.load("best.npz").observation_size == 3
