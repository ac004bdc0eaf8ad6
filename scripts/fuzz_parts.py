"""What every kind of case needs: commands in this process, watched for hangs, and files damaged by chance."""

import contextlib
import io
import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from optac.cli import main as optac

SECONDS_TO_END = 300.0
"""on a machine that has much else to do"""


class Failed(Exception):
    """Something that must not happen."""


def answered(words: list[str]) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with watched(words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = optac(words)
        except SystemExit as end:
            code = int(end.code or 0)
    said = err.getvalue()
    if "Traceback" in said or "should not have happened" in said or code not in (0, 1, 2):
        raise Failed(f"{words}: exit {code}: {said[-500:]}")
    return code, out.getvalue(), said


@contextlib.contextmanager
def watched(words: object) -> Iterator[None]:
    """A hang in the block ends the program."""
    hung = threading.Timer(SECONDS_TO_END, _hang, [words])
    hung.daemon = True
    hung.start()
    try:
        yield
    finally:
        hung.cancel()


def _hang(words: object) -> None:
    print(f"hang: {words}", file=sys.__stderr__, flush=True)
    os._exit(1)


def damaged(chance: random.Random, file: Path, precious: Path) -> str:
    """Do something to a file; what."""
    what = chance.choice(["bit", "cut", "gone", "noise", "more", "link", "folder", "pipe"])
    data = file.read_bytes()
    if what == "bit" and data:
        place = chance.randrange(8 * len(data))
        changed = bytearray(data)
        changed[place // 8] ^= 1 << (place % 8)
        file.write_bytes(changed)
    elif what == "cut":
        file.write_bytes(data[: chance.randrange(len(data) + 1)])
    elif what == "noise":
        file.write_bytes(chance.randbytes(len(data)))
    elif what == "more":
        file.write_bytes(data + chance.randbytes(chance.randrange(1, 40)))
    else:
        file.unlink()
        if what == "link":
            file.symlink_to(precious)
        elif what == "folder":
            file.mkdir()
        elif what == "pipe":
            os.mkfifo(file)
    return what


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file in a folder, and every folder in it."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
