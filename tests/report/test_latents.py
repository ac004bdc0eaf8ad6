"""The learnt latents of a solve beside the true ones, in its result and on the page."""

import json

import numpy as np
import pytest

from optac.cli import main
from optac.report.latents import confusion_svg
from optac.report.page import page, read_report
from optac.runs.solving import SolveConfig, prepared_solve, run_solve


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    config = SolveConfig("rich-lock", {"horizon": 2, "actions": 3}, episodes=200)
    out = tmp_path_factory.mktemp("solves") / "rich"
    run_solve(prepared_solve(config), out)
    return out


def test_the_result_says_how_latents_are_decoded(solved) -> None:
    result = json.loads((solved / "result.json").read_text())
    assert result["last_gap"] <= 0.05 and result["standard_error"] < 0.005
    for rows in result["confusion"]:
        assert np.sum(rows, axis=1) == pytest.approx(1.0, abs=0.01) and len(rows) == 3
        live = np.argmax(rows, axis=1)[:2]
        assert live[0] != live[1]  # their right actions differ at both steps of this lock, which is open


def test_the_page_shows_them(solved, tmp_path) -> None:
    text = page(read_report([solved.parent], out=tmp_path / "page.html"))
    assert 'id="latents"' in text and text.count("fill-opacity") >= 2 * 3 * 2
    damaged = json.loads((solved / "result.json").read_text())
    (solved / "result.json").write_text(json.dumps({**damaged, "confusion": [[[0.5], [1.0, 2.0]]]}))
    assert main(["report", str(solved.parent), "--out", str(tmp_path / "page.html"), "--quiet"]) != 0


def test_columns_stand_by_the_latent_they_are_of() -> None:
    svg = confusion_svg((((0.0, 0.0, 1.0), (0.9, 0.1, 0.0)),))
    dark = [part for part in svg.split("<rect ") if 'fill-opacity="1.0"' in part]
    assert len(dark) == 1 and dark[0].startswith('x="0" y="14"')
    assert "step 1, latent 0: 1.00 to 2" in svg
