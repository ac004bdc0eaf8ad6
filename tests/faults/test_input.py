"""No input ends in a traceback: one line says what was given and what is allowed, and the exit code is true."""

import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import probe_environments  # noqa: F401  (registers its environments)
import pytest

from optac import Agent, cli, make_problem
from optac.commands import list as list_command
from optac.errors import InvalidInput
from optac.mdp import LowRankMDP, SmoothWalk
from optac.models import FourierChoice, truth_among_decoys, walk_among_decoys
from optac.runs.folder import RunFolder
from optac.runs.training_config import training_config
from optac.sweeps.comparing import prepared_comparison
from optac.sweeps.local_executor import LocalExecutor
from optac.sweeps.ray_executor import RayExecutor

TRAIN = ["train", "probe/Drifting-v0", "--agent", "sac", "--steps", "20"]
MANY = str(10**30)
LOCK_WORDS = ["combination-lock", "horizon=2", "actions=2"]
ARGUMENTS: dict[str, tuple[list[str], str]] = {
    "a seed of 2^63": ([*TRAIN, "--seed", str(2**63)], f"seed={2**63} is not valid"),
    "a seed of 10^40": ([*TRAIN, "--seed", str(10**40)], "is not valid"),
    "a width of 10^9": ([*TRAIN, "--set", f"width={10**9}"], "GiB, this machine has"),
    "a width of 10^6": ([*TRAIN, "--set", f"width={10**6}"], "lower width"),
    "a lock of 10^9 steps": (["solve", "combination-lock", f"horizon={10**9}"], "lower horizon, actions or"),
    "a sea of 10^6 cells a side": (["solve", "deep-sea", f"size={10**6}"], "features would take 14,901,161"),
    "10^9 states": (["solve", "random-simplex", f"states={10**9}"], "lower states, actions, horizon or rank"),
    "a lower bound of rank 10^7": (
        ["solve", "lower-bound", f"rank={10**7}"],
        "lower horizon, rank or actions",
    ),
    "a river of 10^12 steps": (["solve", "river-swim", f"horizon={10**12}"], "a policy would take"),
    "a walk of 10^12 steps": (["solve", "smooth-walk", f"horizon={10**12}"], "a policy would take"),
    "a rich lock of 10^9 actions": (["solve", "rich-lock", f"actions={10**9}"], "lower horizon or actions"),
    "a seed of 10^40 for a solve": (["solve", "combination-lock", "--seed", str(10**40)], "is not valid"),
    "an evaluation cut at 0": ([*TRAIN, "--set", "eval_max_steps=0"], "eval_max_steps=0 is not valid"),
    "10^30 steps": (
        [*TRAIN[:-1], MANY],
        f"steps={MANY} is not valid; steps must be a whole number, at least 1 and at most {10**12}",
    ),
    "10^30 threads": ([*TRAIN, "--threads", MANY], "at least 1 and at most 1024"),
    "10^5000 for the seed": ([*TRAIN, "--seed", f"1{'0' * 5000}"], "(5,003 letters) is not a whole number"),
    "10^5000 for the width": ([*TRAIN, "--set", f"width=1{'0' * 5000}"], "(5,001 letters) is not valid"),
    "a width of 2^62": ([*TRAIN, "--set", f"width={2**62}"], "lower width"),
    "a width of 10^30": ([*TRAIN, "--set", f"width={MANY}"], f"at least 1 and at most {2**63 - 1}"),
    "a batch of 2^62": ([*TRAIN, "--set", f"batch_size={2**62}"], "lower batch_size, updates_per_dispatch"),
    "evaluations of 10^15 episodes": ([*TRAIN, "--set", f"eval_episodes={10**15}"], "at most 10000"),
    "an actor at every 2^62th update": (
        [*TRAIN, "--set", f"actor_every={2**62}"],
        "at least 1 and at most 100",
    ),
    "a replay of 2^62 rows": ([*TRAIN, "--set", f"replay_capacity={2**62}"], "at most 1000000000000"),
    "a step of 10^308 seconds": ([*TRAIN, "--set", "step_timeout=1e308"], "at most 1000000000.0"),
    "10^30 seeds of a comparison": (["compare", *LOCK_WORDS, "--seeds", MANY], f"seeds={MANY} is not valid"),
    "10^30 jobs of a comparison": (
        ["compare", *LOCK_WORDS, "--algorithms", "opt-ac", "--jobs", MANY],
        "at least 1 and at most 1024",
    ),
    "10^30 jobs of a study": (["reproduce", "oracles", "--jobs", MANY], "at least 1 and at most 1024"),
    "a study of no number of minutes": (["reproduce", "oracles", "--minutes", "nan"], "minutes=nan"),
    "10^30 steps of a study": (["reproduce", "table2", "--steps", MANY, "--dry-run"], f"steps={MANY} is not"),
    "10^30 seeds of a study": (["reproduce", "table2", "--seeds", MANY, "--dry-run"], f"seeds={MANY} is not"),
    "10^12 seeds of a study": (["reproduce", "table2", "--seeds", str(10**12), "--dry-run"], "at most 10000"),
    "10^9 frequencies": (["solve", "smooth-walk", "--set", f"frequencies={10**9}"], "at most 1000000"),
    "2^40 dimensions": (["solve", "rich-lock", f"dim={2**40}"], "lower dim, horizon or distractors"),
}
NESTED = "a = " + "[" * 10_000 + "]" * 10_000
LOCK = 'algorithms = ["opt-ac"]\nproblems = ["combination-lock horizon=2 actions=2"]\niterations = 1\n'
SWEEPS: dict[str, tuple[str, str]] = {
    "10,000 levels": (NESTED, "nested too deeply"),
    "10^30 seeds": (f"[sweep]\n{LOCK}seeds = {10**30}", "more than the 10,000 runs"),
    "two megabytes": ("# " + "x" * 2_000_000, "more than 1,048,576 bytes"),
    "no TOML": ("[sweep", "is not TOML"),
    "10^5000 seeds": (f"[sweep]\n{LOCK}seeds = 1{'0' * 5000}", "is not TOML: Exceeds the limit"),
    "a table for the seeds": (f"[sweep]\n{LOCK}seeds = {{a = 1}}", "seeds = {'a': 1} is not valid"),
}
ROWS: dict[str, Any] = {
    "no step": {},
    "text": {"time/total_timesteps": "x"},
    "a list": {"time/total_timesteps": [1]},
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words, said = ARGUMENTS[case]
    assert exit_code(words) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("optac: error: ") and said in last and len(last) < 500


def exit_code(words: list[str]) -> int:
    try:
        return cli.main(words)
    except SystemExit as end:  # argparse's own
        return int(end.code or 0)


RUN_WORDS: dict[str, tuple[list[str], str]] = {
    "10^30 steps": (
        ["resume", "run", "--steps", MANY],
        f"steps={MANY} is not valid; steps must be a whole number, at least 1 and at most {10**12}",
    ),
    "10^30 threads": (["resume", "run", "--threads", MANY], "at least 1 and at most 1024"),
    "10^30 episodes": (
        ["eval", "run", "--episodes", MANY],
        f"episodes={MANY} is not valid; episodes must be a whole number, at least 1 and at most {10**12}",
    ),
    "10^30 as the seed of an evaluation": (["eval", "run", "--seed", MANY], f"seed={MANY} is not valid"),
    "10^30 as the seed of a film": (["enjoy", "run", "--seed", MANY], f"seed={MANY} is not valid"),
}


@pytest.mark.parametrize("case", RUN_WORDS)
def test_numbers_for_a_run_that_is_there(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = training_config("probe/Drifting-v0", "sac", steps=20, seed=0, settings={"width": 8})
    RunFolder.create(Path("run"), config)
    words, said = RUN_WORDS[case]
    assert cli.main(words) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("optac: error: ") and said in line
    assert RunFolder.open("run").config["steps"] == 20


@pytest.mark.parametrize("case", SWEEPS)
def test_sweep_files(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text, said = SWEEPS[case]
    Path("mine.toml").write_text(text)
    assert cli.main(["sweep", "mine.toml", "--dry-run"]) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("optac: error: ") and said in last


def test_a_comparison_of_too_many_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optac.sweeps.comparing.MOST_RUNS", 3)
    with pytest.raises(InvalidInput, match=r"seeds=4 for each .* more than the 3 runs"):
        prepared_comparison("combination-lock", {"horizon": 2, "actions": 2}, ["opt-ac"], seeds=4)


def test_candidates_are_estimated_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, walk = (
        make_problem("combination-lock", horizon=2, actions=2),
        make_problem("smooth-walk", horizon=2),
    )
    assert isinstance(lock, LowRankMDP) and isinstance(walk, SmoothWalk)
    monkeypatch.setattr("os.sysconf", lambda name: 8)  # a machine of 64 bytes
    with pytest.raises(InvalidInput, match=r"the candidates would take .*; lower candidates"):
        truth_among_decoys(lock.phi, lock.mu, 64, 0)
    with pytest.raises(InvalidInput, match=r"the candidates would take .*; lower candidates or horizon"):
        walk_among_decoys(walk, 64, FourierChoice())


def test_batches_take_no_more_memory_for_more_steps_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(
        "optac.agents.training.fitting.require_memory", lambda size, what, lower: sizes.append(size)
    )
    for n_step in (1, 2, 1_000):
        Agent("probe/Drifting-v0", agent="sac", width=4, batch_size=4, n_step=n_step)
    one, two, many = sizes[1::3]  # of the agent, its batches and a full replay
    assert one < two == many < 2 * one


def test_more_jobs_than_a_machine_has_cores() -> None:
    with pytest.raises(InvalidInput, match=r"jobs=2000 is not valid; .* at most 1024"):
        LocalExecutor(2_000)


@pytest.mark.parametrize("command", ["sweep", "tune"])
def test_a_file_without_an_end(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "/dev/zero"]) == 2
    assert "/dev/zero has more than 1,048,576 bytes" in capsys.readouterr().err


def _header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


ARRAYS: dict[str, tuple[str, bytes, str]] = {
    "a shape of 10^15 numbers": ("phi", _header("(1000000000000000,)"), "cannot be read as an .npz"),
    "a shape below zero": ("phi", _header("(-3, 2)"), "cannot be read as an .npz"),
    "a shape that is text": ("phi", _header("'many'"), "cannot be read as an .npz"),
    "a shape of many levels": ("phi", _header("(" * 50 + ")" * 50), "cannot be read as an .npz"),
    "a header that is no array's": ("mu", b"\x93NUMPY\x07\x00", "cannot be read as an .npz"),
    "a scale of two numbers": ("reward_scale", _header("(2,)") + bytes(16), "must be a single value"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_a_problems_file(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, content, said = ARRAYS[case]
    lock = make_problem("combination-lock", horizon=2, actions=2)
    lock.save(tmp_path / "whole.npz")
    with ZipFile(tmp_path / "whole.npz") as whole, ZipFile(tmp_path / "odd.npz", "w") as odd:
        for member in whole.namelist():
            odd.writestr(member, content if member == f"{name}.npy" else whole.read(member))
    assert cli.main(["solve", str(tmp_path / "odd.npz"), "--iterations", "1"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("optac: error: ") and said in line


@pytest.mark.parametrize(
    ("address", "said"), [("local", "Ray does not start"), ("x:1", "no Ray cluster answers")]
)
def test_a_ray_that_does_not_start(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = ModuleType("ray")
    ray.__spec__ = ModuleSpec("ray", None)

    def init(**where: Any) -> None:
        raise Exception("the raylet failed\nto start")

    ray.init = init  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(InvalidInput, match=rf"{said}.*: the raylet failed; "):
        RayExecutor(address)


def test_a_sweep_of_too_many_runs_is_refused_before_they_are_all_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("optac.sweeps.plan.MOST_RUNS", 3)
    Path("mine.toml").write_text(f"[sweep]\n{LOCK}seeds = [0, 1, 2, 3]")
    assert cli.main(["sweep", "mine.toml", "--dry-run"]) == 2
    assert "more than 3 runs; split it" in capsys.readouterr().err


@pytest.mark.parametrize("case", ROWS)
def test_a_row_without_a_step(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"kind": "train", "agent": "sac", "environment": "probe/Drifting-v0", "steps": 20, "seed": 0}
    run = RunFolder.create(tmp_path / "run", {**config, "settings": {"width": 8}}).path
    (run / "metrics.jsonl").write_text(json.dumps(ROWS[case]) + "\n")
    assert cli.main(["resume", str(run)]) == 1
    assert "metrics.jsonl is damaged: a row has time/total_timesteps=" in capsys.readouterr().err


def test_what_nobody_foresaw_is_one_line_and_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: Any) -> None:
        raise LookupError("a fault\nof ours")

    monkeypatch.setattr(list_command, "run", fail)
    assert cli.main(["list"]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("optac: error: this should not have happened: LookupError: a fault of ours; ")
    log = Path(line.rpartition(" ")[2])
    assert "raise LookupError" in log.read_text()
    log.unlink()


def test_another_system_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert cli.main(["list"]) == 2
    assert capsys.readouterr().err == "optac: error: the command needs Linux, and this is win32\n"


def test_closed_streams_are_no_fault_and_no_file_takes_their_numbers(tmp_path: Path) -> None:
    words = f"solve combination-lock horizon=2 actions=2 --iterations 2 --out {tmp_path / 'run'}"
    done = subprocess.run(["sh", "-c", f"exec {sys.executable} -m optac {words} <&- >&- 2>&-"], check=False)
    assert done.returncode == 0
    assert [row["iteration"] for row in RunFolder.open(tmp_path / "run").rows()] == [1, 2]


def test_what_nobody_foresaw_is_one_line_where_no_file_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(cli.tempfile, "NamedTemporaryFile", fails)
    monkeypatch.setattr(list_command, "run", lambda arguments: 1 // 0)
    assert cli.main(["list"]) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said and "could not be written" in said and said.count("\n") == 1
