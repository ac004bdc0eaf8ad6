"""One attempt at one run of a sweep, a process of its own: a task as JSON in, the outcome as JSON out.

`python -m optac.sweeps.worker` reads the task from standard input. It uses one thread, on one core where the
task names one, and ends with the process that started it, saving first.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from optac.errors import Interrupted, OptacError
from optac.registry import add_paths
from optac.runs.folder import RunFolder
from optac.runs.kinds import known_kind
from optac.runs.lease import Claim
from optac.runs.lock import FencedOff, RunFolderBusy
from optac.signals import listen
from optac.sweeps.launcher_watch import end_with

MOST_CHARACTERS: Final = 800
MOST_NOTICES: Final = 5

Ending = Literal["finished", "failed", "interrupted", "superseded", "died"]


@dataclass(frozen=True)
class Task:
    """A worker's orders: which run, which attempt for which launcher, in which folder to work, in which others to
    look for code, on which core, and with which process to end."""

    path: str
    attempt: int
    launcher: str
    working_directory: str
    paths: tuple[str, ...] = ()
    core: int | None = None
    parent: int | None = None

    @property
    def run(self) -> str:
        """The run's id."""
        return Path(self.path).name

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Task":
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended, and why; its JSON leaves the task out, which the reader knows."""

    task: Task
    ending: Ending
    why: str | None = None
    notices: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Short enough for the pipe to the launcher, which reads it only after the worker has ended."""
        why = None if self.why is None else self.why[:MOST_CHARACTERS]
        notices = [text[:MOST_CHARACTERS] for text in self.notices[:MOST_NOTICES]]
        return json.dumps({"ending": self.ending, "why": why, "notices": notices})

    @classmethod
    def from_json(cls, task: Task, text: str) -> "Outcome":
        said = json.loads(text)
        return cls(task, said["ending"], said["why"], tuple(said["notices"]))


def attempt(task: Task) -> Outcome:
    """Make the attempt; whatever becomes of it is an outcome."""
    notices: list[str] = []

    def note(text: str) -> None:
        print(text, file=sys.stderr, flush=True)
        notices.append(text)

    try:
        _run(task, note)
        return Outcome(task, "finished", None, tuple(notices))
    except (RunFolderBusy, FencedOff) as error:
        return Outcome(task, "superseded", str(error), tuple(notices))
    except KeyboardInterrupt:
        return Outcome(task, "interrupted", "stopped by a signal", tuple(notices))
    except Interrupted as error:
        return Outcome(task, "interrupted", str(error), tuple(notices))
    except Exception as error:
        why = str(error) if isinstance(error, OptacError) else f"{type(error).__name__}: {error}"
        return Outcome(task, "failed", why, tuple(notices))


def _run(task: Task, note: Callable[[str], None]) -> None:
    from optac.threads import limit_threads

    limit_threads(1)
    add_paths(task.paths)
    kind = known_kind(RunFolder.open(task.path).config, task.path)
    # The launcher has compared config.json with what its user's file asks for.
    kind.resume()(task.path, on_notice=note, claim=Claim(task.attempt, task.launcher), trust=True)


def stay_nice() -> None:
    """Give this process's session the niceness of the process.

    Linux weighs sessions against each other first, and `nice` counts only within one: a nice sweep's workers, each with
    a session of its own, would take as much as anybody.
    """
    nice = os.nice(0)
    if nice > 0:
        with suppress(OSError):  # a system without them
            Path("/proc/self/autogroup").write_text(str(nice), encoding="utf-8")


def main() -> None:
    """Read a task, make the attempt, print the outcome."""
    stay_nice()
    task = Task.from_json(sys.stdin.read())
    # The outcome alone goes to standard output, whatever a library may print there.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    listen()
    end_with(os.getppid() if task.parent is None else task.parent, saving=True)
    if task.core is not None:
        os.sched_setaffinity(0, {task.core})
    os.chdir(task.working_directory)
    outcome = attempt(task)
    if outcome.ending in ("failed", "superseded"):
        print(outcome.why, file=sys.stderr, flush=True)
    print(outcome.to_json(), file=answer, flush=True)


if __name__ == "__main__":
    main()
