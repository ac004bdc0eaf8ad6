"""The readme's commands do what the text beside them says."""

import json
import re
import shlex
from pathlib import Path

import pytest

from optac.cli import main

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text()


def command(start: str) -> list[str]:
    """The words after `optac` of the readme's command that begins so."""
    found = re.search(rf"optac ({re.escape(start)}[^`\n#]*)", TEXT)
    assert found is not None, start
    return shlex.split(found.group(1))


def solved(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    assert main([*words, "--json", "--out", str(folder / "run")]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_lock_opens_with_the_bill_that_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = solved(command("solve combination-lock horizon=6 actions=10 --iterations"), tmp_path, capsys)
    assert found["last_gap"] <= 0.05
    shown = {name: int(count) for name, count in re.findall(r"(SL|PE|PP|CP)=(\d+)", TEXT)}
    assert {name: found["bill"][name] for name in shown} == shown and len(shown) == 4


@pytest.mark.slow
def test_frozen_lake_is_solved_in_the_episodes_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = solved(command("solve FrozenLake-v1"), tmp_path, capsys)
    assert found["last_gap"] <= 0.05 * 0.1867, "5 % of what uniform play leaves"


def test_the_report_of_the_committed_runs_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command("report")
    folders = [str(README.parent / word) for word in words[1 : words.index("--out")]]
    assert main(["report", *folders, "--out", str(tmp_path / "page.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] > 100_000


def test_every_option_that_the_readme_names_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    named = re.findall(r"optac (\w+)([^`\n#]*)", TEXT)
    for name, rest in named:
        options = re.findall(r"--[a-z-]+", rest)
        if options:
            with pytest.raises(SystemExit):
                main([name, "--help"])
            help_text = capsys.readouterr().out
            assert all(option in help_text for option in options), (name, options)
