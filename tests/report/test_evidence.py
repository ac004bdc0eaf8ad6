"""What a report reads: every run once, whatever state the store is in, and what is wrong named."""

import json
import os
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from optac.errors import InvalidInput, RunFailed
from optac.report.evidence import gather
from optac.report.groups import group_runs, short_name
from optac.report.markup import without_folders
from optac.report.page import page, read_report
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.studies.table2.report import REFERENCE
from tests.report.training_runs import write_run

RESULTS = Path(__file__).parents[2] / "results"


def test_runs_sweeps_and_comparisons_are_read_together(tmp_path: Path) -> None:
    write_run(tmp_path / "sweep" / "sac-s0")
    write_run(tmp_path / "sweep" / "sac-s1", seed=1)
    (tmp_path / "sweep" / "sweep.json").write_text("{}")
    config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, "opt-ac", iterations=3)
    run_solve(prepared_solve(config), tmp_path / "solved")
    found = gather([tmp_path / "sweep", tmp_path / "solved", RESULTS / "lock-8-5" / "driven"])
    assert [run.seed for run in found.training] == [0, 1] and found.notes == ()
    assert len(found.provable) == 31
    solved = found.provable[0]
    assert solved.bill == {"SL": 6, "PE": 3, "PP": 0, "CP": 0} and solved.episodes == 6
    assert solved.command == (
        "optac solve combination-lock horizon=2 actions=2 seed=0 --algorithm opt-ac --seed 0 --iterations 3"
    )


def test_the_same_run_is_counted_once(tmp_path: Path) -> None:
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    once = gather([tmp_path / "a", tmp_path, tmp_path / "a"])
    assert len(once.training) == 1 and "holds the same run as" in once.notes[0] and len(once.notes) == 1


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_two_copies_the_one_that_came_furthest_counts(tmp_path: Path, names: tuple[str, str]) -> None:
    """Not the one with more rows: a run that logs often has many long before its end."""
    whole, half = (tmp_path / name for name in names)
    write_run(whole)
    chatty = write_run(half, returns=(0.0, 100.0), steps=15_000)
    for step in range(10_001, 10_010):
        chatty.append({"time/total_timesteps": step})
    (kept,) = gather([tmp_path]).training
    assert kept.path == whole and kept.is_complete
    further = write_run(tmp_path / "c", seed=1, returns=(0.0,), steps=15_000)
    further.append({"time/total_timesteps": 9_000})
    write_run(tmp_path / "d", seed=1, returns=(0.0,), steps=15_000)
    assert [run.path for run in gather([tmp_path / "d", further.path]).training] == [further.path]


