"""The checkpoints of one run, in the folder that also has the pieces of replay they share."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from optac.agents.training.checkpoint import PIECES, Checkpoint, beside, clear, load, named_pieces
from optac.agents.training.sealed_files import CheckpointCorrupt, verify
from optac.plain_files import is_plain_folder, is_there, names_in, remove, rename

KEPT: Final = 3
_NAME: Final = re.compile(r"ckpt_(\d{12})")
_LEFTOVER: Final = re.compile(r"ckpt_\d{12}\.(tmp|replaced|removed)")


def checkpoint_path(parent: Path, step: int) -> Path:
    """Where a run's checkpoint of this step is."""
    return parent / f"ckpt_{step:012d}"


def pieces_folder(parent: Path) -> Path:
    """Where the pieces of replay are that the checkpoints under `parent` share."""
    return parent / PIECES


def listed(parent: Path) -> list[Path]:
    """The checkpoints under `parent`, newest first."""
    names = {name.removesuffix(".replaced") for name in names_in(parent)}
    return [parent / name for name in sorted(names, reverse=True) if _NAME.fullmatch(name)]


def newest_sound(
    parent: Path, *, replay: bool = True, but: Callable[[Checkpoint], bool] = lambda found: False
) -> tuple[Checkpoint | None, list[CheckpointCorrupt]]:
    """The newest checkpoint that is what was written, `but` for some, and what is wrong with the newer ones.

    Where each lacks a piece of its replay, it is the newest without the pieces that are damaged.
    """
    damage: list[CheckpointCorrupt] = []
    for path in listed(parent):
        try:
            found = load(path, pieces_folder(parent), replay=replay)
        except CheckpointCorrupt as error:
            damage.append(error)
            continue
        if not but(found):
            return found, damage
    for path in listed(parent) if replay and damage else ():
        with suppress(CheckpointCorrupt):
            found = load(path, pieces_folder(parent), replay=False)
            if not but(found):
                return _without_damaged_pieces(found, damage)
    return None, damage


def _without_damaged_pieces(
    found: Checkpoint, damage: list[CheckpointCorrupt]
) -> tuple[Checkpoint, list[CheckpointCorrupt]]:
    """The checkpoint with the pieces that are sound, and what is wrong with the others."""
    pieces = named_pieces(found.path)
    damaged = []
    for piece in pieces:
        try:
            verify(found.pieces_folder / piece.name, piece.size, piece.sha256)
        except CheckpointCorrupt as error:
            damaged.append(piece)
            if str(error) not in map(str, damage):
                damage.append(error)
    return replace(found, pieces=pieces, damaged=tuple(damaged)), damage


def prune(parent: Path) -> None:
    """Remove all but the newest checkpoints and what kills left, with the pieces of replay that only they name.

    Whatever else lies there is somebody's own, and stays.
    """
    for path in listed(parent)[KEPT:]:
        put_away(path)
    kept = [path if is_there(path) else beside(path, "replaced") for path in listed(parent)]
    gone = [parent / name for name in names_in(parent) if _LEFTOVER.fullmatch(name)]
    gone = [path for path in gone if path not in kept]
    with suppress(CheckpointCorrupt):  # a manifest that can't be read may name any piece
        needed = {piece.name for path in kept for piece in named_pieces(path)}
        for path in gone:
            with suppress(CheckpointCorrupt):
                for piece in named_pieces(path):
                    if piece.name not in needed:
                        remove(pieces_folder(parent) / piece.name)
    for path in gone:
        clear(path)


def put_away(path: Path) -> None:
    """Put a checkpoint out of the way for the next `prune`; a kill leaves nothing that looks like one."""
    doomed = beside(path, "removed")
    for place in (beside(path, "replaced"), path):
        if not is_plain_folder(place):
            continue
        clear(doomed)
        if is_there(doomed):  # with a file in it that is not ours
            clear(place)
        else:
            rename(place, doomed)
