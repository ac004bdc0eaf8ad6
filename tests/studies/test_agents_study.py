"""The agents' report says what the runs' rows say."""

from pathlib import Path

from optac.runs.folder import RunFolder
from optac.studies.agents.report import read_runs, write_report


def make_run(folder: Path, agent: str, seed: int, returns: list[float]) -> None:
    config = {"agent": agent, "environment": "optac/Hopper-v0", "seed": seed, "steps": 10 * len(returns)}
    run = RunFolder.create(folder / f"{agent}-{seed}", config)
    for i, value in enumerate(returns):
        run.append({"time/total_timesteps": 10 * (i + 1), "eval/mean_reward": value})


def test_the_table_has_each_seed_and_the_mean(tmp_path: Path) -> None:
    make_run(tmp_path, "sac", 1, [0.0, 1.0, 2.0, 3.0])
    make_run(tmp_path, "sac", 0, [0.0, 3.0, 4.0, 5.0])
    make_run(tmp_path, "crffsac", 0, [1.0, 9.0])
    text = write_report(tmp_path).read_text()
    assert "| sac | 0 | 40 | 3 | 4 |  |" in text
    assert "| sac | 1 | 40 | 1 | 2 | 3 |" in text
    assert "| crffsac | 0 | 20 | 1 | 5 |  |" in text
    assert (tmp_path / "Hopper-v0.png").exists()


def test_runs_are_grouped_and_sorted_by_seed(tmp_path: Path) -> None:
    make_run(tmp_path, "sac", 1, [1.0])
    make_run(tmp_path, "sac", 0, [2.0])
    runs = read_runs(tmp_path)["optac/Hopper-v0"]["sac"]
    assert [run.config["seed"] for run in runs] == [0, 1]
