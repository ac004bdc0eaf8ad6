"""Check the wheel and the source archive in a folder before a release: one version, all modules, nothing else.

python scripts/check_wheel.py build/dist
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def check(folder: Path) -> list[str]:
    """What is wrong with the two files; nothing, where all is well."""
    wheels, archives = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if len(wheels) != 1 or len(archives) != 1:
        return [
            f"{folder} must hold one wheel and one source archive; it has {len(wheels)} and {len(archives)}"
        ]
    with zipfile.ZipFile(wheels[0]) as file:
        inside = set(file.namelist())
    with tarfile.open(archives[0]) as file:
        sources = {name.partition("/")[2] for name in file.getnames()}
    version = _found(r'^__version__ = "(.+)"$', ROOT / "src/optac/__init__.py")
    heading = _found(r"^## (\S+)", ROOT / "CHANGELOG.md")
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/optac").rglob("*")
        if _is_part(path)
    }
    allowed = re.compile(rf"^(optac/|optac-{re.escape(version)}\.dist-info/)")
    wrong = [f"CHANGELOG.md begins with {heading}, not {version}"] if heading != version else []
    for archive in (wheels[0], archives[0]):
        if f"optac-{version}" not in archive.name:
            wrong.append(f"{archive.name} is not of version {version}")
    wrong += [f"the wheel lacks {name}" for name in sorted(wanted - inside)]
    wrong += [f"the wheel also holds {name}" for name in sorted(inside) if not allowed.match(name)]
    wrong += [
        f"the source archive lacks src/{name}" for name in sorted(wanted) if f"src/{name}" not in sources
    ]
    return wrong


def _found(pattern: str, file: Path) -> str:
    match = re.search(pattern, file.read_text(encoding="utf-8"), re.M)
    return match[1] if match else f"nothing like {pattern}"


def _is_part(path: Path) -> bool:
    return path.suffix in (".py", ".html", ".js", ".typed")


if __name__ == "__main__":
    problems = check(Path(sys.argv[1]))
    print("\n".join(problems) or f"{sys.argv[1]}: one version, every module, nothing else")
    sys.exit(bool(problems))
