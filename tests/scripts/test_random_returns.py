"""Random actions earn on our tasks what the benchmark published."""

import json
from pathlib import Path

import pytest

from scripts.random_returns import PUBLISHED, compare, main, markdown

ROOT = Path(__file__).parents[2]
EPISODES = {"optac/Reacher-v0": 30, "optac/InvertedPendulum-v0": 30, "optac/Pendulum-v0": 60}


@pytest.mark.parametrize("name", PUBLISHED)
def test_random_return_is_within_one_published_deviation(name):
    episodes = EPISODES.get(name, 3)
    row = compare(name, episodes, seed=1)
    error_of_our_mean = row["deviation"] / episodes**0.5
    assert abs(row["mean"] - row["published_mean"]) < row["published_deviation"] + 3 * error_of_our_mean


def test_the_documented_table_is_the_committed_result():
    record = json.loads((ROOT / "results/environments/random_returns.json").read_text())
    rows = record["rows"]
    assert [row["environment"] for row in rows] == list(PUBLISHED)
    assert markdown(rows) in (ROOT / "docs/environments.md").read_text()


def test_the_command_writes_what_it_prints(tmp_path, capsys):
    main(["--episodes", "2", "--seed", "3", "--out", str(tmp_path / "rows.json")])
    record = json.loads((tmp_path / "rows.json").read_text())
    assert record["episodes"] == 2 and record["seed"] == 3
    assert capsys.readouterr().out == markdown(record["rows"]) + "\n"
