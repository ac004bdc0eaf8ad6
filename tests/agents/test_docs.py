"""The pages' tables of settings are the settings."""

import inspect
import pydoc
import re
from pathlib import Path
from typing import Any, Unpack

import pytest

from optac.agents import crffsac, sac, td7sac
from optac.agents.agent import CRFFSAC, SAC
from optac.agents.setting_types import AgentSettingTypes, FeatureSettingTypes
from optac.errors import InvalidInput
from scripts import setting_types

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
    presets = [crffsac.Settings.choose({"preset": preset}) for preset in ("default", "plain", "paper")]
    expected = {
        name: [*(written(getattr(chosen, name)) for chosen in presets), text]
        for name, _, text in crffsac.Settings.described()
        if name not in ("preset", "bonus")
    }
    assert tables == expected
    assert documented("sac.md").keys() == {name for name, _, _ in sac.Settings.described()} - {"preset"}


def test_the_page_of_td7sac_has_what_differs_from_the_shared_settings() -> None:
    presets = [td7sac.Settings.choose({"preset": preset}) for preset in ("default", "plain", "paper")]
    shared = {name: (default, text) for name, default, text in sac.Settings.described()}
    expected = {
        name: [*(written(getattr(chosen, name)) for chosen in presets), text]
        for name, default, text in td7sac.Settings.described()
        if shared.get(name, ("", ""))[0] != default
        or any(name in own for own in (td7sac.PLAIN, td7sac.PAPER))
    }
    assert documented("td7sac.md") == expected


@pytest.mark.parametrize("page", ["sac.md", "crffsac.md", "crffsac-bonus.md", "td7sac.md"])
def test_every_page_has_the_same_headings(page: str) -> None:
    assert re.findall(r"^## (.+)$", (PAGES / page).read_text(), re.M) == HEADINGS


def test_the_types_that_editors_see_are_the_settings() -> None:
    assert setting_types.FILE.read_text() == setting_types.written(), "run `python -m scripts.setting_types`"
    assert SAC.__init__.__annotations__["settings"] == Unpack[AgentSettingTypes]
    assert CRFFSAC.__init__.__annotations__["settings"] == Unpack[FeatureSettingTypes]


@pytest.mark.parametrize(("kind", "settings"), [(SAC, sac.Settings), (CRFFSAC, crffsac.Settings)])
def test_help_shows_every_setting_with_its_default_and_meaning(kind: type, settings: Any) -> None:
    shown = inspect.signature(kind).parameters
    text = pydoc.render_doc(kind)
    for name, default, meaning in settings.described():
        assert shown[name].default == default and shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert name == "bonus" or f"{name} [{default}]: {meaning}" in text
    assert next(iter(shown)) == "env" and {"seed", "threads"} <= shown.keys()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("lr", "learning_rate"),
        ("gamma", "discount"),
        ("tau", "target_rate"),
        ("buffer_size", "replay_capacity"),
        ("batchsize", "batch_size"),
        ("flr", "feature_learning_rate"),
        ("samples", "bonus_samples"),
    ],
)
def test_a_wrong_name_suggests_the_right_one_first(given: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=rf"unknown setting '{given}'; known, nearest first: {meant},"):
        crffsac.Settings.choose({given: 1})
