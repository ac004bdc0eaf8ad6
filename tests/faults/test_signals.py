"""A signal ends a command wherever it arrives: in its code, in a callback of the collector, in a destructor."""

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import probe_environments  # noqa: F401  (registers its environments)
import pytest

from optac.agents.training import deadline
from optac.errors import RunFailed, Terminated
from optac.runs.folder import RunFolder
from optac.runs.training import Interrupted, resume, train
from optac.signals import noted
from tests.faults import endings  # noqa: F401  (registers its environments)
from tests.faults.test_configuration import SETTINGS

COMMANDS = """
import _thread, gc, os, signal, sys, time
from optac import cli, signals
from optac.commands import list as command

class Signalled:
    def __init__(self, name, raises=False):
        self.number, self.raises = getattr(signal, name), raises

    def __call__(self, *arguments):
        if self in gc.callbacks:
            gc.callbacks.remove(self)
        os.kill(os.getpid(), self.number)
        time.sleep(0.01)
        if self.raises:
            raise ValueError("mine")

    def collect(self):
        gc.callbacks.append(self)
        gc.collect()

class Doomed:
    def __init__(self, call):
        self.call = call

    def __del__(self):
        self.call()

class Slow:
    # The signal that is sent again comes while the hook that sends it is still at work.
    def start_new_thread(self, *given):
        _thread.start_new_thread(*given)
        time.sleep(0.1)

def fail():
    raise ValueError("mine")

def while_shown(here):
    signals._hooks.append(lambda lost: (signals._hooks.pop(), here()))
    Doomed(fail)

def slowly(here):
    signals.SECONDS_TO_SEND_AGAIN, signals._thread = 0.0, Slow()
    here.collect()

PLACES = {
    "in a callback of the collector": lambda name: Signalled(name).collect(),
    "in a destructor": lambda name: Doomed(Signalled(name)) and None,
    "in the command": lambda name: Signalled(name)(),
    "in an import": lambda name: __import__(f"interrupted_by_{name}"),
    "beside another error in a callback": lambda name: Signalled(name, raises=True).collect(),
    "while another error is shown": lambda name: while_shown(Signalled(name)),
    "again before it was sent on": lambda name: slowly(Signalled(name)),
}

def wait_after(place, name):
    def run(arguments):
        place(name)
        give_up = time.monotonic() + 20
        while time.monotonic() < give_up:
            time.sleep(0.01)
        return 0
    return run

for place in PLACES:
    for name in ("SIGTERM", "SIGINT"):
        command.run = wait_after(PLACES[place], name)
        print(f"{name} {place}: {cli.main(['list'])}", flush=True)
"""
PLACES = (
    "in a callback of the collector",
    "in a destructor",
    "in the command",
    "in an import",
    "beside another error in a callback",
    "while another error is shown",
    "again before it was sent on",
)
ENDINGS = {"SIGTERM": 143, "SIGINT": 130}


IMPORTED = """
import os, signal, sys, time
os.kill(os.getpid(), signal.{name})
time.sleep(0.2)
print("the module {name} is whole", file=sys.stderr)
"""


def test_a_signal_ends_a_command_wherever_it_arrives(tmp_path: Path) -> None:
    """What a callback itself raises is shown, and does not take the signal's place; an import comes to its end."""
    for name in ENDINGS:
        (tmp_path / f"interrupted_by_{name}.py").write_text(IMPORTED.format(name=name))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    words, known = [sys.executable, "-c", COMMANDS], {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=known)
    expected = [f"{name} {place}: {ENDINGS[name]}" for place in PLACES for name in ENDINGS]
    assert done.stdout.splitlines() == expected, done.stderr
    assert done.stderr.count("optac: interrupted\n") == len(expected)
    assert all(f"the module {name} is whole" in done.stderr for name in ENDINGS)


def trained(out: Path, **more: Any) -> Any:
    return train("probe/Drifting-v0", "sac", steps=80, seed=1, settings=SETTINGS, out=out, **more)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return trained(tmp_path_factory.mktemp("undisturbed") / "run")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_training_ends_and_saves_where_the_collector_hears_the_signal(
    number: int, undisturbed: Any, tmp_path: Path
) -> None:
    def hear(phase: str, info: dict[str, Any]) -> None:
        gc.callbacks.remove(hear)
        os.kill(os.getpid(), number)
        time.sleep(0.01)

    def collect(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 40:
            gc.callbacks.append(hear)
            gc.collect()

    with pytest.raises(Interrupted) as caught:
        trained(tmp_path / "run", on_row=collect)
    assert caught.value.exit_code == 128 + number
    assert (tmp_path / "run" / "checkpoints" / "ckpt_000000000040").is_dir()
    status = RunFolder.open(tmp_path / "run").status
    assert status is not None and status.state == "interrupted"
    assert resume(tmp_path / "run").parameters_sha256 == undisturbed.parameters_sha256


def test_an_environment_that_takes_the_signals_does_not_keep_them(tmp_path: Path) -> None:
    """The one that an evaluation makes: from then on they would be ignored."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def stop(row: dict[str, Any]) -> None:
        if row["time/total_timesteps"] == 60:
            os.kill(os.getpid(), signal.SIGTERM)

    try:
        with pytest.raises(Interrupted):
            train(
                "ending/TakesSignals-v0",
                "sac",
                steps=200,
                settings=SETTINGS,
                out=tmp_path / "run",
                on_row=stop,
            )
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


def test_a_first_signal_is_noted_and_a_second_raises() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), noted() as caught:
        os.kill(os.getpid(), signal.SIGTERM)
        assert caught == [signal.SIGTERM]
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_time_limit_that_rings_where_python_drops_it_rings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_SECONDS_TO_RING_AGAIN", 0.1)
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)

    def ring(phase: str, info: dict[str, Any]) -> None:
        gc.callbacks.remove(ring)
        time.sleep(0.2)

    with pytest.raises(RunFailed, match=r"the step took longer"), deadline.deadline(0.1, "the step"):
        gc.callbacks.append(ring)
        gc.collect()
        time.sleep(20)


def test_the_time_that_a_process_is_stopped_does_not_count() -> None:
    """All that rings while a process is stopped, or while the signal is kept from it, is heard as one."""
    with deadline.deadline(0.4, "the step"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(0.8)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


def test_a_process_is_ended_after_as_many_looks_whatever_the_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Ended(BaseException):
        pass

    looks: list[float] = []
    watchdog = deadline._Watchdog()

    def slept(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 4:
            watchdog._armed = (3.0, "another step")  # it was called off, and the next has begun

    def end(code: int) -> None:
        raise Ended

    monkeypatch.setattr(deadline.time, "sleep", slept)
    monkeypatch.setattr(deadline.os, "_exit", end)
    watchdog._armed = (3.0, "a step")
    with pytest.raises(Ended):
        watchdog._watch()
    assert len(looks) == 8
