"""Damage, nonsense and kills by chance: `make fuzz` counts what comes of them, and fails on what must not happen.

Drawn from one seed: damaged files of trainings, solves, searches, policies and problems (`fuzz_files.py`), argument
vectors, sweep files, kills of a training. Each may end in success or in one line of error. A traceback, a hang, a
result that says `exact` and is another than the undisturbed run's, another solve or search, or a change outside the
folder makes the command exit with 1.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from optac.threads import limit_threads
from scripts.fuzz_files import KINDS, SETTINGS, SHARES, TRAIN, made
from scripts.fuzz_parts import SECONDS_TO_END, Failed, answered

Cases = Callable[[random.Random], Iterator[str]]
SWEEP = """[sweep]
algorithms = ["opt-ac", "epsilon-greedy"]
problems = ["combination-lock horizon=2 actions=2"]
seeds = [0, 1]
iterations = 2
[settings]
keep_members = false
"""
COMMANDS = (
    "list",
    "solve",
    "train",
    "resume",
    "eval",
    "export",
    "status",
    "report",
    "sweep",
    "compare",
    "nonsense",
)
USUAL = """
combination-lock Pendulum-v1 run missing - -- --json --quiet --version horizon=2 actions=2 horizon=-1 horizon=1e99
horizon=100000 actions=x = a=b=c seed=-1 --seed --steps --set --out --path --agent --algorithm --iterations --trust
0 1 -1 9223372036854775808 nan 1e400 ../.. /dev/null opt-ac sac width=0 width=1000000000
"""
WORDS = [*COMMANDS, *USUAL.split(), "", "\ud83d"]
TEXTS = [
    *("", "=", "[", "]]", "seeds = 10", "seeds = 1000000000000000000000", "steps = nan", '"', "\x00"),
    *("é", "[sweep]", "iterations = -1", "{}", "a = " + "[" * 10_000),
]


def vectors(chance: random.Random, count: int) -> Iterator[str]:
    """Words by chance as a command."""
    for _ in range(count):
        words = [chance.choice(COMMANDS), *chance.choices(WORDS, k=chance.randrange(7))]
        if words[0] in ("train", "compare"):
            words += ["--steps", "0"] if words[0] == "train" else ["--seeds", "0"]
        code, _, _ = answered(words)
        yield f"exit {code}"


def sweeps(chance: random.Random, count: int) -> Iterator[str]:
    """Sweep files with lines lost, doubled or replaced."""
    for _ in range(count):
        lines = SWEEP.splitlines()
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(lines))
            lines[place : place + 1] = chance.choice([[], [lines[place]] * 2, [chance.choice(TEXTS)]])
            lines = lines or [""]
        Path("chance.toml").write_text("\n".join(lines))
        code, _, _ = answered(["sweep", "chance.toml", "--dry-run", "--json"])
        yield f"exit {code}"


def kills(chance: random.Random, count: int, result: str) -> Iterator[str]:
    """Trainings killed or stopped at a moment by chance of such a training's time, then resumed to the end."""
    seconds = 0.0
    for number in range(count + 1):
        out, began = f"killed-{number}", time.monotonic()
        command = [sys.executable, "-m", "optac", *TRAIN, *SETTINGS, "--out", out]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not seconds:
            process.wait()
            seconds = time.monotonic() - began
            continue
        time.sleep(chance.random() * seconds)
        name = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process.send_signal(name)
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failed(f"a training did not end after {name.name}") from None
        if process.returncode not in (0, -name, 128 + name):
            raise Failed(f"a training ended with {process.returncode} after {name.name}")
        if (Path(out) / "config.json").exists():
            code, said, err = answered(["resume", out, "--json"])
            if code != 0 or json.loads(said)["parameters_sha256"] != result:
                raise Failed(f"{out}, ended by {name.name}, was not resumed to the same result: {code} {err}")
        shutil.rmtree(out, ignore_errors=True)
        yield f"{name.name}: exit {process.returncode}"


def main() -> int:
    """Draw the cases and print a table of what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, count in (("files", 500), ("vectors", 200), ("sweeps", 100), ("kills", 60), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=count)
    chosen = parser.parse_args()
    limit_threads(1)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="optac-fuzz-") as place:
        os.chdir(place)
        os.environ["TMPDIR"] = os.environ["XDG_CACHE_HOME"] = place
        print("| kind | cases | what came of them |\n|---|---:|---|", flush=True)
        for name, cases in kinds(chosen, Path(place).resolve()).items():
            ends: Counter[str] = Counter()
            try:
                ends.update(cases(random.Random(f"{chosen.seed} {name}")))
            except Failed as error:
                print(f"fuzz: seed {chosen.seed}, {name}, case {ends.total()}: {error}", file=sys.stderr)
                failed = 1
            listed = ", ".join(f"{end} × {times}" for end, times in sorted(ends.items()))
            print(f"| {name} | {ends.total()} | {listed} |", flush=True)
        os.chdir("/")
    return failed


def kinds(chosen: argparse.Namespace, place: Path) -> dict[str, Cases]:
    """Each kind of case that is asked for; each draws from a seed of its own, so that they can be run apart."""
    asked: dict[str, Cases] = {
        "vectors": partial(vectors, count=chosen.vectors),
        "sweeps": partial(sweeps, count=chosen.sweeps),
    }
    if chosen.files or chosen.kills:
        whole = made(place)
        for name, cases in KINDS.items():
            asked[name] = partial(cases, count=round(SHARES[name] * chosen.files), whole=whole)
        if chosen.kills:
            asked["kills"] = partial(kills, count=chosen.kills, result=whole.parameters)
    return asked


if __name__ == "__main__":
    sys.exit(main())
