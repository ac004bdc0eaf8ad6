"""A sweep of short trainings to disturb, and the same trainings one after another, left in peace."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from optac.agents.training import checkpoints
from optac.runs.folder import RunFolder
from optac.runs.lease import newest_attempt
from optac.runs.training import train
from optac.sweeps.plan import Sweep
from optac.sweeps.standing import run_standing

SHORT = """
[sweep]
agents = ["sac"]
environments = ["optac/Pendulum-v0"]
seeds = {seeds}
steps = 600
[settings]
width = 8
batch_size = 8
learning_starts = 100
eval_every = 300
eval_episodes = 1
log_every = 100
checkpoint_every = 50
"""


def sweep_file(folder: Path, seeds: int) -> Path:
    file = folder / "short.toml"
    file.write_text(SHORT.format(seeds=seeds))
    return file


@contextmanager
def launcher(
    file: Path, out: Path, *more: str, start_new_session: bool = False
) -> Iterator["subprocess.Popen[str]"]:
    words = ["sweep", str(file), "--out", str(out), "--json", *more]
    script = f"import sys; from optac.cli import main; sys.exit(main({words!r}))"
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=start_new_session,
    ) as process:
        yield process


@contextmanager
def half_done(
    process: "subprocess.Popen[str]",
    out: Path,
    sweep: Sweep,
    *,
    attempt: int = 1,
    wanted: Callable[[Path], bool] = lambda path: True,
) -> Iterator[Path]:
    """A wanted run that has saved two checkpoints, in at least the given attempt, frozen while the block runs."""

    def caught(path: Path) -> bool:
        standing = run_standing(path)
        return standing.state == "running" and standing.attempts >= attempt and wanted(path)

    while process.poll() is None:
        for run in sweep.runs:
            path = out / run.id
            if len(checkpoints.listed(path / "checkpoints")) >= 2 and caught(path):
                pid = worker_pid(path)
                with frozen(pid):
                    if caught(path) and worker_pid(path) == pid:  # it may have ended before it froze
                        yield path
                        return
        time.sleep(0.05)
    raise AssertionError(f"the launcher ended: {process.communicate()[1]}")


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """The process stopped while the block runs, so that nothing it does can come first."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def worker_pid(run: Path) -> int:
    attempt = newest_attempt(run)
    assert attempt is not None
    return int(attempt.owner.split()[1])


def plain_rows(path: Path) -> list[dict[str, Any]]:
    rows = RunFolder.open(path).rows()
    return [{name: value for name, value in row.items() if name != "time/fps"} for row in rows]


def damage(path: Path) -> None:
    arrays = checkpoints.listed(path / "checkpoints")[0] / "arrays.safetensors"
    content = bytearray(arrays.read_bytes())
    content[-1] ^= 1
    arrays.write_bytes(bytes(content))


def serial(sweep: Sweep, out: Path) -> dict[str, str]:
    """The hash of each run, trained one after another and never disturbed."""
    hashes = {}
    for run in sweep.runs:
        config = run.config
        made = train(
            config["environment"],
            config["agent"],
            steps=config["steps"],
            seed=config["seed"],
            settings=config["settings"],
            out=out / run.id,
        )
        hashes[run.id] = made.parameters_sha256
    return hashes


def serial_elsewhere(file: Path, out: Path) -> dict[str, str]:
    """The same in a process of its own: a process in which JAX has computed cannot fork, as Ray's clusters do."""
    code = (
        "import json, sys; from pathlib import Path; from disturbed_sweep import serial; "
        "from optac.sweeps.plan import read_sweep; "
        "print(json.dumps(serial(read_sweep(Path(sys.argv[1])), Path(sys.argv[2]))))"
    )
    command = [sys.executable, "-c", code, str(file), str(out)]
    done = subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