def test_a_torn_last_line_costs_that_line_alone(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a")
    with open(run.metrics_path, "ab") as file:
        file.write(b'{"time/total_timesteps": 20000, "eval/mean_re')
    before = run.metrics_path.read_bytes()
    found = gather([tmp_path])
    assert len(found.training[0].rows) == 3 and "torn" in found.notes[0]
    assert run.metrics_path.read_bytes() == before, "a report changes nothing in the store"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.json", '{"kind": "train", "agent": 3}', "its agent is 3"),
        ("config.json", "{", "is damaged"),
        ("config.json", '{"kind": "odd"}', "its kind is 'odd'"),
        ("metrics.jsonl", "no json\n{}\n", "damaged at line 1"),
        ("status.json", '{"state": "asleep"}', "its state is 'asleep'"),
    ],
)
def test_a_damaged_run_is_named_and_the_others_are_kept(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    write_run(tmp_path / "sound")
    write_run(tmp_path / "broken", seed=1)
    (tmp_path / "broken" / file).write_text(text)
    found = gather([tmp_path])
    assert [run.path.name for run in found.training] == ["sound"]
    assert len(found.notes) == 1 and said in found.notes[0] and "broken" in found.notes[0]
    with pytest.raises(RunFailed, match="nothing to report"):
        gather([tmp_path / "broken"])


@pytest.mark.parametrize(
    "change",
    [{"versions": ["jax 0.10"]}, {"versions": None}, {"settings": {"preset": ["default"]}}, {"changed": 3}],
)
def test_an_odd_configuration_costs_its_run_alone(tmp_path: Path, change: dict[str, object]) -> None:
    write_run(tmp_path / "sound")
    broken = write_run(tmp_path / "broken", seed=1)
    broken.config_path.write_text(json.dumps(broken.config | change))
    report = read_report([tmp_path], out=tmp_path / "r.html")
    (said,) = report.evidence.notes
    assert (
        "broken" in said and "is damaged" in said and without_folders(said, kept=2) in unescape(page(report))
    )


@pytest.mark.parametrize("name", ["time/total_timesteps", "time/fps", "eval/mean_reward"])
def test_an_odd_value_in_a_row_costs_that_value_alone(tmp_path: Path, name: str) -> None:
    run = write_run(tmp_path / "a")
    odd = [None, float("nan"), float("inf"), 10**400, "high", True, [1]]
    for value in odd:
        run.append({"time/total_timesteps": 17_000, "time/fps": 80.0, "train/critic_loss": 1.0, name: value})
    report = read_report([tmp_path], out=tmp_path / "r.html")
    said = f"{run.metrics_path}: {name} is no number in {len(odd)} of its rows, left out there"
    assert report.evidence.notes == (said,) and without_folders(said, kept=2) in page(report)
    (read,) = report.evidence.training
    assert read.curve == {5_000: 0.0, 10_000: 100.0, 15_000: 200.0}
    assert read.reached == (15_000 if name == "time/total_timesteps" else 17_000)
    assert read.speeds == ([] if name == "time/fps" else [80.0] * len(odd))


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("gap", float("nan")),
        ("episodes", None),
        ("bill", {}),
        ("curve", {"episodes": [8], "gap": [None], "last_gap": [1.0]}),
    ],
)
def test_a_damaged_row_of_a_comparison_costs_that_run_alone(tmp_path: Path, name: str, odd: object) -> None:
    shutil.copytree(RESULTS / "lock-8-5" / "driven", tmp_path / "driven")
    metrics = tmp_path / "driven" / "metrics.jsonl"
    first, *rest = metrics.read_text().splitlines()
    metrics.write_text("\n".join([json.dumps(json.loads(first) | {name: odd}), *rest]) + "\n")
    found = gather([tmp_path / "driven"])
    assert len(found.provable) == len(rest) == 29
    assert len(found.notes) == 1 and f"{metrics} is damaged at row 1" in found.notes[0]


def test_folders_without_a_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for name, said in [
        ("absent", "does not exist"),
        ("empty", "is empty"),
        ("other", "holds no run"),
        ("file", "is a file"),
    ]:
        with pytest.raises(InvalidInput, match=said):
            gather([tmp_path / name])
    with pytest.raises(InvalidInput, match="no folder was given"):
        gather([])


def test_an_unreadable_folder_is_refused(tmp_path: Path) -> None:
    """As a user who may not read it, which root always may."""
    closed = tmp_path / "closed"
    write_run(closed / "a")
    closed.chmod(0)
    tmp_path.chmod(0o755)
    code = (
        "import sys, os; from pathlib import Path; from optac.report.evidence import gather\n"
        "from optac.errors import InvalidInput\n"
        "os.chdir(sys.argv[1])\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: gather([Path('closed')])\n"
        "except InvalidInput as error: print(error)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
        )
    finally:
        closed.chmod(0o755)
    assert done.stdout == "closed cannot be read: Permission denied; give a folder that you may read\n"
    assert len(gather([closed]).training) == 1


def test_a_study_with_a_report_of_its_own_is_left_to_it() -> None:
    with pytest.raises(RunFailed, match="table1, which has a report"):
        gather([RESULTS / "table1"])


def test_groups_differ_in_more_than_the_seed_and_say_in_what(tmp_path: Path) -> None:
    write_run(tmp_path / "a", seed=1)
    write_run(tmp_path / "b", seed=0, checkpoint_every=7)
    write_run(tmp_path / "c", batch_size=64)
    write_run(tmp_path / "d", "crffsac", returns=(1.0,), steps=10_000)
    groups = group_runs(gather([tmp_path]).training, REFERENCE)
    assert [group.label for group in groups] == ["SAC", "SAC · batch_size=64", "cRFFSAC"]
    assert list(groups[0].scores) == [0, 1] and groups[0].has_usual_settings
    assert not groups[1].has_usual_settings and groups[1].runs[0].command.endswith("--set batch_size=64")
    assert groups[2].summary is None and groups[2].band.estimate == (1.0,)
    assert short_name("optac/Ant-v0") == "Ant" and short_name("Hopper-v5") == "Hopper-v5"


def test_committed_runs_are_read_whole() -> None:
    found = gather([RESULTS / "agents", RESULTS / "lock-8-5"])
    assert found.notes == () and len(found.training) >= 8 and len(found.provable) == 45
    config = json.loads((found.training[0].path / "config.json").read_text())
    assert found.training[0].config == config
    assert os.path.isabs(found.training[0].path)
