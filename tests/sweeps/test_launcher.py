"""A sweep's runs end once each, whatever happens: another launcher, failures, signals, a time limit, damage."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optac.cli import main
from optac.errors import InvalidInput
from optac.provenance import all_versions, source_commit
from optac.runs.folder import RunFolder
from optac.runs.json_files import write_json
from optac.runs.solving import resume
from optac.sweeps.expected_speed import expected_speed
from optac.sweeps.launcher import Watching, lay_out, run_sweep
from optac.sweeps.local_executor import Executor, LocalExecutor
from optac.sweeps.plan import Sweep, read_sweep
from optac.sweeps.standing import run_standing, sweep_standing
from optac.sweeps.worker import Outcome, Task, attempt

LOCKS = """
[sweep]
algorithms = ["opt-ac", "epsilon-greedy"]
problems = ["combination-lock horizon=3 actions=2"]
seeds = {seeds}
iterations = {iterations}
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def locks(seeds: int = 2, iterations: int = 5) -> Sweep:
    Path("locks.toml").write_text(LOCKS.format(seeds=seeds, iterations=iterations))
    return read_sweep(Path("locks.toml"))


def launched(*words: str, before: Sequence[str] = ()) -> "subprocess.Popen[str]":
    script = f"import sys; from optac.cli import main; sys.exit(main({['sweep', 'locks.toml', *words]!r}))"
    command = [*before, sys.executable, "-c", script]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Here:
    """An executor that makes its attempts in this process, one after another."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def free(self) -> int:
        return 2 - len(self.tasks)

    def start(self, task: Task) -> None:
        self.tasks.append(task)

    def ended(self, seconds: int | float) -> list[Outcome]:
        return [attempt(self.tasks.pop(0)) for _ in range(len(self.tasks))]

    def stop(self) -> list[Outcome]:
        return []

    def close(self) -> None:
        pass


def swept(sweep: Sweep, executor: Executor | None = None, **more: Any) -> dict[str, Any]:
    standing = run_sweep(sweep, Path("runs/locks"), executor or Here(), **more)
    return {run.id: run for run in standing.runs}


def test_two_launchers_at_once_make_every_run_once() -> None:
    sweep = locks(seeds=3)
    launchers = [launched("--jobs", "1", "--json") for _ in range(2)]
    answers = [launcher.communicate(timeout=200) for launcher in launchers]
    for launcher, (said, error) in zip(launchers, answers, strict=True):
        assert launcher.returncode == 0, error
        assert json.loads(said)["finished"] == 6
    for run in sweep.runs:
        assert run_standing(Path("runs/locks") / run.id).attempts == 1
        rows = RunFolder.open(Path("runs/locks") / run.id).rows()
        assert [row["iteration"] for row in rows] == [1, 2, 3, 4, 5]
    assert json.loads(Path("runs/locks/sweep.json").read_text())["runs"] == [run.id for run in sweep.runs]


def test_a_run_that_fails_is_tried_again_and_reported_and_the_rest_go_on(capsys) -> None:
    sweep = locks()
    lay_out(sweep, Path("runs/locks"))
    broken = sweep.runs[0].id
    (Path("runs/locks") / broken / "policy.npz").mkdir()  # where the last policy cannot be written
    said: list[str] = []
    runs = swept(sweep, LocalExecutor(2), retries=1, watching=Watching(say=said.append))
    assert [run.state for run in runs.values()] == ["failed", "finished", "finished", "finished"]
    assert runs[broken].attempts == 2 and "is a folder" in str(runs[broken].why)
    assert sum("it is started again" in text for text in said) == 1
    assert sum("given up after 2 attempts" in text for text in said) == 1
    (Path("runs/locks") / broken / "policy.npz").rmdir()
    assert main(["sweep", "locks.toml", "--jobs", "1", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "4 finished, 0 running, 0 waiting, 0 failed" in shown
    assert run_standing(Path("runs/locks") / broken).attempts == 3
    assert {run_standing(Path("runs/locks") / run.id).attempts for run in sweep.runs[1:]} == {1}


def test_a_worker_imports_nothing_from_the_folder_that_the_sweep_is_started_from() -> None:
    for module in ("difflib", "json", "optac"):
        Path(f"{module}.py").write_text("raise SystemExit(3)\n")
    assert {run.state for run in swept(locks(seeds=1), LocalExecutor(2), retries=0).values()} == {"finished"}


def test_sigint_stops_cleanly_and_starting_again_goes_on() -> None:
    sweep = locks(seeds=1, iterations=200_000)
    launcher = launched("--jobs", "2")
    paths = [Path("runs/locks") / run.id for run in sweep.runs]
    while not all((path / "metrics.jsonl").exists() for path in paths):
        assert launcher.poll() is None
        time.sleep(0.05)
    launcher.send_signal(signal.SIGINT)
    _, error = launcher.communicate(timeout=100)
    assert launcher.returncode == 130 and "Traceback" not in error
    for path in paths:
        assert json.loads((path / "status.json").read_text())["state"] == "interrupted"
        assert run_standing(path).state == "waiting"
    # It goes on: nothing is refused, and the next attempt is the second.
    again = launched("--jobs", "2")
    while not all(run_standing(path).attempts == 2 for path in paths):
        assert again.poll() is None
        time.sleep(0.05)
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=100)
    assert again.returncode == 143


def test_a_worker_ends_with_its_launcher_and_a_dead_one_is_replaced() -> None:
    sweep = locks(seeds=1, iterations=200_000)
    path = Path("runs/locks") / sweep.runs[0].id
    launcher = launched("--jobs", "2")
    worker = worker_of(path, launcher, attempt=1)
    os.kill(worker, signal.SIGKILL)
    second = worker_of(path, launcher, attempt=2)
    os.kill(launcher.pid, signal.SIGKILL)
    launcher.communicate()
    while Path(f"/proc/{second}").exists():
        time.sleep(0.05)
    assert run_standing(path).state == "waiting" and "interrupted by SIGTERM; " in str(run_standing(path).why)


def test_a_worker_of_a_nice_launcher_is_nice_to_other_sessions_too() -> None:
    path = Path("runs/locks") / locks(seeds=1, iterations=200_000).runs[0].id
    launcher = launched("--jobs", "2", before=["nice", "-n", "5"])
    group = Path(f"/proc/{worker_of(path, launcher, attempt=1)}/autogroup")
    wanted = ["nice", f"{os.nice(0) + 5}"]
    said = group.read_text().split()[1:] if group.exists() else wanted  # elsewhere `nice` is all there is
    launcher.send_signal(signal.SIGTERM)
    launcher.communicate(timeout=100)
    assert said == wanted


def worker_of(path: Path, launcher: "subprocess.Popen[str]", attempt: int) -> int:
    """The process that makes this attempt, once it is at work."""
    while run_standing(path).attempts < attempt or not (path / "metrics.jsonl").exists():
        assert launcher.poll() is None
        time.sleep(0.05)
    return int(json.loads((path / "attempts" / f"{attempt:06d}.json").read_text())["owner"].split()[1])


def test_nothing_is_started_that_cannot_end_in_the_time_left() -> None:
    sweep = locks(iterations=1000)
    assert {run.state for run in swept(sweep, minutes=0).values()} == {"waiting"}
    # One run of each algorithm has ended at 2 iterations a second: the others need 500 s and more.
    for run in sweep.runs[:2]:
        folder = RunFolder.open(Path("runs/locks") / run.id)
        folder.append({"iteration": 1000, "last_gap": 0.0, "time/seconds": 500.0})
        folder.set_status("finished")
    runs = swept(sweep, minutes=8)
    assert [run.state for run in runs.values()] == ["finished", "finished", "waiting", "waiting"]
    assert [run.attempts for run in runs.values()] == [0, 0, 0, 0]
    assert {run.state for run in swept(sweep, LocalExecutor(2), minutes=11).values()} == {"finished"}
    for wrong in (-5, float("nan")):
        with pytest.raises(InvalidInput, match="minutes must be a finite number, at least 0"):
            swept(sweep, minutes=wrong)


def test_the_expected_speed_is_that_of_the_runs_most_alike() -> None:
    sweep = locks(seeds=1)
    lay_out(sweep, Path("runs/locks"))
    paths = [Path("runs/locks") / run.id for run in sweep.runs]
    assert expected_speed(sweep.runs[0].config, paths) is None
    other = RunFolder.open(paths[1])
    other.append({"iteration": 10, "time/seconds": 1.0})
    other.set_status("finished")
    assert expected_speed(sweep.runs[0].config, paths) == 10.0
    same = RunFolder.open(paths[0])
    same.append({"iteration": 10, "time/seconds": 5.0})
    same.set_status("finished")
    assert expected_speed(sweep.runs[0].config, paths) == 2.0


def test_a_published_run_without_checkpoints_is_finished() -> None:
    Path("agents.toml").write_text(
        '[sweep]\nagents = ["sac"]\nenvironments = ["Pendulum-v1"]\nseeds = [0]\nsteps = 100\n'
    )
    sweep = read_sweep(Path("agents.toml"))
    path = Path("published") / sweep.runs[0].id
    path.mkdir(parents=True)
    write_json(path / "config.json", {**sweep.runs[0].config, "command": "optac train …", "commit": "abc"})
    write_json(path / "status.json", {"state": "finished", "why": None})
    standing = run_sweep(sweep, Path("published"), LocalExecutor(1))
    assert [(run.state, run.attempts) for run in standing.runs] == [("finished", 0)]
    assert not (path / "checkpoints").exists()
    assert main(["resume", str(path)]) == 2  # its rows are not cut


def test_a_sweep_that_grows_keeps_its_runs_and_a_foreign_folder_is_refused(capsys) -> None:
    first = swept(locks(seeds=1))
    hashes = {name: (Path("runs/locks") / name / "policy.npz").read_bytes() for name in first}
    grown = swept(locks(seeds=2))
    assert set(first) < set(grown) and [grown[name].attempts for name in first] == [1, 1]
    assert {name: (Path("runs/locks") / name / "policy.npz").read_bytes() for name in first} == hashes
    one = next(iter(first))
    assert main(["sweep", "locks.toml", "--out", f"runs/locks/{one}"]) == 2
    assert "holds a run, not a sweep" in capsys.readouterr().err


def test_status_reads_what_is_there_whatever_it_is(capsys) -> None:
    sweep = locks()
    lay_out(sweep, Path("runs/locks"))
    torn, damaged, missing, _ = (Path("runs/locks") / run.id for run in sweep.runs)
    (torn / "metrics.jsonl").write_text('{"iteration": 3, "last_gap": 0.25, "time/seconds": 1.5}\n{"itera')
    (damaged / "config.json").write_text("{")
    (missing / "config.json").unlink()
    assert main(["status", "runs/locks", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["finished"], said["running"], said["waiting"], said["failed"]) == (0, 0, 3, 1)
    assert said["runs"][0]["reached"] == 3 and said["runs"][0]["score"] == 0.25
    assert "config.json is damaged" in said["runs"][1]["why"]
    assert main(["status", "runs/locks"]) == 0
    assert "0 finished, 0 running, 3 waiting, 1 failed" in capsys.readouterr().out
    assert main(["status", "runs"]) == 2
    assert "holds neither a sweep (sweep.json) nor a run (config.json)" in capsys.readouterr().err
    Path("runs/locks/sweep.json").write_text('{"runs": ["../elsewhere"]}')
    assert main(["status", "runs/locks"]) == 1
    assert "sweep.json is damaged" in capsys.readouterr().err


def test_time_left_is_what_is_left_at_the_speeds_measured() -> None:
    sweep = locks(iterations=100)
    lay_out(sweep, Path("runs/locks"))
    assert sweep_standing(Path("runs/locks")).seconds_left is None
    for run, done in zip(sweep.runs, (100, 50, 0, 0), strict=True):
        folder = RunFolder.open(Path("runs/locks") / run.id)
        if done:
            folder.append({"iteration": done, "time/seconds": done / 10})
        if done == 100:
            folder.set_status("finished")
    # At ten a second: 5 s, 10 s and 10 s, one after another.
    assert sweep_standing(Path("runs/locks")).seconds_left == pytest.approx(25.0)


class Elsewhere:
    """An executor whose attempts all die, and which has no room when first asked."""

    def __init__(self, room: list[int], on_start: Callable[[Task], None] = lambda task: None) -> None:
        self.room, self.on_start, self.tasks, self.closed = room, on_start, list[Task](), False

    def free(self) -> int:
        return self.room.pop(0) if len(self.room) > 1 else self.room[0]

    def start(self, task: Task) -> None:
        self.on_start(task)
        self.tasks.append(task)

    def ended(self, seconds: int | float) -> list[Outcome]:
        died = [Outcome(task, "died", "the node is gone") for task in self.tasks]
        self.tasks = []
        return died

    def stop(self) -> list[Outcome]:
        return []

    def close(self) -> None:
        self.closed = True


def test_a_run_that_only_dies_has_failed_for_every_onlooker() -> None:
    sweep = locks(seeds=1)
    standing = run_sweep(sweep, Path("runs/locks"), Elsewhere([1]), retries=1)
    assert [run.state for run in standing.runs] == ["failed", "failed"]
    assert standing.runs == sweep_standing(Path("runs/locks").resolve()).runs
    assert {run.why for run in standing.runs} == {"died (attempt 1): the node is gone"}
    assert {run.state for run in swept(sweep).values()} == {"finished"}


def test_a_run_that_is_to_be_tried_again_waits() -> None:
    sweep, states = locks(seeds=1), list[str]()

    def look() -> None:
        states.extend(run.state for run in sweep_standing(Path("runs/locks")).runs)

    run_sweep(sweep, Path("runs/locks"), Elsewhere([1]), retries=1, watching=Watching(look=look))
    assert states == ["waiting", "waiting", "failed", "failed"]


def test_a_run_that_finished_before_its_worker_died_has_finished() -> None:
    handed: list[Path] = []
    executor = Elsewhere([2], on_start=lambda task: RunFolder.open(task.path).set_status("finished"))
    watching = Watching(finished=handed.append)
    standing = run_sweep(locks(seeds=1), Path("runs/locks"), executor, retries=0, watching=watching)
    assert [run.state for run in standing.runs] == ["finished", "finished"] and len(handed) == 2


def test_a_worker_that_cannot_be_started_is_a_failed_attempt_and_the_rest_go_on() -> None:
    refused: list[str] = []

    def refuse_the_first(task: Task) -> None:
        if not refused:
            refused.append(task.run)
            raise OSError(28, "No space left on device")

    standing = run_sweep(
        locks(seeds=1), Path("runs/locks"), Elsewhere([2], on_start=refuse_the_first), retries=0
    )
    whys = {run.id: run.why for run in standing.runs}
    assert "could not be started" in str(whys.pop(refused[0])) and "No space left" not in str(whys)


def test_an_attempt_damaged_while_it_runs_stops_no_other() -> None:
    def damage(task: Task) -> None:
        (Path(task.path) / "attempts").mkdir()
        (Path(task.path) / "attempts" / "000001.json").touch()

    standing = run_sweep(locks(seeds=1), Path("runs/locks"), Elsewhere([2], on_start=damage), retries=1)
    assert [run.state for run in standing.runs] == ["failed", "failed"]


def test_a_cluster_without_a_core_is_waited_for_and_said_once() -> None:
    said: list[str] = []
    executor = Elsewhere([0, 0, 0, 0, 1])
    run_sweep(locks(seeds=1), Path("runs/locks"), executor, retries=0, watching=Watching(say=said.append))
    assert [text for text in said if "no core" in text] == ["there is no core to run on; waiting for one"]
    assert sum("died (attempt 1)" in text for text in said) == 2 and executor.closed


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("status.json", "{"),
        ("status.json", '{"state": 3}'),
        ("attempts/000001.json", ""),
        ("config.json", "{"),
    ],
)
def test_a_damaged_run_is_reported_and_the_rest_go_on(file: str, content: str) -> None:
    sweep, said = locks(seeds=1), list[str]()
    lay_out(sweep, Path("runs/locks"))
    damaged = Path("runs/locks") / sweep.runs[0].id / file
    damaged.parent.mkdir(exist_ok=True)
    damaged.write_text(content)
    runs = swept(sweep, watching=Watching(say=said.append))
    assert [run.state for run in runs.values()] == ["failed", "finished"]
    assert "is damaged" in str(runs[sweep.runs[0].id].why)
    assert any(sweep.runs[0].id in text and "is damaged" in text for text in said)
    assert damaged.read_text() == content


def test_a_damaged_sweep_file_is_rewritten_by_starting_again() -> None:
    lay_out(locks(seeds=2), Path("runs/locks"))
    known = {run.id for run in locks(seeds=2).runs}
    Path("runs/locks/sweep.json").write_text('{"runs": 3}')
    lay_out(locks(seeds=1), Path("runs/locks"))
    assert set(json.loads(Path("runs/locks/sweep.json").read_text())["runs"]) == known


def test_a_finished_run_that_is_asked_for_again_is_left_alone() -> None:
    sweep = locks(seeds=1)
    swept(sweep)
    path = Path("runs/locks") / sweep.runs[0].id
    before = {file: file.read_bytes() for file in path.iterdir() if file.is_file()}
    resume(path)
    assert {
        file: file.read_bytes() for file in path.iterdir() if file.is_file() and file.name != "lock"
    } == before


def test_a_run_says_with_what_it_began_not_with_what_it_was_laid_out() -> None:
    sweep = locks(seeds=1)
    lay_out(sweep, Path("runs/locks"))
    path = Path("runs/locks") / sweep.runs[0].id
    config = json.loads((path / "config.json").read_text())
    write_json(path / "config.json", {**config, "commit": "older", "versions": {"numpy": "1.0"}})
    swept(sweep)
    began = RunFolder.open(path).config
    assert began["commit"] == source_commit() and began["versions"] == all_versions()
    assert {name: began[name] for name in config} == config


def test_a_worker_whose_launcher_died_before_it_could_look_ends() -> None:
    sweep = locks(seeds=1, iterations=200_000)
    lay_out(sweep, Path("runs/locks"))
    run = sweep.runs[0].id
    dead = subprocess.Popen(["true"])
    dead.wait()
    task = Task(str(Path("runs/locks").resolve() / run), 1, "launcher", str(Path.cwd()), parent=dead.pid)
    subprocess.run(
        [sys.executable, "-m", "optac.sweeps.worker"],
        input=task.to_json(),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert run_standing(Path("runs/locks") / run).state == "waiting"


def test_an_error_as_long_as_a_book_reaches_the_launcher() -> None:
    task = Task("path", 1, "launcher", "here")
    outcome = Outcome(task, "failed", "😀" * 10**6, ("φ" * 10**6,) * 100)
    assert len(outcome.to_json()) < 2**16


def test_the_speed_of_a_training_is_its_usual_one_not_that_of_a_late_resume(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", {"kind": "train", "steps": 4000})
    for step, speed in ((1000, 9000.0), (2000, 310.0), (3000, 300.0), (4000, 8.0)):
        learning = {"train/critic_loss": 1.0} if step > 1000 else {}
        folder.append({"time/total_timesteps": step, "time/fps": speed, **learning})
    write_json(folder.path / "result.json", {"time/steps_per_second": 8.1})
    assert run_standing(folder.path).speed == 300.0


class Refusing(Here):
    """Cannot start a worker, as where the disk is full."""

    def start(self, task: Task) -> None:
        raise OSError("no space left on device")


def test_a_run_whose_worker_cannot_be_started_is_tried_again_and_then_given_up() -> None:
    said: list[str] = []
    runs = swept(locks(seeds=1), Refusing(), retries=1, watching=Watching(say=said.append))
    assert [run.state for run in runs.values()] == ["failed"] * 2
    assert (
        sum("could not be started: no space left on device; it is started again" in one for one in said) == 2
    )
    assert sum("given up after 2 attempts" in one for one in said) == 2


def test_a_sweep_that_is_refused_leaves_the_one_that_is_there_as_it_was() -> None:
    lay_out(locks(seeds=1), Path("runs/locks"))
    before = {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}
    grown = locks(seeds=2)
    changed = [replace(run, config={**run.config, "rounds": 6}) for run in grown.runs]
    with pytest.raises(InvalidInput, match="differs in rounds"):
        lay_out(replace(grown, runs=tuple(changed)), Path("runs/locks"))
    assert before == {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}


def test_a_link_on_the_way_to_a_sweep_is_followed_in_a_dry_run_too(capsys) -> None:
    Path("scratch").mkdir()
    Path("runs").symlink_to("scratch")
    locks(seeds=1)
    for words in (["--dry-run"], ["--jobs", "1"], ["--dry-run"]):
        assert main(["sweep", "locks.toml", "--quiet", *words]) == 0, capsys.readouterr().err


def test_a_table_of_settings_that_is_no_table_is_refused() -> None:
    Path("locks.toml").write_text(LOCKS.format(seeds=1, iterations=5) + "[settings]\nopt-ac = 3\n")
    with pytest.raises(InvalidInput, match=r"opt-ac = 3 must be a table, \[opt-ac\]"):
        read_sweep(Path("locks.toml"))
