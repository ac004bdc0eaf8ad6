"""A run survives what can happen to it: kills, signals, damage, full disks, bad environments, other versions."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import probe_environments
import pytest

import optac
from optac.agents.training import checkpoint, checkpoints, replay_pieces, sealed_files
from optac.agents.training.sealed_files import CheckpointCorrupt
from optac.agents.training.store import ResumeWarning
from optac.cli import main
from optac.errors import InvalidInput, RunFailed
from optac.runs import folder
from optac.runs.folder import RunFolder
from optac.runs.lease import Claim, Lease
from optac.runs.lock import FencedOff, RunFolderBusy
from optac.runs.training import Interrupted, evaluate, resume, train

HERE = Path(__file__).parents[1]
TINY = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 40,
    "eval_every": 60,
    "eval_episodes": 1,
    "log_every": 30,
    "checkpoint_every": 50,
    "step_timeout": 2.0,
}
FEATURES = {"feature_width": 8}
BONUS = FEATURES | {"bonus_every": 40, "bonus_samples": 100}
ENV = "probe/Drifting-v0"


def settings(agent: str) -> dict[str, Any]:
    return TINY | {"sac": {}, "crffsac": FEATURES, "crffsac-bonus": BONUS}[agent]


def started(agent: str, out: Path, steps: int = 200, env: str = ENV, **more: Any) -> Any:
    return train(env, agent, steps=steps, seed=1, settings=settings(agent), out=out, **more)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "time/fps"} for row in RunFolder.open(path).rows()]


@pytest.mark.parametrize(
    ("agent", "env", "every"),
    [
        ("sac", ENV, 1),
        ("crffsac", ENV, 2),
        ("crffsac-bonus", ENV, 2),
        pytest.param("crffsac-bonus", "optac/HalfCheetah-v0", 4, marks=pytest.mark.slow),
    ],
)
def test_a_run_resumed_from_any_state_of_its_folder_ends_as_if_undisturbed(
    agent: str, env: str, every: int, tmp_path: Path
) -> None:
    copies: list[Path] = []

    def photograph(row: dict[str, Any]) -> None:
        # What is on disk now is what a kill at this moment would leave.
        copies.append(tmp_path / f"killed-at-{row['time/total_timesteps']}")
        shutil.copytree(tmp_path / "whole", copies[-1])

    whole = started(agent, tmp_path / "whole", env=env, on_row=photograph)
    assert len(copies) >= 7
    for killed in copies[::every]:
        result = resume(killed)
        assert result.parameters_sha256 == whole.parameters_sha256, killed
        assert rows_of(killed) == rows_of(tmp_path / "whole"), killed
        assert RunFolder.open(killed).status.state == "finished"  # type: ignore[union-attr]


def test_a_run_killed_between_the_two_updates_of_a_round_ends_as_if_undisturbed(tmp_path: Path) -> None:
    """The checkpoint of step 45 owes an update: five steps are past the random start, and rounds are of two."""
    chosen = settings("sac") | {"updates_per_dispatch": 5, "checkpoint_every": 45, "log_every": 5}
    killed = tmp_path / "killed"

    def photograph(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 50:
            shutil.copytree(tmp_path / "whole", killed)

    whole = train(ENV, "sac", steps=60, seed=1, settings=chosen, out=tmp_path / "whole", on_row=photograph)
    learner = optac.load(killed)._learner
    assert (learner.step, int(learner.state.updates)) == (45, 4)
    assert resume(killed).parameters_sha256 == whole.parameters_sha256
    assert rows_of(killed) == rows_of(tmp_path / "whole")


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "run")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*") if p.name != "lock"}
    again = resume(tmp_path / "run")
    assert again.parameters_sha256 == whole.parameters_sha256
    assert again.mean_reward == whole.mean_reward
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "run").rglob("*") if p.name != "lock"}


def test_the_record_of_a_finished_run_is_never_begun_again(tmp_path: Path) -> None:
    started("sac", tmp_path / "run")
    rows = rows_of(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    with pytest.raises(InvalidInput, match="record of a finished run"):
        resume(tmp_path / "run")
    assert rows_of(tmp_path / "run") == rows


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_run_goes_on_to_the_same_end(number: int, tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "whole")

    def interrupt(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 120:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted) as caught:
        started("sac", tmp_path / "run", on_row=interrupt)
    assert caught.value.exit_code == 128 + number
    assert RunFolder.open(tmp_path / "run").status.state == "interrupted"  # type: ignore[union-attr]
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")


def test_a_second_signal_ends_the_run_at_once_and_it_goes_on_to_the_same_end(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "whole")

    def signal_twice(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 120:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        started("sac", tmp_path / "run", on_row=signal_twice)
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "interrupted"
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256


@pytest.mark.parametrize(
    ("name", "value", "steps"),
    [("seed", 2, 200), ("agent", "crffsac", 200), ("batch_size", 16, 200), ("seed", 2, 100)],
)
def test_a_configuration_changed_after_the_start_is_refused(
    name: str, value: Any, steps: int, tmp_path: Path
) -> None:
    """Also where it has finished, here before its row at step 120."""
    with contextlib.suppress(KeyboardInterrupt):
        started("sac", tmp_path / "run", steps, on_row=_stop_at(120))
    file = tmp_path / "run" / "config.json"
    config = json.loads(file.read_text())
    (config if name in config else config["settings"])[name] = value
    file.write_text(json.dumps(config))
    with pytest.raises(RunFailed, match=f"{name}=.*saved with"):
        resume(tmp_path / "run")


def _stop_at(step: int) -> Callable[[dict[str, Any]], None]:
    def stop(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == step:
            raise KeyboardInterrupt

    return stop


def test_other_threads_are_said_and_no_longer_called_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        started("sac", tmp_path / "run", on_row=_stop_at(120))
    monkeypatch.setenv("NPROC", "2")
    with pytest.warns(ResumeWarning, match="threads 1 → 2"):
        assert not resume(tmp_path / "run").exact


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "run")
    newest = checkpoints.listed(tmp_path / "run" / "checkpoints")[0]
    damaged = newest / "arrays.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    notices: list[str] = []
    assert resume(tmp_path / "run", on_notice=notices.append).parameters_sha256 == whole.parameters_sha256
    assert len(notices) == 1
    assert "corrupt" in notices[0] and str(damaged) in notices[0]
    assert checkpoint.load(newest, checkpoints.pieces_folder(newest.parent)).meta["step"] == 200


def test_without_a_sound_checkpoint_the_run_says_so(tmp_path: Path) -> None:
    started("sac", tmp_path / "run")
    for path in checkpoints.listed(tmp_path / "run" / "checkpoints"):
        (path / "manifest.json").write_text("")
    with pytest.raises(RunFailed, match=r"no sound checkpoint.*corrupt"):
        resume(tmp_path / "run")
    with pytest.raises(RunFailed, match="corrupt"):
        evaluate(tmp_path / "run")


def test_a_run_without_a_checkpoint_starts_at_step_0(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "whole")
    started("sac", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    (tmp_path / "run" / "status.json").unlink()
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")


def test_a_disk_that_fills_while_saving_ends_the_run_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = started("sac", tmp_path / "whole")
    flush, calls = sealed_files.flush, 0

    def fill(path: Path) -> None:
        nonlocal calls
        calls += 1
        if calls > 6:
            raise OSError(28, "No space left on device")
        flush(path)

    for module in (checkpoint, replay_pieces, sealed_files):
        monkeypatch.setattr(module, "flush", fill)
    with pytest.raises(RunFailed, match="No space left"):
        started("sac", tmp_path / "run")
    monkeypatch.undo()
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "failed" and "No space left" in str(status.why)
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256


def test_a_disk_that_fills_while_logging_ends_the_run_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = started("sac", tmp_path / "whole")
    append = folder.append_plain

    def fill(path: Path, data: bytes) -> None:
        if json.loads(data)["time/total_timesteps"] > 120:
            raise OSError(28, "No space left on device")
        append(path, data)

    monkeypatch.setattr(folder, "append_plain", fill)
    with pytest.raises(RunFailed, match="No space left"):
        started("sac", tmp_path / "run")
    monkeypatch.undo()
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")


@pytest.mark.parametrize("fault", probe_environments.FAULTS)
def test_a_bad_environment_fails_the_run_with_its_cause_and_leaves_sound_checkpoints(
    fault: str, tmp_path: Path
) -> None:
    with pytest.raises(RunFailed) as caught:
        started("sac", tmp_path / "run", env=f"probe/Faulty-{fault.replace(' ', '_')}-v0")
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "failed"
    assert str(caught.value) in str(status.why)
    found, damage = checkpoints.newest_sound(tmp_path / "run" / "checkpoints")
    assert found is not None and not damage
    assert 100 <= found.meta["step"] <= 150
    arrays = [*found.arrays().values(), *(rows["reward"] for _, rows in found.rows())]
    assert all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")


def test_two_runs_cannot_share_a_folder(tmp_path: Path) -> None:
    started("sac", tmp_path / "run")
    with RunFolder.open(tmp_path / "run"), pytest.raises(RunFolderBusy, match="in use"):
        resume(tmp_path / "run")
    with pytest.raises(InvalidInput, match="already holds a run"):
        started("sac", tmp_path / "run")


def test_a_run_taken_over_at_its_last_row_gets_no_checkpoint_and_no_result_of_the_old_attempt(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        started("sac", run, on_row=_stop_at(120))
    before = checkpoints.listed(run / "checkpoints")

    def take_over(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 200:
            Lease.take(run, Claim(2, "other")).release()

    with pytest.raises(FencedOff, match="attempt 1"):
        resume(run, claim=Claim(1, "one"), on_row=take_over)
    assert max(checkpoints.listed(run / "checkpoints")) == run / "checkpoints" / "ckpt_000000000150"
    assert len(before) == 2 and not (run / "result.json").exists()
    assert resume(run, claim=Claim(3, "other")).steps == 200


def test_other_versions_load_with_a_warning_and_are_no_longer_called_exact(tmp_path: Path) -> None:
    started("sac", tmp_path / "run", steps=120)
    folder = RunFolder.open(tmp_path / "run")
    (newest, *_) = checkpoints.listed(folder.checkpoints)
    found = checkpoint.load(newest, checkpoints.pieces_folder(folder.checkpoints))
    old = {**found.meta["versions"], "jax": "0.0.1"}
    checkpoint.save(newest, found.arrays(), {**found.meta, "versions": old}, found.pieces)
    with pytest.warns(ResumeWarning, match=r"jax 0\.0\.1"):
        result = resume(tmp_path / "run", steps=200)
    assert result.steps == 200
    assert not result.exact
    assert not resume(tmp_path / "run").exact


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ("probe/Unsavable-v0", "new episode"),
        ("probe/Labelled-v0", "new episode"),
        ("probe/Randomised-v0", "MuJoCo model is another"),
    ],
)
def test_an_environment_that_cannot_be_saved_whole_is_resumed_as_far_as_it_goes_and_says_so(
    env: str, said: str, tmp_path: Path
) -> None:
    def interrupt(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 120:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        started("sac", tmp_path / "run", env=env, on_row=interrupt)
    with pytest.warns(ResumeWarning, match=said):
        result = resume(tmp_path / "run")
    assert result.steps == 200
    assert not result.exact
    assert not resume(tmp_path / "run").exact


@pytest.mark.parametrize(
    "forged", [{}, {"step": None}, {"step": "x"}, {"episodes": 3}, {"generator": []}, {"step": float("inf")}]
)
def test_a_well_hashed_checkpoint_of_foreign_content_is_corrupt(
    forged: dict[str, Any], tmp_path: Path
) -> None:
    started("sac", tmp_path / "run", steps=100)
    folder = RunFolder.open(tmp_path / "run")
    (newest, *_) = checkpoints.listed(folder.checkpoints)
    found = checkpoint.load(newest, checkpoints.pieces_folder(folder.checkpoints))
    checkpoint.save(newest, found.arrays(), {**found.meta, **forged} if forged else {}, found.pieces)
    with pytest.raises(CheckpointCorrupt, match=r"corrupt.*meta\.json"):
        resume(tmp_path / "run")
    with pytest.raises(CheckpointCorrupt, match=r"corrupt.*meta\.json"):
        evaluate(tmp_path / "run")


def test_a_clock_that_stands_still_or_jumps_back_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = started("sac", tmp_path / "whole")
    ticks = iter(range(10**6, 0, -1))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks) // 3))
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert started("sac", tmp_path / "run").parameters_sha256 == whole.parameters_sha256


@pytest.mark.parametrize(
    "content", ["", "[]", '{"kind": "train"}', '{"kind": "train", "agent": 3}', "[" * 10**5]
)
def test_a_damaged_configuration_is_a_typed_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises((InvalidInput, RunFailed)):
        resume(tmp_path)


def test_bad_input_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    for broken in ({"steps": 0}, {"seed": -1}, {"agent": "sacc"}, {"environment": "CartPole-v1"}):
        arguments: dict[str, Any] = {"environment": ENV, "agent": "sac", "steps": 10, "seed": 0} | broken
        with pytest.raises(InvalidInput):
            train(**arguments, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_evaluation_uses_fresh_seeds_and_repeats_itself(tmp_path: Path) -> None:
    started("sac", tmp_path / "run")
    one, other = evaluate(tmp_path / "run", episodes=3), evaluate(tmp_path / "run", episodes=3)
    assert asdict(one) == asdict(other)
    assert evaluate(tmp_path / "run", episodes=3, seed=1).mean_reward != one.mean_reward


def command(*words: object) -> list[str]:
    sets = [f"--set={name}={value}" for name, value in TINY.items()]
    return [*(str(word) for word in words), *(sets if words[0] == "train" else [])]


def test_the_command_trains_resumes_and_evaluates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"

    def answer(*words: object) -> dict[str, Any]:
        assert main(command(*words)) == 0
        (line,) = capsys.readouterr().out.splitlines()
        said: dict[str, Any] = json.loads(line)
        return said

    trained = answer("train", ENV, "--agent", "sac", "--steps", 120, "--seed", 1, "--out", out, "--json")
    assert {
        "agent",
        "environment",
        "seed",
        "steps",
        "mean_reward",
        "std_reward",
        "episodes",
    } <= trained.keys()
    assert trained["steps"] == 120 and trained["steps_per_second"] > 0
    resumed = answer("resume", out, "--json")
    assert resumed["parameters_sha256"] == trained["parameters_sha256"]
    played = answer("eval", out, "--episodes", 2, "--json")
    assert played["episodes"] == 2 and "steps_per_second" not in played
    assert main(command("train", ENV, "--agent", "sac", "--steps", 120, "--out", out)) == 2
    assert "already holds a run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "NoSuchEnv-v3"], "unknown environment"),
        (["train", "CartPole-v1"], "Discrete"),
        (["train", ENV, "--agent", "sacc"], "nearest first: sac"),
        (["train", ENV, "--set", "batch_sizes=3"], "batch_size"),
        (["resume", "nowhere"], "no config.json"),
        (["eval", "nowhere"], "no config.json"),
    ],
)
def test_the_command_refuses_bad_input_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("optac: error: ") and said in last


def test_the_command_says_a_withdrawn_promise_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        started("sac", tmp_path / "run", on_row=_stop_at(120))
    monkeypatch.setenv("NPROC", "2")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["resume", str(tmp_path / "run"), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("optac: warning: saved under other versions (threads 1 → 2): the run goes on")
    assert len(said.err.splitlines()) == 1 and not json.loads(said.out)["exact"]


def test_out_is_obeyed_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started("sac", tmp_path / "run", steps=60)
    run, other = str(tmp_path / "run"), str(tmp_path / "other")
    assert main(["resume", run, "--out", other]) == 2
    assert "in its own folder" in capsys.readouterr().err
    assert main(["resume", run, "--out", run, "--json"]) == 0
    assert "this run is finished, and left alone; --steps N takes it on" in capsys.readouterr().err
    assert main(["eval", run, "--episodes", "1", "--out", other, "--json"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert json.loads((tmp_path / "other" / "eval.json").read_text()) == said
    assert main(["export", run, "policy.npz", "--out", other]) == 0
    assert (tmp_path / "other" / "policy.npz").exists()


def test_tensorboard_events_are_written_beside_the_rows(tmp_path: Path) -> None:
    started("sac", tmp_path / "run", callback=optac.TensorBoard())
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    assert b"eval/mean_reward" in events.read_bytes()


RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import conftest, probe_environments
from optac.cli import main
sys.exit(main(sys.argv[2:]))
"""


