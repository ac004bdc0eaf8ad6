"""Attempts at runs as Ray core tasks, for a sweep that outgrows one machine: JSON in, JSON out.

Ray only places the work. What is known of a run lies in its folder, which every node must see, and Ray is told to
retry nothing: a task whose node died comes back as an attempt that died, and the launcher begins the next one, which
fences the old one off. On its node a task starts the same worker process as the local executor.

Ray listens on every interface unless told otherwise and runs what it is sent, so a cluster that is started here
listens on loopback alone, a cluster is spoken to with a token unless its user has switched that off, and the dashboard
and usage statistics are off.
"""

import contextlib
import logging
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from optac.errors import InvalidInput, require_extra
from optac.settings import read
from optac.sweeps.launcher_watch import MOST_JOBS, SECONDS_TO_SAVE
from optac.sweeps.local_executor import Worker
from optac.sweeps.worker import Outcome, Task

LOOPBACK: Final = "127.0.0.1"
SECONDS_BETWEEN_LOOKS = 0.2
_QUIET: Final = {
    "PYTHONSAFEPATH": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_TASK_EVENTS_REPORT_INTERVAL_MS": "0",
}
# Where this is 0, Ray takes loopback for a node's address instead of looking for one that others can reach.
_LOOPBACK_ONLY: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


def attempt_on_node(task: str) -> str:
    """A Ray task: one attempt in a process of its own on this node; when cancelled, it saves first."""
    worker = Worker.start(Task.from_json(task))
    try:
        while not worker.has_ended():
            time.sleep(SECONDS_BETWEEN_LOOKS)
    except BaseException:
        worker.terminate()
        give_up = time.monotonic() + SECONDS_TO_SAVE
        while not worker.has_ended() and time.monotonic() < give_up:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        raise
    return worker.outcome().to_json()


@dataclass
class RayExecutor:
    """As many tasks at once as the cluster has cores, or `jobs`."""

    address: str
    jobs: int | None = None
    _tasks: dict[Any, Task] = field(default_factory=dict)
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        read("jobs", self.jobs, int | None, least=1, most=MOST_JOBS)
        require_extra("ray", "--ray needs", "ray")
        self._held.enter_context(connected(self.address, self.jobs))
        import ray

        self._remote = ray.remote(num_cpus=1, max_retries=0)(attempt_on_node)

    def free(self) -> int:
        import ray

        cores = int(ray.cluster_resources().get("CPU", 0))
        return (cores if self.jobs is None else min(self.jobs, cores)) - len(self._tasks)

    def start(self, task: Task) -> None:
        self._tasks[self._remote.remote(task.to_json())] = task

    def ended(self, seconds: int | float) -> list[Outcome]:
        import ray

        if not self._tasks:
            time.sleep(seconds)
            return []
        gone, _ = ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        if not gone:
            gone, _ = ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        return [self._outcome(reference) for reference in gone]

    def stop(self) -> list[Outcome]:
        import ray

        for reference in self._tasks:
            ray.cancel(reference)
        if self._tasks:
            ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=SECONDS_TO_SAVE)
        return [self._outcome(reference) for reference in list(self._tasks)]

    def close(self) -> None:
        self._held.close()

    def _outcome(self, reference: Any) -> Outcome:
        import ray

        task = self._tasks.pop(reference)
        try:
            return Outcome.from_json(task, ray.get(reference, timeout=1))
        except (ray.exceptions.TaskCancelledError, ray.exceptions.GetTimeoutError):
            return Outcome(task, "interrupted", "its task was cancelled")
        except ray.exceptions.RayError as error:
            said = next(iter(str(error).strip().splitlines()), type(error).__name__)
            return Outcome(task, "died", f"{type(error).__name__}: {said}")


@contextlib.contextmanager
def connected(address: str, jobs: int | None) -> Iterator[None]:
    """Ray while the block runs: on `local` a cluster of its own, which ends with it, else the one at `address`."""
    with contextlib.ExitStack() as stack:
        if address == "local":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="optac-ray-")))
            stack.enter_context(_environment({**_QUIET, **_LOOPBACK_ONLY, **_own_token(folder)}))
            where: dict[str, Any] = {
                "address": "local",
                "num_cpus": jobs or len(os.sched_getaffinity(0)),
                "include_dashboard": False,
                "_node_ip_address": LOOPBACK,
            }
        else:
            loopback = _LOOPBACK_ONLY if address.startswith((f"{LOOPBACK}:", "localhost:")) else {}
            stack.enter_context(_environment({**_QUIET, **loopback, **_users_token()}))
            where = {"address": address}
        import ray

        # Ray tells of dead nodes on standard output, which is for the answer alone.
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        try:
            ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # Ray raises no class of its own where it does not start
            said = next(iter(str(error).strip().splitlines()), type(error).__name__)
            if address == "local":
                raise InvalidInput(
                    f"Ray does not start on this machine: {said}; use --jobs instead"
                ) from error
            raise InvalidInput(
                f"no Ray cluster answers at {address!r}: {said}; start one as docs/sweeps.md says, or use --ray local"
            ) from error
        stack.callback(ray.shutdown)
        yield


def _own_token(folder: Path) -> dict[str, str]:
    """A new token that only this user can read."""
    file = folder / "token"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(secrets.token_hex(32))
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(file)}


def _users_token() -> dict[str, str]:
    """The token of a cluster that somebody started; one that others can read is refused."""
    if "RAY_AUTH_TOKEN" in os.environ or os.environ.get("RAY_AUTH_MODE") == "disabled":
        return {}
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH", Path.home() / ".ray" / "auth_token"))
    if not file.is_file():
        raise InvalidInput(
            f"no token for the Ray cluster in {file}; set RAY_AUTH_TOKEN_PATH to the file with the cluster's token"
        )
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidInput(f"the Ray cluster's token in {file} can be read by others; chmod 600 {file}")
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(file)}


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """The variables while the block runs: Ray reads them when it starts and hands them to its processes."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
