"""The tables on pages are those of the committed rows."""

import json
import shutil
from pathlib import Path

from scripts.bench_pages import speeds
from scripts.study_pages import write_pages

ROOT = Path(__file__).parents[2]


def test_pages_show_what_the_rows_give(tmp_path: Path) -> None:
    for folder in ("docs/results", "docs/algorithms"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for page in ("README.md", "docs/speed.md"):
        shutil.copyfile(ROOT / page, tmp_path / page)
    pages = write_pages(ROOT / "results", tmp_path)
    assert len(pages) == 8
    for page in pages:
        assert page.read_text() == (ROOT / page.relative_to(tmp_path)).read_text(), "run `make study-pages`"


def test_the_page_of_speeds_is_written_without_a_second_core() -> None:
    measured = json.loads((ROOT / "results" / "bench" / "agents.json").read_text())
    both = "two runs on two cores over one"
    assert both in speeds(measured) and both not in speeds(measured | {"two_cores": []})