CHILDREN: list["subprocess.Popen[str]"] = []


def process(*words: object, under: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """The command in a process of its own, started by another command where `under` names one."""
    arguments = [*under, sys.executable, "-c", RUN, str(HERE), *command(*words)]
    # Its own cache of compiled code: a killed process may leave a torn file there.
    own_cache = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": os.environ["JAX_COMPILATION_CACHE_DIR"] + "-killed"
    }
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    CHILDREN.append(subprocess.Popen(arguments, env=own_cache, **pipes))
    return CHILDREN[-1]


@pytest.fixture(autouse=True)
def no_child_outlives_its_test() -> Iterator[None]:
    yield
    while CHILDREN:
        child = CHILDREN.pop()
        if child.poll() is None:
            child.kill()
            child.communicate()


def wait_for(condition: Callable[[], bool], child: "subprocess.Popen[str]") -> None:
    while not condition() and child.poll() is None:
        time.sleep(0.01)


def test_a_killed_process_resumes_to_the_undisturbed_end(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "whole", steps=1000)
    words = (
        "train",
        ENV,
        "--agent",
        "sac",
        "--steps",
        1000,
        "--seed",
        1,
        "--out",
        tmp_path / "run",
        "--json",
    )
    child = process(*words)
    wait_for(lambda: len(checkpoints.listed(tmp_path / "run" / "checkpoints")) >= 2, child)
    child.kill()
    child.communicate()
    assert resume(tmp_path / "run").parameters_sha256 == whole.parameters_sha256
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")


