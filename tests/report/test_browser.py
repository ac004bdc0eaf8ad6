"""The page in a real browser: it opens without an error, a line is switched off, a point tells its numbers."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optac.report.files import write_report
from optac.studies.table2.report import REFERENCE
from tests.report.training_runs import write_run

pytestmark = pytest.mark.browser
RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    for seed in range(3):
        for agent in ("sac", "crffsac"):
            returns = (0.0, 1000.0 * (seed + 1), 4000.0 + 100 * seed)
            write_run(folder / "runs" / f"{agent}{seed}", agent, seed, returns)
            write_run(
                folder / "runs" / f"p{agent}{seed}", agent, seed, returns, environment="optac/Hopper-v0"
            )
    return write_report(
        [folder / "runs", RESULTS / "lock-8-5" / "driven"], folder / "page.html", reference=REFERENCE
    ).page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program is not None, "no browser: apt-get install chromium"
    # Chromium refuses to sandbox itself under root.
    options = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=options)
        yield opened
        opened.close()


def open_page(browser: Any, page_file: Path, **options: Any) -> tuple[Any, list[str]]:
    """The page, and everything it complains of; nothing may be fetched."""
    page = browser.new_context(**options).new_page()
    said: list[str] = []
    page.on(
        "console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: None if asked.url == page_file.as_uri() else said.append(asked.url[:80]))
    page.goto(page_file.as_uri())
    return page, said


def test_a_line_is_switched_off_and_on_again(browser: Any, page_file: Path) -> None:
    page, said = open_page(browser, page_file)
    lines = page.locator('#curves .series[data-series="SAC"]')
    assert lines.count() == 2 and lines.first.is_visible()
    switches = page.locator('button[data-series-switch="SAC"]')
    assert switches.count() == 2, "one at the curves, one at the profile"
    switches.first.click()
    assert (
        not lines.first.is_visible() and not page.locator('#agents .series[data-series="SAC"]').is_visible()
    )
    assert [one.get_attribute("aria-pressed") for one in switches.all()] == ["false", "false"]
    assert page.locator('#curves .series[data-series="cRFFSAC"]').first.is_visible()
    switches.last.click()
    assert [one.get_attribute("aria-pressed") for one in switches.all()] == ["true", "true"]
    assert lines.first.is_visible() and said == []


def test_an_environment_is_switched_off(browser: Any, page_file: Path) -> None:
    page, said = open_page(browser, page_file)
    figure = page.locator('figure[data-environment="optac/Hopper-v0"]')
    page.locator("#curves button", has_text="Hopper").click()
    assert not figure.is_visible()
    assert page.locator('figure[data-environment="optac/HalfCheetah-v0"]').is_visible() and said == []


def test_a_point_tells_its_step_and_returns_by_pointer_and_by_key(browser: Any, page_file: Path) -> None:
    page, said = open_page(browser, page_file)
    chart = page.locator("#curves svg.chart").first
    chart.scroll_into_view_if_needed()
    width = chart.bounding_box()["width"]
    chart.hover(position={"x": width * 0.96, "y": 80})
    tip = page.locator("#curves .tip").first
    assert tip.locator("b").inner_text() == "15,000 steps"
    assert "SAC 4,100 [4,000, 4,200]" in " ".join(tip.inner_text().split())
    assert "s0 4,000 · s1 4,100 · s2 4,200" in tip.inner_text()
    chart.focus()
    page.keyboard.press("ArrowLeft")
    assert tip.locator("b").inner_text() == "10,000 steps"
    page.keyboard.press("Escape")
    assert not tip.is_visible() and said == []


def test_nothing_sticks_out_on_a_phone_in_the_dark(browser: Any, page_file: Path) -> None:
    page, said = open_page(
        browser, page_file, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    captions = [one.bounding_box() for one in page.locator("caption span").all()]
    assert captions and all(box["x"] + box["width"] <= 390 for box in captions), "they wrap, tables scroll"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(20, 23, 26)"
    page.locator("#curves svg.chart").first.tap()
    assert page.locator("#curves .tip").first.is_visible() and said == []


def test_without_javascript_tables_figures_and_rows_are_there(browser: Any, page_file: Path) -> None:
    page, said = open_page(browser, page_file, java_script_enabled=False)
    assert page.locator(".paper .ours").first.is_visible()
    assert page.locator("#curves .line").first.is_visible() and page.locator(".keys").first.is_visible()
    assert not page.locator(".switches").first.is_visible()
    with page.expect_download() as download:
        page.locator('a[download="training-rows.csv"]').click()
    assert Path(download.value.path()).read_text().startswith("run,agent,environment,seed,")
    assert said == []
