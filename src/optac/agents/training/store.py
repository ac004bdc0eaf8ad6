"""A learner in a folder: its checkpoints and the pieces of its replay, saved and taken up again."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from optac.agents.parts.replay import Replay, Rows
from optac.agents.training import checkpoint, checkpoints, snapshot
from optac.agents.training.checkpoint import Checkpoint
from optac.agents.training.compiled import CompiledAgent
from optac.agents.training.environment_calls import Env, restarted, stepped
from optac.agents.training.learner import Learner, stream_seed
from optac.agents.training.replay_pieces import Piece, save_piece
from optac.agents.training.versions import drift
from optac.environments import check_environment, code_hashes, model_hashes
from optac.errors import InvalidInput, OptacWarning

UNREPEATABLE = (
    "two episodes from the same seed are not the same in this environment (its reset ignores the seed, or it draws "
    "from a global generator?)"
)
STEPS_TO_REPEAT = 10


class ResumeWarning(OptacWarning):
    """A resumed run will not be, to the bit, the one that was never disturbed."""


@dataclass
class CheckpointStore:
    """The checkpoints of one run and the pieces of replay they share."""

    parent: Path
    config: Mapping[str, Any]
    """kept in every checkpoint: what the run was asked to do"""
    pieces: list[Piece] = field(default_factory=list)
    saved_step: int | None = None

    def save(
        self, learner: Learner, check: Callable[[], None] = lambda: None, **about: Mapping[str, Any]
    ) -> bool:
        """Write the rows that are new, then the checkpoint that needs them, and `about` it; keep the newest three.

        `check` is asked before each: it raises where the run is not ours any more. A step that is saved already, as
        when a signal comes just after a checkpoint, is not written again: the answer is then False.
        """
        if learner.step == self.saved_step:
            return False
        folder = checkpoints.pieces_folder(self.parent)
        check()
        self.pieces = extend_pieces(folder, self.pieces, learner.replay)
        arrays, meta = snapshot.take(learner)
        path = checkpoints.checkpoint_path(self.parent, learner.step)
        check()
        checkpoint.save(path, arrays, {**meta, **about, "config": self.config}, self.pieces)
        self.saved_step = learner.step
        check()
        checkpoints.prune(self.parent)
        return True

    def take_up(
        self,
        found: Checkpoint,
        chosen: CompiledAgent,
        env: Env,
        known: Sequence[str] = (),
        heed: Callable[[], None] = lambda: None,
    ) -> Learner:
        """The learner of a checkpoint, `known` as in `learner_of`. Checkpoints past it are put out of the way.

        The environment is tried first; `heed` is called before each of its steps, and may raise.
        """
        for path in checkpoints.listed(self.parent):
            if path.name > found.path.name:
                checkpoints.put_away(path)
        with checkpoint.read_as_ours(found):
            repeatable = is_repeatable(env, found.meta, chosen.settings.step_timeout, heed)
        reasons = known if repeatable else (*known, UNREPEATABLE)
        learner = learner_of(found, chosen, env, reasons, retracing=heed)
        # After a loss the rows that are left have new numbers, and none of them is on disk under its own.
        self.pieces = [] if found.damaged else list(found.pieces)
        self.saved_step = None if found.damaged else learner.step
        return learner


def extend_pieces(folder: Path, pieces: list[Piece], replay: Replay) -> list[Piece]:
    """The pieces that hold all of `replay`: those of before still needed, and one of the new rows."""
    needed = [piece for piece in pieces if piece.end > replay.oldest()]
    start = max(needed[-1].end if needed else 0, replay.oldest())
    if start == replay.added:
        return needed
    rows = replay.between(start, replay.added)._asdict()
    return [*needed, save_piece(folder, start, rows)]


def learner_of(
    found: Checkpoint,
    chosen: CompiledAgent,
    env: Env,
    known: Sequence[str] = (),
    *,
    retracing: Callable[[], None] | None = None,
) -> Learner:
    """The learner that a checkpoint holds, in `env`.

    Where it will not go on, to the bit, as the one that was never disturbed, a `ResumeWarning` says why; `known` are
    reasons that are known already. With `retracing`, the steps before the checkpoint are taken again to find more; it
    is called before each.
    """
    with checkpoint.read_as_ours(found):
        sizes = _sizes(env)
        _refuse_other_sizes(found, sizes)
        replay = Replay.empty(chosen.settings.replay_capacity, *sizes)
        replay.added = int(found.meta["replay_added"]) if found.pieces and not found.damaged else 0
        for piece, rows in found.rows():
            replay.put(
                replay.added if found.damaged else piece.start, Rows(*[rows[name] for name in Rows._fields])
            )
            replay.added += len(rows["reward"]) if found.damaged else 0
        arrays = found.arrays()
        if "priorities" in arrays and replay.added and not found.damaged:  # else none is left
            given = np.flatnonzero(arrays["priorities"])
            replay.prioritise(given, arrays["priorities"][given])
        learner = snapshot.restore(chosen, env, arrays, found.meta, replay)
        reasons = [*known, *_differences(found.meta, env)]
        later = chosen.settings.determining_names() - found.meta["settings"].keys()
        reasons += [f"it was saved before there was a setting {name}" for name in sorted(later)]
        reasons += [f"rows of replay are lost ({piece.name})" for piece in found.damaged]
        left_out = found.meta["replay_added"] > 0 and not found.pieces  # as its user wished
        if retracing is not None and not reasons:
            why = snapshot.retrace(learner, arrays, found.meta, retracing)
            reasons = [] if why is None else [why]
    for reason in reasons:
        warnings.warn(
            f"{reason}: the run goes on, but is no longer, to the bit, the one that was never disturbed",
            ResumeWarning,
            stacklevel=2,
        )
    learner.exact = learner.exact and not reasons and not left_out
    return learner


def is_repeatable(
    env: Env, meta: Mapping[str, Any], timeout: float, heed: Callable[[], None] = lambda: None
) -> bool:
    """Whether the first steps after `reset` are the same twice under one seed; the environment is restored later."""
    _, actions = check_environment(env)
    middle = ((actions.low + actions.high) / 2).astype(actions.dtype)
    seed, told = stream_seed(int(meta["seed"]), "environment", int(meta["step"])), []
    for _ in range(2):
        outcomes: list[Any] = [restarted(env, 0, timeout, seed=seed)]
        for step in range(STEPS_TO_REPEAT):
            heed()
            played = stepped(
                env, middle, np.shape(outcomes[0]), step, timeout=timeout, what="the environment's step"
            )
            outcomes += played
            if played[2] or played[3]:
                break
        told.append([np.asarray(one).tobytes() for one in outcomes])
    return told[0] == told[1]


def _differences(meta: Mapping[str, Any], env: Env) -> Iterator[str]:
    """Why a learner taken up in `env` will not do to the bit what the saved one would have done."""
    changed = drift(meta["versions"])
    if changed:
        yield f"saved under other versions ({', '.join(changed)})"
    if meta.get("adrift", False):
        yield "it was saved after a block was broken off, and a new episode begins"
    elif meta["environment"] is None:
        yield "this environment's state cannot be saved and a new episode begins"
    elif snapshot.is_other(meta, env):
        made = meta.get("made") or " around ".join(layer["class"] for layer in meta["environment"])
        yield f"the environment is not made as the saved one was ({made}) and a new episode begins"
    elif meta["models"] != model_hashes(env):
        yield "the environment's MuJoCo model is another than the saved one (it changes its model in reset?)"
    code = code_hashes(env)
    for name in sorted(code.keys() | meta["code"].keys()):
        if code.get(name) != meta["code"].get(name):
            yield f"the environment's code in {name} is another than it was"
    for name in meta["changed_surroundings"]:
        yield f"{name} changed while the environment was stepped, and is not saved with it"


def _refuse_other_sizes(found: Checkpoint, given: tuple[int, int]) -> None:
    saved = found.meta.get("sizes", list(given))  # unknown of a checkpoint from before they were kept
    if saved != list(given):
        raise InvalidInput(
            "{} is of an agent with {} numbers in an observation and {} in an action; the environment has {} and {}: "
            "pass the one it was made for".format(found.path, *saved, *given)
        )


def _sizes(env: Env) -> tuple[int, int]:
    assert env.observation_space.shape is not None and env.action_space.shape is not None
    return env.observation_space.shape[0], env.action_space.shape[0]
