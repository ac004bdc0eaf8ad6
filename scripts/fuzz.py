"""Damage, nonsense and kills by chance: `make fuzz` counts what comes of them, and fails on what must not happen.

Drawn from one seed: damaged files of a run, policy or problem, argument vectors, sweep files, kills of a training.
Each may end in success or in one line of error. A traceback, a hang, a result that says `exact` and is another than the
undisturbed run's, or a change outside the run's folder makes the command exit with 1.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from optac import make_problem, numpy_policy
from optac.cli import main as optac
from optac.errors import OptacError
from optac.threads import limit_threads

SECONDS_TO_END = 120.0
TRAIN = ["train", "Pendulum-v1", "--agent", "sac", "--steps", "120", "--seed", "1", "--json"]
SMALL = {
    "width": 8,
    "batch_size": 8,
    "learning_starts": 40,
    "eval_every": 60,
    "eval_episodes": 1,
    "log_every": 20,
    "checkpoint_every": 30,
}
SETTINGS = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
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


class Failed(Exception):
    """Something that must not happen."""


def answered(words: list[str]) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with watched(words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = optac(words)
        except SystemExit as end:
            code = int(end.code or 0)
    said = err.getvalue()
    if "Traceback" in said or "should not have happened" in said or code not in (0, 1, 2):
        raise Failed(f"{words}: exit {code}: {said[-500:]}")
    return code, out.getvalue(), said


@contextlib.contextmanager
def watched(words: object) -> Iterator[None]:
    """A hang in the block ends the program."""
    hung = threading.Timer(SECONDS_TO_END, _hang, [words])
    hung.daemon = True
    hung.start()
    try:
        yield
    finally:
        hung.cancel()


def _hang(words: object) -> None:
    print(f"hang: {words}", file=sys.__stderr__, flush=True)
    os._exit(1)


def damaged(chance: random.Random, file: Path, precious: Path) -> str:
    """Do something to a file; what."""
    what = chance.choice(["bit", "cut", "gone", "noise", "more", "link", "folder", "pipe"])
    data = file.read_bytes()
    if what == "bit" and data:
        place = chance.randrange(8 * len(data))
        changed = bytearray(data)
        changed[place // 8] ^= 1 << (place % 8)
        file.write_bytes(changed)
    elif what == "cut":
        file.write_bytes(data[: chance.randrange(len(data) + 1)])
    elif what == "noise":
        file.write_bytes(chance.randbytes(len(data)))
    elif what == "more":
        file.write_bytes(data + chance.randbytes(chance.randrange(1, 40)))
    else:
        file.unlink()
        if what == "link":
            file.symlink_to(precious)
        elif what == "folder":
            file.mkdir()
        elif what == "pipe":
            os.mkfifo(file)
    return what


def files(chance: random.Random, count: int, whole: Path, result: str) -> Iterator[str]:
    """A stopped run with one file damaged or one folder made a link, then resumed, evaluated, exported, shown."""
    outside = whole.parent / "outside"
    shutil.copytree(whole / "checkpoints", outside)
    (outside / "precious").write_text("a year's work")
    before = contents(outside)
    for number in range(count):
        run = whole.parent / f"damaged-{number}"
        shutil.copytree(whole, run)
        if chance.random() < 0.1:
            place = chance.choice([path for path in sorted(run.rglob("*")) if path.is_dir()])
            what = "a link"
            shutil.rmtree(place)
            place.symlink_to(outside / place.relative_to(run / "checkpoints"))
        else:
            place = chance.choice(sorted(path for path in run.rglob("*") if path.is_file()))
            what = damaged(chance, place, outside / "precious")
        command = chance.choice(["resume", "resume", "eval", "export", "report"])
        more = {"eval": ["--episodes", "1"], "export": [str(run.parent / "policy.npz")]}.get(command, [])
        more = ["--out", str(run.parent / "report.html")] if command == "report" else more
        code, out, _ = answered([command, str(run), *more, "--json"])
        if contents(outside) != before:
            raise Failed(f"{place.relative_to(run)} {what}: {command} wrote outside the folder")
        if command == "resume" and code == 0:
            said = json.loads(out)
            if said["exact"] and said["parameters_sha256"] != result:
                raise Failed(f"{place.relative_to(run)} {what}: resumed to another result that says exact")
        shutil.rmtree(run)
        yield f"{command}: exit {code}"


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file in a folder, and every folder in it."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def arrays(chance: random.Random, count: int, policy: Path, problem: Path) -> Iterator[str]:
    """An exported policy or a problem's arrays, damaged, then loaded or solved."""
    for _ in range(count):
        whole = chance.choice([policy, problem])
        file = whole.with_name("damaged.npz")
        shutil.copyfile(whole, file)
        damaged(chance, file, whole)
        if whole is problem:
            code, _, _ = answered(["solve", str(file), "--iterations", "2", "--out", "solved", "--json"])
            shutil.rmtree("solved", ignore_errors=True)
            yield f"solve: exit {code}"
        else:
            with watched("loading a policy"):
                yield loaded(file)
        file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)


def loaded(file: Path) -> str:
    """What comes of loading a policy."""
    try:
        numpy_policy.load(file)
    except OptacError:
        return "load: refused"
    return "load: loaded"


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
        os.environ["TMPDIR"] = place
        whole = Path(place, "whole").absolute()
        os.environ["XDG_CACHE_HOME"] = place
        _, said, _ = answered([*TRAIN, *SETTINGS, "--out", str(whole)])
        result = json.loads(said)["parameters_sha256"]
        policy, problem = Path(place, "whole.npz"), Path(place, "problem.npz")
        answered(["export", str(whole), str(policy)])
        make_problem("combination-lock", horizon=2, actions=2).save(problem)
        stopped = Path(place, "stopped")
        shutil.copytree(whole, stopped)
        shutil.rmtree(stopped / "checkpoints" / "ckpt_000000000120")
        (stopped / "status.json").unlink()
        chance = random.Random(chosen.seed)
        kinds: dict[str, Callable[[], Iterator[str]]] = {
            "files": lambda: files(chance, chosen.files - chosen.files // 5, stopped, result),
            "arrays": lambda: arrays(chance, chosen.files // 5, policy, problem),
            "vectors": lambda: vectors(chance, chosen.vectors),
            "sweeps": lambda: sweeps(chance, chosen.sweeps),
            "kills": lambda: kills(chance, chosen.kills, result),
        }
        print("| kind | cases | what came of them |\n|---|---:|---|", flush=True)
        for name, cases in kinds.items():
            ends: Counter[str] = Counter()
            try:
                ends.update(cases())
            except Failed as error:
                print(f"fuzz: seed {chosen.seed}, {name}, case {ends.total()}: {error}", file=sys.stderr)
                failed = 1
            listed = ", ".join(f"{end} × {times}" for end, times in sorted(ends.items()))
            print(f"| {name} | {ends.total()} | {listed} |", flush=True)
        os.chdir("/")
    return failed


if __name__ == "__main__":
    sys.exit(main())
