import json
from pathlib import Path

from optac.report.latex import latex_tables
from optac.studies.opt_ac import STUDY
from optac.studies.opt_ac.cells import cells
from optac.studies.opt_ac.report import certificate_table, slope_table, solved_table


def row(**changes) -> dict:
    base = {
        "study": "solved",
        "problem": "lock",
        "parameters": {"horizon": 3},
        "algorithm": "opt-ac",
        "preset": "practical",
        "settings": {},
        "seed": 0,
        "episodes": 900,
        "target_gap": 0.05,
        "uniform_gap": 0.9,
        "first_solved": 20,
        "solved_for_good": 30,
        "last_gap": 0.01,
        "gap": 0.1,
        "certificate": 0.2,
        "curve": {"iteration": [1, 10, 30, 100, 300], "gap": [2 * k**-0.5 for k in (1, 10, 30, 100, 300)]},
    }
    return base | changes


def test_slope_of_a_square_root_is_a_half_with_no_spread() -> None:
    rows = [row(seed=s) for s in range(4)]
    assert "| lock horizon=3 | 4 | 300 | -0.50 | [-0.50, -0.50] |" in slope_table(rows)
    assert "fewer than 3 seeds" in slope_table(rows[:2])


def test_solved_table_counts_what_stayed_unsolved() -> None:
    rows = [row(), row(seed=1, solved_for_good=50), row(seed=2, solved_for_good=None, last_gap=0.4)]
    assert "| lock horizon=3 | opt-ac | 2 of 3 | 40 (30–50) | 20 | 900 | 0.05 | 0.4 |" in solved_table(rows)


def test_certificate_table_tells_silence_from_failure() -> None:
    rows = [
        row(study="certificate", seed=0, certificate=0.2, gap=0.1),
        row(study="certificate", seed=1, certificate=0.05, gap=0.1),
        row(study="certificate", seed=2, certificate=None),
    ]
    line = certificate_table(rows).splitlines()[-1]
    assert "| 3 | 2 | 1 of 2 | 0.125 | 0.100 | 1.25 |" in line


def test_study_is_written_from_its_rows(tmp_path: Path) -> None:
    text = STUDY.write_report([row(seed=s) for s in range(3)], 254, tmp_path).read_text()
    assert "**3 of 254 runs are in" in text and "`optac reproduce opt-ac`" in text and "| 3 of 3 |" in text
    assert (tmp_path / "tables.tex").read_text() == latex_tables(text) and "3 of 3 &" in latex_tables(text)
    assert (tmp_path / "gap-against-k.png").stat().st_size > 10_000
    assert (tmp_path / "gap-against-k.svg").read_text().startswith("<?xml")


def test_committed_study_counts_every_run_once() -> None:
    """The documentation's figures come from these rows."""
    lines = (Path(__file__).parents[2] / "results" / "opt-ac" / "metrics.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["cell"] for line in lines) == sorted(cell.id for cell in cells())
