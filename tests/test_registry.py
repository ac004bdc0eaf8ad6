"""Names stand for parts, ours and others'; where code may come from, and what is said when a part is not there."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from optac import registry
from optac.errors import InvalidInput

KINDS = tuple(registry.GROUPS)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A working folder with a module in it, and no folder named by --path."""
    monkeypatch.setattr(registry, "_paths", [])
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stray_part.py").write_text("NAME = 'stray'\n\nclass Nested:\n    part = 3\n")
    monkeypatch.delitem(sys.modules, "stray_part", raising=False)
    yield tmp_path
    sys.modules.pop("stray_part", None)


@pytest.mark.parametrize("kind", ("problem", "model class", "algorithm"))
def test_every_name_of_ours_loads(kind: registry.Kind) -> None:
    for name, entry in registry.ours(kind).items():
        assert entry.name == name and entry.summary and entry.package == "optac"
        assert entry.load() is registry.load(kind, name)


def test_a_location_of_ours_is_the_name_of_ours() -> None:
    assert registry.find("algorithm", "optac.algorithms.opt_ac").name == "opt-ac"


def test_nothing_comes_from_the_working_folder_unless_it_is_named(fresh: Path) -> None:
    with pytest.raises(InvalidInput, match=r"unknown algorithm 'stray_part'; known, nearest first: "):
        registry.load("algorithm", "stray_part")
    with pytest.raises(InvalidInput, match=r"there is no module stray_part; install .* --path DIR"):
        registry.load("problem", "stray_part:NAME")
    registry.add_paths(["."])
    assert registry.paths() == [str(fresh)]
    assert registry.load("problem", "stray_part:NAME") == "stray"
    assert registry.load("problem", "stray_part:Nested.part") == 3
    with pytest.raises(
        InvalidInput, match="unknown problem in stray_part 'NAMES'; known, nearest first: NAME"
    ):
        registry.load("problem", "stray_part:NAMES")


def test_a_folder_that_is_not_there_is_named(fresh: Path) -> None:
    with pytest.raises(InvalidInput, match="--path nowhere is not a folder"):
        registry.add_paths(["nowhere"])


def test_a_part_whose_own_import_fails_says_what_it_needs(fresh: Path) -> None:
    (fresh / "stray_part.py").write_text("import surely_not_installed\n")
    registry.add_paths([fresh])
    with pytest.raises(InvalidInput, match="needs the module surely_not_installed; install it"):
        registry.load("algorithm", "stray_part")
    (fresh / "stray_part.py").write_text(
        "import optac.errors\nraise optac.errors.InvalidInput('install more')\n"
    )
    with pytest.raises(InvalidInput, match=r"^install more"):
        registry.load("algorithm", "stray_part")
    (fresh / "stray_part.py").write_text("1 / 0\n")
    with pytest.raises(InvalidInput, match="'stray_part' cannot be imported: ZeroDivisionError"):
        registry.load("algorithm", "stray_part")


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_name_lists_the_known_ones(kind: registry.Kind) -> None:
    nearest = next(iter(registry.ours(kind)))
    with pytest.raises(InvalidInput, match=f"unknown {kind} '{nearest}-x'; known, nearest first: {nearest}"):
        registry.load(kind, f"{nearest}-x")


def test_installed_packages_register_names(fresh: Path) -> None:
    """Entry points are read from whatever lies on the path, as for a package that pip has installed."""
    info = fresh / "elsewhere" / "my_parts-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-parts\nVersion: 1.2\nSummary: Mine.\n")
    points = "[optac.algorithms]\nmine = my_parts.learner\nopt-ac = my_parts.thief\n"
    (info / "entry_points.txt").write_text(points)
    (fresh / "elsewhere" / "my_parts").mkdir()
    (fresh / "elsewhere" / "my_parts" / "learner.py").write_text("NAME = 'learner'\n")
    registry.add_paths([fresh / "elsewhere"])
    entry = registry.entries("algorithm")["mine"]
    assert (entry.package, entry.summary, entry.location) == ("my-parts 1.2", "Mine.", "my_parts.learner")
    assert registry.load("algorithm", "mine").NAME == "learner"
    for entry in (registry.entries("algorithm")["opt-ac"], registry.find("algorithm", "opt-ac")):
        assert entry.package == "optac" and entry.location == "optac.algorithms.opt_ac"


def test_reading_the_registry_loads_no_array_library() -> None:
    code = """
        import sys
        from optac import registry, settings
        for kind in registry.GROUPS:
            registry.entries(kind)
        assert not {"numpy", "jax", "optac.mdp", "optac.algorithms", "optac.agents"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
