"""A learner in a folder: its checkpoints and the pieces of its replay, saved and taken up again."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optac.agents import checkpoint, snapshot
from optac.agents.algorithm import Algorithm
from optac.agents.checkpoint import Checkpoint, Piece
from optac.agents.learner import Env, Learner
from optac.agents.replay import Replay, Rows


class ResumeWarning(UserWarning):
    """A resumed run will not be, to the bit, the one that was never disturbed."""


@dataclass
class CheckpointStore:
    """The checkpoints of one run and the pieces of replay they share."""

    parent: Path
    pieces: list[Piece] = field(default_factory=list)
    saved_step: int | None = None

    def save(self, learner: Learner, extra: Mapping[str, Any]) -> None:
        """Write the rows that are new, then the checkpoint that needs them; keep the newest three.

        A step that is saved already, as when a signal comes just after a checkpoint, is not written again.
        """
        if learner.step == self.saved_step:
            return
        folder = checkpoint.pieces_folder(self.parent)
        self.pieces = extend_pieces(folder, self.pieces, learner.replay)
        arrays, meta = snapshot.take(learner)
        path = checkpoint.checkpoint_path(self.parent, learner.step)
        checkpoint.save(path, arrays, {**meta, **extra}, self.pieces)
        self.saved_step = learner.step
        checkpoint.prune(self.parent)

    def take_up(self, found: Checkpoint, chosen: Algorithm, env: Env) -> Learner:
        """The learner of a checkpoint. Checkpoints past it, found damaged, are put out of the way."""
        for path in checkpoint.listed(self.parent):
            if path.name > found.path.name:
                checkpoint.remove(path)
        learner = learner_of(found, chosen, env)
        self.pieces, self.saved_step = list(found.pieces), learner.step
        return learner


def extend_pieces(folder: Path, pieces: list[Piece], replay: Replay) -> list[Piece]:
    """The pieces that hold all of `replay`: those of before still needed, and one of the new rows."""
    needed = [piece for piece in pieces if piece.end > replay.oldest()]
    start = max(needed[-1].end if needed else 0, replay.oldest())
    if start == replay.added:
        return needed
    rows = replay.between(start, replay.added)._asdict()
    return [*needed, checkpoint.save_piece(folder, start, rows)]


def learner_of(found: Checkpoint, chosen: Algorithm, env: Env) -> Learner:
    """The learner that a checkpoint holds, in `env`; says so where its environment could not be saved."""
    replay = Replay.empty(chosen.settings.replay_capacity, *_sizes(env))
    replay.added = int(found.meta["replay_added"]) if found.pieces else 0
    for piece, rows in found.rows():
        replay.put(piece.start, Rows(*[rows[name] for name in Rows._fields]))
    if found.meta["environment"] is None:
        warnings.warn(
            "this environment's state cannot be saved: the run goes on with a new episode, and is not, to "
            "the bit, the one that was never disturbed",
            ResumeWarning,
            stacklevel=2,
        )
    return snapshot.restore(chosen, env, found.arrays(), found.meta, replay)


def _sizes(env: Env) -> tuple[int, int]:
    assert env.observation_space.shape is not None and env.action_space.shape is not None
    return env.observation_space.shape[0], env.action_space.shape[0]
