"""The pages' tables of settings are the settings."""

import re
from pathlib import Path
from typing import Any

import pytest

from optac.agents import crffsac, sac

PAGES = Path(__file__).parents[2] / "docs" / "agents"
HEADINGS = ["Idea", "Algorithm", "Cost", "Settings", "Differs from the paper", "Run it", "Results"]


def documented(page: str) -> dict[str, list[str]]:
    settings = (PAGES / page).read_text().partition("## Settings")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", settings, re.M)
    return {name: rest for name, *rest in cells if name != "name"}


def written(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def test_every_setting_is_documented_with_its_defaults() -> None:
    tables = documented("sac.md") | documented("crffsac.md") | documented("crffsac-bonus.md")
    presets = [crffsac.Settings.choose({"preset": preset}) for preset in ("default", "recipe", "paper")]
    expected = {
        name: [*(written(getattr(chosen, name)) for chosen in presets), text]
        for name, _, text in crffsac.Settings.described()
        if name not in ("preset", "bonus")
    }
    assert tables == expected
    assert documented("sac.md").keys() == {name for name, _, _ in sac.Settings.described()} - {"preset"}


@pytest.mark.parametrize("page", ["sac.md", "crffsac.md", "crffsac-bonus.md"])
def test_every_page_has_the_same_headings(page: str) -> None:
    assert re.findall(r"^## (.+)$", (PAGES / page).read_text(), re.M) == HEADINGS
