"""A folder in the place of a file is named in one line, whatever was to be written there."""

import shutil
from pathlib import Path

import probe_environments  # noqa: F401  (registers its environments)
import pytest

from optac.cli import main
from optac.errors import refusal
from optac.plain_files import NotPlain, write_plain
from optac.runs.json_files import write_json
from optac.runs.training import train

ASIDE = ["sweep.json", "config.json", "result.json", "tune.json"]


@pytest.mark.parametrize("name", ASIDE)
def test_a_folder_in_the_place_of_a_file_that_is_written_whole_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(NotPlain, match=rf"{name} is a folder, where optac keeps a plain file of its own"):
        write_json(tmp_path / name, {})
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_in_the_place_of_a_new_file_aside_is_named(tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir()
    with pytest.raises(NotPlain, match=r"aside is a folder, where optac keeps a plain file"):
        write_plain(tmp_path / "aside", b"")


def test_of_two_places_the_one_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        (tmp_path / "from").rename(tmp_path / "to")
    assert refusal(caught.value) == f"{tmp_path / 'from'}: No such file or directory"


SWEEP = (
    '[sweep]\nalgorithms = ["opt-ac"]\nproblems = ["combination-lock horizon=2 actions=2"]\niterations = 1\n'
)
COMMANDS: dict[str, tuple[list[str], str]] = {
    "a sweep's list": (["sweep", "mine.toml", "--out", "out"], "out/sweep.json"),
    "a policy's file": (["export", "run", "out/policy.npz"], "out/policy.npz"),
    "an evaluation's file": (["eval", "run", "--episodes", "1", "--out", "out"], "out/eval.json"),
    "a page": (["report", "run", "--out", "out/page.html"], "out/page.html"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_says_in_a_line_that_a_folder_is_in_its_files_place(
    case: str,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained, "run")
    Path("mine.toml").write_text(SWEEP)
    words, place = COMMANDS[case]
    Path(place).mkdir(parents=True)
    assert main([*words, "--quiet"]) in (1, 2)
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("optac: error: ") and place in line and "folder" in line and "Errno" not in line


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished training, as small as they come."""
    path = tmp_path_factory.mktemp("trained") / "run"
    settings = {
        "width": 4,
        "batch_size": 4,
        "learning_starts": 20,
        "actor_every": 1,
        "eval_every": 20,
        "eval_episodes": 1,
    }
    train("probe/Drifting-v0", "sac", steps=20, settings=settings, out=path)
    return path
