"""A release has one number; its files hold the package and nothing else; the forge runs the targets that people run."""

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

import optac
from scripts import check_wheel

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_changelog_begins_with_the_version() -> None:
    assert re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[0] == optac.__version__


def test_workflows_and_the_local_check_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    called = {
        text: re.findall(r"\bmake ([a-z0-9-]+)", text.read_text()) for text in [*WORKFLOWS, ROOT / ".ci/run"]
    }
    for file, names in called.items():
        assert names and set(names) <= targets, file
    checks = called[ROOT / ".github/workflows/checks.yml"]
    assert {"check", "test", "test-base", "docs", "wheel"} <= set(checks) and set(
        called[ROOT / ".ci/run"]
    ) <= set(checks)


def test_the_forge_tries_every_python_that_the_package_names() -> None:
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    (matrix,) = re.findall(r"python: \[(.+)\]", (ROOT / ".github/workflows/checks.yml").read_text())
    assert re.findall(r'"(.+?)"', matrix) == named


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (None, None),
        ("missing", "the wheel lacks optac/report/page.html"),
        ("extra", "the wheel also holds tests/test_cli.py"),
        ("number", "optac-9.9.9.tar.gz is not of version"),
        ("two", "must hold one wheel and one source archive; it has 2 and 1"),
    ],
)
def test_a_wheel_is_checked_before_it_leaves(fault: str | None, said: str | None, tmp_path: Path) -> None:
    version = "9.9.9" if fault == "number" else optac.__version__
    source = ROOT / "src"
    parts = [path for path in sorted((source / "optac").rglob("*")) if check_wheel._is_part(path)]
    names = [path.relative_to(source).as_posix() for path in parts]
    kept = [name for name in names if fault != "missing" or not name.endswith("page.html")]
    for copy in range(2 if fault == "two" else 1):
        with zipfile.ZipFile(tmp_path / f"optac-{optac.__version__}-{copy}.whl", "w") as wheel:
            for name in [*kept, *(["tests/test_cli.py"] if fault == "extra" else [])]:
                wheel.writestr(name, "")
    with tarfile.open(tmp_path / f"optac-{version}.tar.gz", "w:gz") as archive:
        for path, name in zip(parts, names, strict=True):
            archive.add(path, f"optac-{version}/src/{name}")
    wrong = check_wheel.check(tmp_path)
    assert wrong == [] if said is None else any(said in line for line in wrong)
