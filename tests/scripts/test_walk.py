"""A solve walks through few modules: whoever follows the command reads no more than these."""

from pathlib import Path

from scripts.walk import walk


def test_a_solve_calls_at_most_40_modules(tmp_path: Path) -> None:
    found = walk("solve", tmp_path)
    assert len(found["called"]) <= 40 and "optac.algorithms.opt_ac" in found["called"]
