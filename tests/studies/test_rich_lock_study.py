"""The study of rich-lock: when a run counts as solved, what a row holds, what the tables say of it."""

import json
from pathlib import Path

import pytest

from optac.errors import RunFailed
from optac.studies.rich_lock import STUDY, cells, floor


def row(**changes) -> dict:
    base = {
        "group": "horizon",
        "problem": "rich-lock",
        "parameters": {"horizon": 6},
        "algorithm": "opt-ac",
        "settings": {},
        "seed": 0,
        "budget": 2_000,
        "solved": 900,
        "last_gap": 0.0,
        "bill": {"SL": 1, "PE": 2, "PP": 0, "CP": 0},
        "time/cpu": 1.0,
        "time/evaluation": 0.02,
    }
    return base | changes


@pytest.mark.parametrize(
    ("gaps", "solved"),
    [((0.9, 0.01, 0.06, 0.05, 0.0), 40), ((0.9, 0.0, 0.0, 0.0, 0.06), None), ((0.0,) * 5, 10)],
)
def test_solved_for_good_is_from_there_to_the_end(gaps, solved) -> None:
    history = [{"episodes": 10 * (k + 1), "last_gap": gap} for k, gap in enumerate(gaps)]
    assert cells.solved_for_good(history) == solved


@pytest.mark.parametrize("algorithm", ["opt-ac", "rep-ucb", "lsvi-ucb"])
def test_a_row_is_the_same_again_but_for_its_times(algorithm) -> None:
    how = {"group": "g", "problem": "rich-lock", "parameters": {"horizon": 2, "actions": 2}, "budget": 40}
    one, two = (json.loads(json.dumps(cells.measure(**how, seed=1, algorithm=algorithm))) for _ in range(2))
    assert {k: v for k, v in one.items() if "time/" not in k} == {
        k: v for k, v in two.items() if "time/" not in k
    }
    assert one["episodes"] <= 40 and 0 <= one["time/evaluation"] < 1
    assert ("latents" in one) == (algorithm != "lsvi-ucb")


def test_tables_count_seeds_and_compare_with_the_plain_lock(tmp_path: Path) -> None:
    rows = [row(), row(seed=1, solved=1_100), row(seed=2, solved=None, last_gap=0.9)]
    rows += [row(parameters={"horizon": 12}, seed=s, solved=2_200, budget=4_000) for s in range(3)]
    rows += [row(group="dimension", parameters={"horizon": 6, "dim": 32}, solved=1_650)]
    text = STUDY.write_report(rows, 150, tmp_path).read_text()
    assert "| horizon | opt-ac rich-lock horizon=6 | 2 of 3 | 1,000 (900–1,100) | 2,000 | 0.9 |" in text
    assert "| dimension | opt-ac rich-lock horizon=6 dim=32 | 1.50 |" in text
    assert "| Opt-AC | 6, 12 | 1.00 [" in text  # medians 1,100 and 2,200
    assert "yudasong/briee" in text and "not what it took" in text
    assert (tmp_path / "horizon.png").exists()


def test_budgets_give_the_floor_ten_times_and_no_bonus_five_times_what_we_may_take() -> None:
    arguments = [cell.arguments for cell in cells.cells()]
    without = [one for one in arguments if one.get("settings", {}).get("alpha") == 0.0]
    assert {one["problem"] for one in without} == {"rich-lock", "rich-sea"} and len(without) == 10
    floors = [one for one in arguments if "learner" in one]
    assert len(floors) == 2 and all(one["budget"] == cells.FLOOR[one["problem"]] for one in floors)


def test_the_floor_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr(floor, "find_spec", lambda name: None)
    with pytest.raises(RunFailed, match="optac\\[bench\\]"):
        floor.measure_floor("DQN", "rich-lock", {}, 10, 0)


def test_committed_rows_are_of_cells_that_there_are() -> None:
    file = Path(__file__).parents[2] / "results" / "rich-lock" / "metrics.jsonl"
    rows = [json.loads(line)["cell"] for line in file.read_text().splitlines()]
    assert len(set(rows)) == len(rows) and set(rows) <= {cell.id for cell in cells.cells()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "horizon opt-ac rich-lock horizon=6 s0",
        "distractors opt-ac rich-lock horizon=6 distractors=4 s0",
        "gaussian opt-ac rich-lock horizon=6 model_class=gaussian s0",
        "rep-ucb rep-ucb rich-lock horizon=6 s0",
    ],
)
def test_a_committed_row_is_what_its_cell_gives(name) -> None:
    file = Path(__file__).parents[2] / "results" / "rich-lock" / "metrics.jsonl"
    (found,) = (row for row in map(json.loads, file.read_text().splitlines()) if row["cell"] == name)
    (cell,) = (cell for cell in cells.cells() if cell.id == name)
    now = cell()
    for key in ("episodes", "solved", "bill", "latents"):
        assert now[key] == found[key]
    assert now["last_gap"] == pytest.approx(found["last_gap"], abs=1e-9)
