"""Count the code lines of src and scripts, room by room: blanks, comments and docstrings left out.

Every file is formatted by `ruff format` with this tree's configuration first, so that counts of two commits compare
the code, not its layout. `--at COMMIT` counts an older commit; `--without-doors` leaves out what other people's parts
come in by: extend.py, registry.py, algorithms/protocol.py and testing/. `--since COMMIT` counts that commit and the
files as they are, at equal function: without doors, and less what scripts/new_function.toml names as new since.

    python scripts/count_lines.py --at 4bc8e73
    python scripts/count_lines.py --since 4bc8e73
"""

import argparse
import ast
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
COUNTED = ("src", "scripts")
NEW = ROOT / "scripts" / "new_function.toml"
DOORS = ("extend.py", "registry.py", "protocol.py", "testing")
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> set[int]:
    """The lines that hold code: a line of a docstring, a comment or nothing does not."""
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            used.update(range(token.start[0], token.end[0] + 1))
    return used - docstring_lines(source)


def docstring_lines(source: str) -> set[int]:
    """The lines of every string that stands as a statement of its own."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def definitions(source: str) -> dict[str, set[int]]:
    """The code lines of each function, class and value at the top, and as `Class.name` of what a class holds."""
    found, used = {}, code_lines(source)
    top = ast.parse(source).body
    held = [(f"{one.name}.", part) for one in top if isinstance(one, ast.ClassDef) for part in one.body]
    for prefix, node in [*(("", one) for one in top), *held]:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for name in [getattr(node, "name", None), *(getattr(target, "id", None) for target in targets)]:
            if name is not None:
                found[prefix + name] = used & set(range(first, (node.end_lineno or first) + 1))
    return found


def files_of(tree: Path) -> list[Path]:
    """What is counted of a tree, after it was formatted in place."""
    folders = [str(tree / name) for name in COUNTED if (tree / name).is_dir()]
    formatting = ["ruff", "format", "--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    subprocess.run([sys.executable, "-m", *formatting, *folders], check=True)
    return sorted(tree.glob("src/optac/**/*.py")) + sorted(tree.glob("scripts/**/*.py"))


def count(tree: Path, *, doors: bool) -> Counter[str]:
    """Room → code lines."""
    found: Counter[str] = Counter()
    for file in files_of(tree):
        room = room_of(file.relative_to(tree))
        if doors or not {room, file.name} & set(DOORS):
            found[room] += len(code_lines(file.read_text(encoding="utf-8")))
    return found


def room_of(place: Path) -> str:
    """The folder of the package that a file is in."""
    parts = place.parts
    return parts[0] if parts[0] == "scripts" else parts[2] if len(parts) > 3 else "(top)"


def new_lines(tree: Path, before: Path) -> Counter[str]:
    """Room → code lines of what NEW names; of NAME+ those that it has more than before, of NAME+OLD than OLD had."""
    then: dict[str, int] = {}
    for file in files_of(before):
        for name, lines in definitions(file.read_text(encoding="utf-8")).items():
            for key in (name, f"{file.stem} {name}"):
                then[key] = max(then.get(key, 0), len(lines))
    found: Counter[str] = Counter()
    for key in tomllib.loads(NEW.read_text(encoding="utf-8")):
        place, *names = key.split()
        inside = [tree / place] if (tree / place).is_file() else sorted((tree / place).rglob("*.py"))
        for file in inside:
            source = file.read_text(encoding="utf-8")
            there, lines = definitions(source), code_lines(source)
            grown, whole = 0, set[int]()
            for name, *before_it in (name.split("+") for name in names):
                if name not in there:
                    print(f"{NEW.name}: {place} has no {name} any more", file=sys.stderr)
                elif before_it:
                    stood = [one or name for one in before_it]
                    for one in (one for one in before_it if one and one not in then):
                        print(f"{NEW.name}: {place} {name} had no {one} then", file=sys.stderr)
                    held = sum(then.get(f"{file.stem} {one}", then.get(one, 0)) for one in stood)
                    grown += max(0, len(there[name]) - held)
                else:
                    whole |= there[name]
            found[room_of(file.relative_to(tree))] += len(whole if names else lines) + grown
    return found


@contextmanager
def tree_at(commit: str | None) -> Iterator[Path]:
    """A copy of what is counted: of a commit, or of the files as they are."""
    with tempfile.TemporaryDirectory() as folder:
        if commit is None:
            for name in COUNTED:
                shutil.copytree(ROOT / name, Path(folder) / name)
        else:
            asked = ["git", "-C", str(ROOT), "archive", "--format=tar", commit]
            packed = subprocess.run(asked, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                wanted = [file for file in archive.getmembers() if file.name.split("/")[0] in COUNTED]
                archive.extractall(folder, members=wanted, filter="data")
        yield Path(folder)


def main() -> None:
    """Print a line per room and the total."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commit = {"metavar": "COMMIT", "default": None}
    parser.add_argument("--at", help="a commit (default: the files as they are)", **commit)
    parser.add_argument("--since", help="compare with a commit at equal function", **commit)
    parser.add_argument(
        "--without-doors", action="store_true", help="leave out extend.py, registry.py, protocol.py, testing/"
    )
    arguments = parser.parse_args()
    if arguments.since is not None:
        with tree_at(arguments.since) as old, tree_at(None) as tree:
            before, now, new = count(old, doors=False), count(tree, doors=False), new_lines(tree, old)
        print(f"{'':14}{'before':>8}{'now':>8}{'new':>8}{'at equal function':>20}")
        for room in sorted({**before, **now}, key=lambda room: -now[room]):
            _print(room, before[room], now[room], new[room])
        _print("total", before.total(), now.total(), new.total())
        return
    with tree_at(arguments.at) as tree:
        rooms = count(tree, doors=not arguments.without_doors)
    for room, lines in sorted(rooms.items(), key=lambda item: -item[1]):
        print(f"{room:14}{lines:8,}")
    print(f"{'total':14}{rooms.total():8,}")


def _print(room: str, before: int, now: int, new: int) -> None:
    print(f"{room:14}{before:8,}{now:8,}{new:8,}{now - new - before:+20,}")


if __name__ == "__main__":
    main()
