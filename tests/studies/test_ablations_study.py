"""The study of Opt-AC's parts: its tables from made-up rows, its runs, its committed rows."""

import json
from pathlib import Path

from optac.studies.ablations import STUDY
from optac.studies.ablations.cells import ABLATED, ABLATIONS, SEEDS, cells
from optac.studies.ablations.report import ablation_table, times_table

ROOT = Path(__file__).parents[2]


def row(
    ablation: str, last: int | None, mixture: int | None, seed: int = 0, first: int | None = None
) -> dict:
    """A run on one problem with a cap of 2,000 episodes."""
    points = {"last": last, "mixture": mixture, "first": last if first is None else first}
    points = {name: at and {"episodes": at} for name, at in points.items()}
    return {"on": "lock", "ablation": ablation, "seed": seed, "cap": 2_000, **points}


def test_mixture_and_last_policy_have_lines_of_their_own_and_caps_are_said() -> None:
    rows = [row("as it is", 100, 1_500), row("α = 0", None, None, first=800)]
    lines = ablation_table(rows).splitlines()
    assert "| as it is | 100 (n = 1) |" in lines and "| as it is: mixture | 1,500 (n = 1) |" in lines
    assert "| α = 0 | >2,000 (0/1) |" in lines and "| α = 0: first hit | 800 (n = 1) |" in lines
    assert "as it is: first hit" not in "".join(lines)


def test_times_are_of_the_seeds_that_both_have() -> None:
    """Seed 1 of the whole algorithm is left out; a run that is not done after 2,000 is at least 20 times 100."""
    rows = [
        row("as it is", 100, 1_500),
        row("as it is", 900, 1_500, seed=1),
        row("ties", 250, None),
        row("α = 0", None, None),
    ]
    lines = times_table(rows).splitlines()
    assert "| ties | 2.5 |" in lines and "| α = 0 | >20.0 |" in lines
    assert "| as it is: mixture | 15.0 |" in times_table(rows[:1])
    assert "| rank = S | — |" in lines


def test_every_ablation_is_run_on_five_problems_with_ten_seeds() -> None:
    """But rank = S where the rank is S as it is: on plain locks, deep-sea and river-swim."""
    assert len(ABLATED) == 5 and len(cells()) == SEEDS * (5 * (len(ABLATIONS) - 1) + 2)
    changed = [cell.arguments for cell in cells() if cell.arguments["ablation"] == "rank = S"]
    assert {run["on"]: run["settings"]["rank"] for run in changed} == {
        "lock through 30 ids, decoder": 30,
        "random-simplex": 30,
    }


def test_committed_rows_are_of_cells_that_there_are() -> None:
    lines = (ROOT / "results/ablations/metrics.jsonl").read_text().splitlines()
    there = {json.loads(line)["cell"] for line in lines}
    assert there <= {cell.id for cell in cells()} and len(there) == len(lines) > 20


def test_report_names_the_parts(tmp_path: Path) -> None:
    text = STUDY.write_report([row("as it is", 100, 1_500)], 220, tmp_path).read_text()
    assert "**1 of 220 runs are in" in text and "as it is: mixture" in text
