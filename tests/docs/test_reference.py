"""The reference is complete, and the tables of the hand-written pages say the same; links lead somewhere."""

import dataclasses
import os
import re
from pathlib import Path
from typing import Any

import pytest

import optac
from optac import registry
from optac.algorithms.protocol import load_algorithm
from optac.cli import COMMANDS
from optac.runs.metrics import SOLVE, TRAINING
from scripts import reference
from scripts.page_examples import DOCS, ROOT
from tests.random_problems import random_problem

TEXTS = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return reference.pages()


def test_every_public_name_has_an_entry_with_a_text(made: dict[str, str]) -> None:
    for module in reference.MODULES:
        page = made[f"reference/api/{module}.md"]
        for name in reference.public_names(module):
            entry = page.partition(f"{{ #{module}.{name} }}\n")[2].partition("\n## ")[0]
            assert len(re.sub(r"```.*?```", "", entry, flags=re.S).split()) > 0, (
                f"{module}.{name} has no text"
            )
    names = set(optac.__all__) - {"__version__"}
    assert names == set(reference.public_names("optac"))


def test_nothing_on_the_pages_changes_with_the_process_that_made_them(made: dict[str, str]) -> None:
    for name, page in made.items():
        assert not re.search(r" at 0x[0-9a-f]+", page), name
    assert "policy=soft_policy" in made["reference/api/optac.extend.md"]


def test_every_command_and_option_is_listed(made: dict[str, str]) -> None:
    page = made["reference/commands.md"]
    assert re.findall(r"^## optac (\w+)$", page, re.M) == list(COMMANDS)
    for name, parser in reference.command_parsers().items():
        section = page.partition(f"## optac {name}\n")[2].partition("\n## ")[0]
        for action in parser._actions:
            assert (action.option_strings or [str(action.metavar or action.dest)])[-1] in section
            assert action.help, f"optac {name}: {action.dest} has no help"


def test_every_setting_is_listed_with_its_meaning(made: dict[str, str]) -> None:
    page = made["reference/settings.md"]
    for name in registry.ours("algorithm"):
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for field in dataclasses.fields(load_algorithm(name).Settings):
            line = re.search(rf"^\| `{field.name}` \| (.+?) \|", section, re.M)
            assert line and line[1].strip(), f"{name}: {field.name}"
    for agent in registry.ours("agent"):
        assert "| `batch_size` |" in page.partition(f"\n## {agent}\n")[2].partition("\n## ")[0]
    assert "—" not in page.partition("\n## opt-ac\n")[2].partition("\n## ")[0]


def test_every_metric_that_a_run_writes_is_described(made: dict[str, str]) -> None:
    rows: list[dict[str, Any]] = []
    small: dict[str, Any] = {"width": 8, "batch_size": 8, "learning_starts": 100, "eval_every": 500}
    optac.CRFFSAC("Pendulum-v1", **small).learn(500, callback=rows.append)
    assert set().union(*rows) == set(TRAINING)
    for name in registry.ours("algorithm"):
        history = optac.solve(random_problem(0, horizon=2, states=3), name, episodes=200, seed=0).history
        assert set().union(*history) <= set(SOLVE), name
    for key in [*TRAINING, *SOLVE]:
        assert f"| `{key}` |" in made["reference/metrics.md"]


def test_the_page_about_runs_describes_the_same_metrics() -> None:
    table = (DOCS / "agents" / "runs.md").read_text().partition("## What a row says")[2].partition("\n## ")[0]
    keys = [key for cell in re.findall(r"^\| ([^|]+) \|", table, re.M)[1:] for key in cell.split(", ")]
    assert [key.strip() for key in keys] == list(TRAINING)


def test_every_page_is_in_the_menu_once(made: dict[str, str]) -> None:
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    others = {name for name in menu if name.startswith(("reference/", "repository/"))}
    assert set(menu) - others == pages and len(set(menu)) == len(menu)
    assert {name for name in others if name.startswith("reference/")} == set(made)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_the_plain_pages_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for path, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if re.match(r"\w+:", path):
            continue
        target = Path(os.path.normpath(page.parent / path)) if path else page
        assert target.exists(), f"{page.name} links to {path}"
        if anchor and target.suffix == ".md":
            assert anchor in headings(target), f"{page.name} links to {path}#{anchor}"


def headings(page: Path) -> set[str]:
    """The anchors that a forge gives the headings of a page."""
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in found}


def test_listed_settings_are_a_list_and_a_truth_value_has_no_bounds(made: dict[str, str]) -> None:
    assert "\n- `batch_size` [128]: transitions in one update\n" in made["reference/api/optac.md"]
    assert "true or false, at least" not in made["reference/settings.md"]
    assert (
        max(map(len, made["reference/api/optac.md"].partition("```python\nCRFFSAC(")[2].splitlines()[:12]))
        <= 88
    )
