"""Attempts at runs as processes of this machine, one thread each."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from optac.plain_files import opened
from optac.settings import read
from optac.sweeps.launcher_watch import MOST_JOBS, SECONDS_TO_SAVE
from optac.sweeps.worker import Outcome, Task

SECONDS_BETWEEN_LOOKS = 0.1


@runtime_checkable
class Executor(Protocol):
    """Where attempts are made: here, or on the nodes of a cluster."""

    def free(self) -> int:
        """How many attempts could be begun now."""

    def start(self, task: Task) -> None:
        """Begin an attempt."""

    def ended(self, seconds: int | float) -> Sequence[Outcome]:
        """The attempts that have ended, waiting at most so long for one."""

    def stop(self) -> Sequence[Outcome]:
        """Have every attempt save and end; what became of them."""

    def close(self) -> None:
        """Let go of whatever the executor holds."""


@dataclass
class Worker:
    """An attempt in a process of its own, whose standard error is kept in the run's folder."""

    task: Task
    process: "subprocess.Popen[str]"

    @classmethod
    def start(cls, task: Task) -> "Worker":
        """Begin the attempt. It has a session of its own, so that a terminal's SIGINT reaches the launcher alone."""
        with opened(_errors(task), os.O_WRONLY | os.O_APPEND | os.O_CREAT) as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "optac.sweeps.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        assert process.stdin is not None
        try:
            process.stdin.write(replace(task, parent=os.getpid()).to_json())
            process.stdin.close()
        except BrokenPipeError:
            pass  # it died at once, which its outcome will say
        return cls(task, process)

    def has_ended(self) -> bool:
        """Whether its process is gone."""
        return self.process.poll() is not None

    def terminate(self) -> None:
        """Ask it to save and end."""
        if not self.has_ended():
            self.process.send_signal(signal.SIGTERM)

    def outcome(self) -> Outcome:
        """Its outcome, once its process has ended; one that said nothing has died."""
        assert self.process.stdout is not None
        said = self.process.stdout.read()
        self.process.stdout.close()
        code = self.process.wait()
        if said.endswith("\n"):
            return Outcome.from_json(self.task, said.splitlines()[-1])
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Outcome(self.task, "died", f"its process ended by {cause}; see {_errors(self.task)}")


class LocalExecutor:
    """At most `jobs` workers on this machine, each on a core of its own where they take all that this process may use.

    Fewer are left to the system to place, which knows what else runs, another launcher's workers among it.
    """

    def __init__(self, jobs: int) -> None:
        """An executor with nothing to do yet."""
        read("jobs", jobs, int, least=1, most=MOST_JOBS)
        cores = sorted(os.sched_getaffinity(0))
        self._cores = [None if jobs < len(cores) else cores[i % len(cores)] for i in range(jobs)]
        self._workers: list[Worker] = []

    def free(self) -> int:
        return len(self._cores) - len(self._workers)

    def start(self, task: Task) -> None:
        idle = list(self._cores)
        for worker in self._workers:
            idle.remove(worker.task.core)
        self._workers.append(Worker.start(replace(task, core=idle[0])))

    def ended(self, seconds: int | float) -> list[Outcome]:
        give_up = time.monotonic() + seconds
        while not any(worker.has_ended() for worker in self._workers) and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        gone = [worker for worker in self._workers if worker.has_ended()]
        self._workers = [worker for worker in self._workers if worker not in gone]
        return [worker.outcome() for worker in gone]

    def stop(self) -> list[Outcome]:
        for worker in self._workers:
            worker.terminate()
        return _ended_or_killed(self._workers)

    def close(self) -> None:
        for worker in self._workers:
            if not worker.has_ended():
                worker.process.kill()
            worker.outcome()
        self._workers = []


def _ended_or_killed(workers: list[Worker]) -> list[Outcome]:
    """The outcomes of workers that were asked to end; one that does not within its time is killed."""
    give_up = time.monotonic() + SECONDS_TO_SAVE
    outcomes = []
    while workers:
        worker = workers.pop()
        while not worker.has_ended() and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if not worker.has_ended():
            worker.process.kill()
        outcomes.append(worker.outcome())
    return outcomes


def _errors(task: Task) -> Path:
    return Path(task.path) / "stderr.log"
