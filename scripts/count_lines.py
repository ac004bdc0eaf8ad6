"""Count the code lines of src and scripts, room by room: blanks, comments and docstrings left out.

Every file is formatted by `ruff format` with this tree's configuration first, so that counts of two commits compare
the code, not its layout. `--at COMMIT` counts an older commit; `--without-doors` leaves out what other people's parts
come in by: extend.py, registry.py, algorithms/protocol.py and testing/.

    python scripts/count_lines.py --at 4bc8e73
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
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
COUNTED = ("src", "scripts")
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


def code_lines(source: str) -> int:
    """Lines that hold code: a line of a docstring, a comment or nothing does not count."""
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            used.update(range(token.start[0], token.end[0] + 1))
    return len(used - docstring_lines(source))


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


def count(tree: Path, *, doors: bool) -> Counter[str]:
    """Room → code lines, of a tree that is formatted in place."""
    folders = [str(tree / name) for name in COUNTED if (tree / name).is_dir()]
    formatting = ["ruff", "format", "--quiet", "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    subprocess.run([sys.executable, "-m", *formatting, *folders], check=True)
    found: Counter[str] = Counter()
    for file in sorted(tree.glob("src/optac/**/*.py")) + sorted(tree.glob("scripts/**/*.py")):
        parts = file.relative_to(tree).parts
        room = parts[0] if parts[0] == "scripts" else parts[2] if len(parts) > 3 else "(top)"
        if doors or not {room, file.name} & set(DOORS):
            found[room] += code_lines(file.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Print a line per room and the total."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--at", metavar="COMMIT", default=None, help="a commit (default: the files as they are)"
    )
    parser.add_argument(
        "--without-doors", action="store_true", help="leave out extend.py, registry.py, protocol.py, testing/"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.at is None:
            for name in COUNTED:
                shutil.copytree(ROOT / name, Path(folder) / name)
        else:
            asked = ["git", "-C", str(ROOT), "archive", "--format=tar", arguments.at]
            packed = subprocess.run(asked, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                wanted = [file for file in archive.getmembers() if file.name.split("/")[0] in COUNTED]
                archive.extractall(folder, members=wanted, filter="data")
        rooms = count(Path(folder), doors=not arguments.without_doors)
    for room, lines in sorted(rooms.items(), key=lambda item: -item[1]):
        print(f"{room:14}{lines:8,}")
    print(f"{'total':14}{sum(rooms.values()):8,}")


if __name__ == "__main__":
    main()
