"""The site builds strictly, loads nothing from elsewhere, and has every public name as a target.

Run by `make docs`: what is built here, into build/site, is the site that it leaves.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import reference
from scripts.page_examples import ROOT

pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def site() -> Path:
    place = ROOT / "build" / "site"
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--site-dir",
        str(place),
    ]  # --quiet would hide warnings
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place


def test_every_public_name_is_a_target_of_the_site(site: Path) -> None:
    for module in reference.MODULES:
        text = (site / "reference" / "api" / f"{module}.html").read_text()
        for name in reference.public_names(module):
            assert f'id="{module}.{name}"' in text


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        loads = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)', text)
        loads += re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="(https?:[^"]+)', text)
        assert loads == [], page.name


def test_a_tutorial_has_its_notebook(site: Path) -> None:
    assert {file.stem for file in (site / "tutorials").glob("*.ipynb")} == {"paper", "own-mdp", "train"}


def test_a_broken_link_stops_the_build(tmp_path: Path) -> None:
    from mkdocs.exceptions import PluginError

    from scripts.site_hooks import targets

    page = ROOT / "docs" / "index.md"
    assert page.with_name("problems.md") in targets(page)
    broken = tmp_path / "broken.md"
    broken.write_text("[nowhere](gone.md)")
    with pytest.raises(PluginError, match=r"links to gone\.md, which is no file"):
        targets(broken)


def test_changed_examples_are_marked_on_their_page(site: Path) -> None:
    text = (site / "tutorials" / "train.html").read_text()
    assert 'class="tested"' in text and "Run by the tests with less:" in text


def test_underscores_of_formulas_stay_what_they_are(site: Path) -> None:
    assert "‖φ̂_h‖_{Λ̂⁻¹}" in (site / "algorithms" / "opt-ac.html").read_text()
