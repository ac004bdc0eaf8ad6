"""docs/reliability.md names tests that are there, and leaves out no table of cases."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_promise_names_a_test_that_is_there_and_no_battery_is_left_out() -> None:
    promises = [
        line for line in (ROOT / "docs" / "reliability.md").read_text().splitlines() if line.startswith("| ")
    ]
    rows = [line for line in promises if "test_" in line]
    named = {name for line in rows for name in re.findall(r"`([\w/]*test_\w+\.py)`", line)}
    assert len(rows) >= 25 and {name for name in named if not (ROOT / "tests" / name).is_file()} == set()
    assert named >= {f"faults/{file.name}" for file in (ROOT / "tests" / "faults").glob("test_*.py")}
