"""Table 2 as a sweep: what it runs, in pieces, each finished run published once and never run again."""

import json
from itertools import product
from pathlib import Path

import pytest

from optac.cli import main
from optac.errors import InvalidInput
from optac.runs.folder import RunFolder
from optac.runs.publishing import is_published, publish
from optac.runs.training_config import training_config, training_id
from optac.studies.published_runs import reproduce_runs
from optac.studies.table2.cells import FIRST, SEEDS, STEPS
from optac.studies.table2.cells import sweep as table2_sweep


def test_all_of_it_is_six_tasks_three_agents_four_seeds_the_most_telling_first() -> None:
    runs = table2_sweep().runs
    assert len(runs) == 72 == len({run.id for run in runs})
    assert list(dict.fromkeys(run.config["environment"] for run in runs)) == list(STEPS)
    assert runs[0].config["environment"] == "optac/HalfCheetah-v0" and runs[0].total == 200_000
    assert {run.config["settings"]["preset"] for run in runs} == {"default"}
    told = [(run.config["seed"], run.config["environment"], run.config["agent"]) for run in runs]
    assert told[:24] == list(product(SEEDS, FIRST, ["sac", "crffsac"]))
    assert [seed for seed, *_ in told[24:]] == sorted(seed for seed, *_ in told[24:])


def test_a_piece_of_it_is_the_same_runs() -> None:
    piece = table2_sweep(environments=["optac/Hopper-v0"], seeds=2).runs
    assert len(piece) == 6 and {run.id for run in piece} < {run.id for run in table2_sweep().runs}
    with pytest.raises(
        InvalidInput, match="unknown task of table2 'Hopper-v0'; known, nearest first: optac/Hop"
    ):
        table2_sweep(environments=["Hopper-v0"])
    with pytest.raises(InvalidInput, match="seeds=0 is not valid"):
        table2_sweep(seeds=0)


@pytest.fixture
def trained(tmp_path: Path) -> RunFolder:
    """A run as training leaves it."""
    config = training_config("optac/Hopper-v0", "sac", steps=200_000, seed=1, settings={"batch_size": 64})
    folder = RunFolder.create(tmp_path / "by-hand", {**config, "commit": "0123abc"})
    folder.append({"time/total_timesteps": 200_000, "eval/mean_reward": 1.5})
    folder.set_status("running")
    return folder


def test_only_a_finished_run_is_published_and_without_its_checkpoints(
    trained: RunFolder, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="is running; only a finished run is published"):
        publish(trained.path, tmp_path / "results")
    trained.set_status("finished")
    record = publish(trained.path, tmp_path / "results")
    assert record.name == training_id(trained.config) and is_published(record.name, tmp_path / "results")
    assert sorted(path.name for path in record.iterdir()) == ["config.json", "metrics.jsonl", "status.json"]
    config = RunFolder.open(record).config
    assert config["commit"] == "0123abc" and config["versions"] == trained.config["versions"]
    assert config["command"] == (
        "optac train optac/Hopper-v0 --agent sac --steps 200000 --seed 1 --set batch_size=64"
    )
    assert RunFolder.open(record).rows() == trained.rows()


def test_a_run_that_recorded_no_commit_gets_none_from_whoever_publishes_it(tmp_path: Path) -> None:
    config = training_config("optac/Hopper-v0", "sac", steps=200_000, seed=1, settings={})
    folder = RunFolder.create(tmp_path / "by-hand", config)
    folder.set_status("finished")
    assert RunFolder.open(publish(folder.path, tmp_path / "results")).config["commit"] is None


def test_what_is_published_is_not_run_again(tmp_path: Path) -> None:
    sweep = table2_sweep(environments=["optac/Reacher-v0"], seeds=1)
    for run in sweep.runs:
        folder = RunFolder.create(tmp_path / "work" / run.id, run.config)
        folder.set_status("finished")  # and then the launcher died, before it published it

    def no_executor() -> None:
        raise AssertionError("there is nothing to run")

    assert reproduce_runs(sweep, tmp_path / "work", tmp_path / "results", no_executor) == set()
    assert all(is_published(run.id, tmp_path / "results") for run in sweep.runs)


def test_reproduce_runs_a_piece_and_publishes_it(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "table2", "--environments", "optac/Pendulum-v0", "--steps", "20", "--seeds", "1"]
    assert main([*words, "--jobs", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["finished"] == 3 and said["study"] == "table2"
    assert "Pendulum" in Path(said["page"]).read_text()
    for run in said["runs"]:
        record = Path("results/table2-20-steps") / run["id"]
        assert json.loads((record / "result.json").read_text())["parameters_sha256"]
        assert [row["time/total_timesteps"] for row in RunFolder.open(record).rows()] == [20]
    assert main(["reproduce", "training-curves", *words[2:], "--minutes", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] == 3
    assert main([*words, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"study": "table2", "missing": []}
    for option in ("--steps", "--retries"):
        assert main(["reproduce", "oracles", option, "20"]) == 2
        assert "table2, training-curves, not with oracles" in capsys.readouterr().err
