"""One attempt at one run of a sweep, a process of its own: a task as JSON in, the outcome as JSON out.

`python -m optac.sweeps.worker` reads the task from standard input. It uses one thread, on one core where the
task names one, and ends with the process that started it, saving first.
"""

import hashlib
import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal

from optac.errors import OptacError, Terminated
from optac.runs.folder import RunFolder
from optac.runs.lease import Claim, FencedOff, RunFolderBusy
from optac.sweeps.launcher_watch import end_with

MOST_CHARACTERS: Final = 800
MOST_NOTICES: Final = 5

State = Literal["finished", "failed", "interrupted", "superseded", "died"]


@dataclass(frozen=True)
class Task:
    """What a worker is told: which run, which attempt for which launcher, from where, on which core, with which process
    it ends."""

    run: str
    path: str
    attempt: int
    launcher: str
    working_directory: str
    core: int | None = None
    parent: int | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Task":
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt: where its run is, a hash of what it learnt, or why it did not end."""

    run: str
    path: str
    attempt: int
    state: State
    why: str | None = None
    parameters_sha256: str | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: Task, state: State, **known: Any) -> "Outcome":
        """The outcome of a task."""
        return cls(run=task.run, path=task.path, attempt=task.attempt, state=state, **known)

    def __post_init__(self) -> None:
        """Short enough for the pipe to the launcher, which reads it only after the worker has ended."""
        object.__setattr__(self, "why", None if self.why is None else self.why[:MOST_CHARACTERS])
        object.__setattr__(
            self, "notices", tuple(text[:MOST_CHARACTERS] for text in self.notices[:MOST_NOTICES])
        )

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Outcome":
        said = json.loads(text)
        return cls(**{**said, "notices": tuple(said["notices"])})


def attempt(task: Task) -> Outcome:
    """Make the attempt; whatever becomes of it is an outcome."""
    notices: list[str] = []
    try:
        sha256 = _run(task, notices)
        return Outcome.of(task, "finished", parameters_sha256=sha256, notices=tuple(notices))
    except (RunFolderBusy, FencedOff) as error:
        return Outcome.of(task, "superseded", why=str(error), notices=tuple(notices))
    except KeyboardInterrupt:
        return Outcome.of(task, "interrupted", why="stopped by a signal")
    except Exception as error:
        from optac.runs.training_run import Interrupted

        state: State = "interrupted" if isinstance(error, Interrupted) else "failed"
        why = str(error) if isinstance(error, OptacError) else f"{type(error).__name__}: {error}"
        return Outcome.of(task, state, why=why, notices=tuple(notices))


def _run(task: Task, notices: list[str]) -> str:
    """Run to the end; the hash of what was learnt."""
    from optac.agents.training.threads import limit_threads

    limit_threads(1)
    claim, path = Claim(task.attempt, task.launcher), Path(task.path)
    if RunFolder.open(path).config.get("kind") == "solve":
        from optac.runs.solving import resume_solve

        resume_solve(RunFolder.open(path, claim))
        return policy_sha256(path)
    from optac.runs.training import resume

    def note(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
        notices.append(text)

    return resume(path, on_notice=note, claim=claim).parameters_sha256


def policy_sha256(run: Path) -> str:
    """A hash of every array of a finished solve's last policy."""
    import numpy as np

    digest = hashlib.sha256()
    with np.load(run / "policy.npz", allow_pickle=False) as arrays:
        for name in sorted(arrays.files):
            array = arrays[name]
            digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def main() -> None:
    """Read a task, make the attempt, print the outcome."""
    task = Task.from_json(sys.stdin.read())
    # The outcome alone goes to standard output, whatever a library may print there.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, _terminate)
    end_with(os.getppid() if task.parent is None else task.parent, saving=True)
    if task.core is not None:
        os.sched_setaffinity(0, {task.core})
    os.chdir(task.working_directory)
    outcome = attempt(task)
    if outcome.state in ("failed", "superseded"):
        print(outcome.why, file=sys.stderr, flush=True)
    print(outcome.to_json(), file=answer, flush=True)


if __name__ == "__main__":
    main()
