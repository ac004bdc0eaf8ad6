"""Files that are ours, opened by their own names: no link is followed, and a pipe, a device or a folder is no file.

A run's folder may come from a stranger, and may be changed while we are at work in it. What is read, written, moved or
removed there goes through this file. Every folder on the way is opened by its name in the one before it, and no name on
the way may be a link: what is done is done in the folder that was meant, whatever is put in its place meanwhile. So
paths come here resolved (`Path.resolve`), once, when a user names a folder.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from optac.errors import RunFailed

_NOT_A_FILE: Final = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV)
_FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotPlain(RunFailed):
    """Something else stands where a plain file or a folder belongs; the text names it."""


@contextmanager
def folder_of(path: Path) -> Iterator[int]:
    """The descriptor of the folder that a path lies in, reached without following a link."""
    names = path.parts[1:] if path.is_absolute() else path.parts
    descriptor = os.open(path.anchor or ".", os.O_PATH | _FOLDER)
    try:
        for number, name in enumerate(names[:-1], start=1):
            above = descriptor
            try:
                descriptor = os.open(name, os.O_PATH | _FOLDER, dir_fd=above)
            except NotADirectoryError as error:
                raise not_plain(Path(path.anchor, *names[:number]), "folder") from error
            os.close(above)
        yield descriptor
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(descriptor)


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
        with folder_of(path) as folder:
            descriptor = os.open(path.name, flags | _FILE, 0o644, dir_fd=folder)
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
    """All of a plain file; refused where it is so large, be it of nothing but holes, that memory may not suffice."""
    with opened(path, os.O_RDONLY) as descriptor, open(descriptor, "rb", closefd=False) as file:
        size, memory = os.fstat(descriptor).st_size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if size > memory // 4:
            raise RunFailed(
                f"{path} has {size:,} bytes, which is no file of optac's; put the right one there"
            )
        return file.read()


def append_plain(path: Path, data: bytes) -> None:
    """Add to the end of a plain file, made where there is none, in one write."""
    with opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def write_plain(path: Path, data: bytes) -> None:
    """A new file of this content, on disk when this returns; a file or link of that name is replaced."""
    remove(path)
    with (
        opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor,
        open(descriptor, "wb", closefd=False) as file,
    ):
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def remove(path: Path) -> None:
    """Remove a file or a link, where there is one."""
    with suppress(FileNotFoundError), folder_of(path) as folder:
        try:
            os.unlink(path.name, dir_fd=folder)
        except IsADirectoryError as error:
            raise not_plain(path) from error


def rename(path: Path, to: Path) -> None:
    """Give a file or folder another name; a file of that name is replaced."""
    with folder_of(path) as source, folder_of(to) as target:
        try:
            os.rename(path.name, to.name, src_dir_fd=source, dst_dir_fd=target)
        except IsADirectoryError as error:
            raise not_plain(to) from error


def link(path: Path, to: Path) -> None:
    """Give a file a second name; a FileExistsError where that is taken."""
    with folder_of(path) as source, folder_of(to) as target:
        os.link(path.name, to.name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)


def make_folder(path: Path) -> None:
    """Make a folder, and those that it lies in, where they are not there."""
    if not is_folder(path):
        if path.parent != path:
            make_folder(path.parent)
        with suppress(FileExistsError), folder_of(path) as folder:
            os.mkdir(path.name, dir_fd=folder)


def remove_if_empty(path: Path) -> None:
    """Remove a folder that has nothing in it."""
    with suppress(OSError), folder_of(path) as folder:
        os.rmdir(path.name, dir_fd=folder)


def names_in(path: Path) -> list[str]:
    """The names in a folder; none where it is not there."""
    if not is_folder(path):
        return []
    with folder_of(path / "any") as folder:
        descriptor = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=folder)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def is_there(path: Path) -> bool:
    """Whether anything has this name, be it a link to nowhere."""
    return _mode(path) is not None


def is_folder(path: Path) -> bool:
    """Whether this is a folder itself, no link to one; NotPlain where it is anything else that is there."""
    mode = _mode(path)
    if mode is not None and not stat.S_ISDIR(mode):
        raise not_plain(path, "folder")
    return mode is not None


def is_plain_folder(path: Path) -> bool:
    """The same, and False where it is anything else."""
    try:
        return is_folder(path)
    except NotPlain:
        return False


def _mode(path: Path) -> int | None:
    """What has this name; None where nothing has."""
    if not path.name:  # the root, or where we are
        return stat.S_IFDIR
    try:
        with folder_of(path) as folder:
            return os.lstat(path.name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return None


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