def row_count(run: Path) -> int:
    """How many rows a run has written, whatever else of it is there yet."""
    metrics = run / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


def killed_while_training(child: "subprocess.Popen[str]", run: Path, *, rows: int, then: float = 0.0) -> None:
    """SIGKILL, so many seconds after the run has so many rows."""
    wait_for(lambda: row_count(run) >= rows, child)
    time.sleep(then)
    child.kill()
    _, errors = child.communicate()
    assert child.returncode == -signal.SIGKILL, errors
    assert RunFolder.open(run).status.state == "running"  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_thirty_kills_at_random_moments_of_training_change_nothing(tmp_path: Path) -> None:
    steps = 15_000
    whole = started("sac", tmp_path / "whole", steps=steps)
    moments, run = np.random.default_rng(0), tmp_path / "run"
    words = ("train", ENV, "--agent", "sac", "--steps", steps, "--seed", 1, "--out", run, "--json")
    for _ in range(30):
        before = row_count(run)
        killed_while_training(process(*words), run, rows=before + 1, then=moments.uniform(0, 0.5))
        words = ("resume", run, "--json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resume(run).parameters_sha256 == whole.parameters_sha256
    assert rows_of(run) == rows_of(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("agent", ["sac", "crffsac-bonus"])
def test_the_networks_and_compiler_of_a_real_run_resume_to_the_bit(agent: str, tmp_path: Path) -> None:
    """The default widths and XLA as a user has it, killed in its second episode of a thousand steps."""
    real = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NPROC", "XLA_FLAGS") and not name.startswith("JAX_")
    }

    def optac(*words: object) -> "subprocess.Popen[str]":
        script = "import sys; from optac.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", script, *(str(word) for word in words), "--json"]
        CHILDREN.append(
            subprocess.Popen(command, env=real, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return CHILDREN[-1]

    def answer(child: "subprocess.Popen[str]") -> dict[str, Any]:
        said, errors = child.communicate()
        assert child.returncode == 0, errors
        found: dict[str, Any] = json.loads(said)
        return found

    settings = (
        "learning_starts=600",
        "checkpoint_every=300",
        "log_every=100",
        "eval_every=1500",
        "eval_episodes=1",
    )
    words = ["train", "optac/HalfCheetah-v0", "--agent", agent, "--steps", 2500]
    words += [word for setting in settings for word in ("--set", setting)]
    whole = answer(optac(*words, "--out", tmp_path / "whole"))
    killed_while_training(optac(*words, "--out", tmp_path / "run"), tmp_path / "run", rows=14)
    resumed = answer(optac("resume", tmp_path / "run"))
    assert resumed["parameters_sha256"] == whole["parameters_sha256"] and resumed["exact"]
    assert rows_of(tmp_path / "run") == rows_of(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signalled_process_exits_with_its_code(number: int, code: int, tmp_path: Path) -> None:
    child = process("train", ENV, "--agent", "sac", "--steps", 10**6, "--out", tmp_path / "run")
    wait_for(lambda: bool(checkpoints.listed(tmp_path / "run" / "checkpoints")), child)
    child.send_signal(number)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == code, errors
    assert "interrupted by" in errors


@pytest.mark.slow
def test_one_core_and_two_give_the_same_parameters(tmp_path: Path) -> None:
    hashes, all_cores = [], sorted(os.sched_getaffinity(0))
    assert len(all_cores) > 1, "this process may use one core only: start it without taskset"
    for cores in (all_cores[:1], all_cores):
        words = (
            "train",
            ENV,
            "--agent",
            "sac",
            "--steps",
            500,
            "--out",
            tmp_path / str(len(cores)),
            "--json",
        )
        child = process(*words, under=("taskset", "-c", ",".join(map(str, cores))))
        said, errors = child.communicate()
        assert child.returncode == 0, errors
        hashes.append(json.loads(said)["parameters_sha256"])
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_with_more_room_it_ends_as_if_undisturbed(tmp_path: Path) -> None:
    """A real file system of 150 kB, mounted for this process and its children alone."""
    whole, disk = started("sac", tmp_path / "whole", steps=1000), tmp_path / "disk"
    disk.mkdir()
    script = (
        'mount -t tmpfs -o size=150k tmpfs "$0" && "$@"; echo rc=$? >&2; mount -o remount,size=50m "$0" && '
    )
    script += '"$1" "$2" "$3" "$4" resume "$0/run" --json'
    words = command("train", ENV, "--agent", "sac", "--steps", 1000, "--seed", 1, "--out", disk / "run")
    optac = [sys.executable, "-c", RUN, str(HERE)]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(disk), *optac, *words],
        capture_output=True,
        text=True,
    )
    assert "No space left" in done.stderr and "rc=1" in done.stderr, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["parameters_sha256"] == whole.parameters_sha256


@pytest.mark.slow
def test_a_limit_on_file_sizes_ends_the_run_with_a_clear_error(tmp_path: Path) -> None:
    words = ("train", ENV, "--agent", "sac", "--steps", 500, "--out", tmp_path / "run")
    child = process(*words, under=("prlimit", "--fsize=4000"))
    _, errors = child.communicate()
    assert child.returncode == 1, errors
    assert errors.splitlines()[-1].startswith("optac: error: ")
    assert "File too large" in errors


@pytest.mark.slow
def test_a_full_shared_memory_does_no_harm(tmp_path: Path) -> None:
    whole = started("sac", tmp_path / "whole")
    script = 'mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/full && exec "$@"'
    words = command(
        "train", ENV, "--agent", "sac", "--steps", 200, "--seed", 1, "--out", tmp_path / "run", "--json"
    )
    optac = [sys.executable, "-c", RUN, str(HERE), *words]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *optac],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters_sha256"] == whole.parameters_sha256
