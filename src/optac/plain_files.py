"""Files that are ours, opened by their own names: no link is followed, and a pipe, a device or a folder is no file.

A run's folder may come from a stranger. What is read or written there goes through this file, so that nothing outside
the folder is touched, and nothing waits for a pipe that nobody writes to.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from optac.errors import RunFailed

_NOT_A_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV)


class NotPlain(RunFailed):
    """Something else stands where a plain file or a folder belongs; the text names it."""


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """The descriptor of a plain file; one that is to be written to may have no other name anywhere."""
    descriptor = open_plain(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_plain(path: Path, flags: int) -> int:
    """The same, closed by the caller."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise not_plain(path) from error
        raise
    found = os.fstat(descriptor)
    changes = flags & (os.O_WRONLY | os.O_RDWR)
    if not stat.S_ISREG(found.st_mode) or (changes and found.st_nlink > 1):
        os.close(descriptor)
        raise not_plain(path)
    return descriptor


def read_plain(path: Path) -> bytes:
    """All of a plain file."""
    with opened(path, os.O_RDONLY) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return file.read()


def append_plain(path: Path, data: bytes) -> None:
    """Add to the end of a plain file, made where there is none, in one write."""
    with opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def write_plain(path: Path, data: bytes) -> None:
    """A new file of this content, on disk when this returns; a file or link of that name is replaced."""
    path.unlink(missing_ok=True)
    with (
        opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor,
        open(descriptor, "wb", closefd=False) as file,
    ):
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def is_there(path: Path) -> bool:
    """Whether anything has this name, be it a link to nowhere."""
    return os.path.lexists(path)


def is_folder(path: Path) -> bool:
    """Whether this is a folder itself, no link to one; NotPlain where it is anything else that is there."""
    if not is_there(path):
        return False
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise not_plain(path, "folder")
    return True


def not_plain(path: Path, what: str = "plain file") -> NotPlain:
    """The error that says what stands in a file's place."""
    found = os.lstat(path)
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFIFO: "a pipe",
        stat.S_IFDIR: "a folder",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFREG: "a file with another name elsewhere (a hard link)" if found.st_nlink > 1 else "a file",
    }
    kind = kinds.get(stat.S_IFMT(found.st_mode), "something else")
    return NotPlain(f"{path} is {kind}, where optac keeps a {what} of its own; put one in its place")
