"""Every example of the documentation runs: the Python of a page in one session, its commands in between, in order.

Two tutorials run with the default tests, the third and the search with the slow ones, all with `make docs`.
docs/examples.toml says what is shortened or left out.
"""

import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from optac import registry
from optac.cli import main
from scripts.page_examples import DOCS, FENCE, ROOT, Example, examples, marked, notebook, plans

PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
DEFAULT = ("index.md", "tutorials/paper.md", "tutorials/own-mdp.md")
"""run with the default tests; the others need minutes"""
SLOW = ("tutorials/train.md", "tuning.md")
"""run with the slow tests too"""
QUIET = ("solve", "compare", "train", "resume", "sweep", "tune", "reproduce")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like this repository to who reads: its examples and results are there."""
    for name in ("examples", "results"):
        shutil.copytree(ROOT / name, tmp_path / name) if name == "examples" else (tmp_path / name).symlink_to(
            ROOT / name
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_paths", [])
    return tmp_path


def run_page(page: str) -> int:
    """Run a page's examples: how many there were."""
    plan = plans().get(page, {})
    files, space, count = iter(plan.get("files", [])), {}, 0
    for example in examples((DOCS / page).read_text(), plan):
        if example.language == "toml":
            Path(next(files)).write_text(example.text)
        if example.is_run:
            count += 1
            _run(example, space)
    return count


def _run(example: Example, space: dict[str, Any]) -> None:
    if example.language == "python":
        exec(compile(example.text, "a page", "exec"), space)
    elif example.language == "toml":
        tomllib.loads(example.text)
    for line in example.commands:
        words = shlex.split(line)[1:]
        quiet = ["--quiet"] if words[0] in QUIET else []
        assert main([*words, *quiet]) == 0, line


@pytest.mark.parametrize(
    "page",
    [
        page
        if page in DEFAULT
        else pytest.param(page, marks=pytest.mark.slow if page in SLOW else pytest.mark.docs)
        for page in PAGES
    ],
)
@pytest.mark.filterwarnings("ignore::optac.errors.OptacWarning")
def test_the_examples_of_a_page_run(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = run_page(page)
    assert count or page not in DEFAULT


def test_what_is_shortened_or_left_out_says_so_below_the_block() -> None:
    text = "```\noptac train X --steps 100\n```\n\n```python\nmade_up()\n```\n"
    plan = {"shorter": {"--steps 100": "--steps 3"}, "not_run": {"made_up": "it is made up"}}
    shown = marked(text, plan)
    assert "Run by the tests with less: `--steps 3` for `--steps 100`." in shown
    assert shown.index("less") < shown.index("```python") and "Not run by the tests: it is made up." in shown
    first, second = examples(text, plan)
    assert first.commands == ["optac train X --steps 3"] and first.is_run and not second.is_run
    with pytest.raises(ValueError, match="in no code block of the page: gone"):
        examples(text, {"not_run": {"gone": "?"}})


@pytest.mark.parametrize("page", PAGES)
def test_the_plan_of_every_page_fits_it_and_shell_is_only_what_is_no_example(page: str) -> None:
    for example in examples((DOCS / page).read_text(), plans().get(page, {})):
        assert example.language in ("python", "toml", "", "console", "text"), f"{page}: {example.language}"
    assert set(plans()) <= set(PAGES)


def test_a_tutorial_is_a_notebook_with_its_code_in_order() -> None:
    text = (DOCS / "tutorials" / "own-mdp.md").read_text()
    cells = notebook(text)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code == [block["text"].strip() for block in FENCE.finditer(text) if block["language"] == "python"]
    assert cells[0]["cell_type"] == "markdown" and "Your own MDP" in cells[0]["source"][0]
