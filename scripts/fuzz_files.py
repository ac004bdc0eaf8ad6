"""Damaged files: of a training, a solve or a search, of a policy or a problem; and what commands make of them."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optac
from optac import make_problem, numpy_policy
from optac.errors import OptacError
from optac.runs import solve_snapshots
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from scripts.fuzz_parts import Failed, answered, contents, damaged, watched

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
SOLVE = SolveConfig("combination-lock", {"horizon": 3, "actions": 2}, iterations=6)
SEARCH = """[tune]
agent = "sac"
environment = "Pendulum-v1"
steps = 40
trials = 3
together = 3
[search]
width = [4, 6, 8]
[settings]
batch_size = 8
learning_starts = 20
eval_every = 20
eval_episodes = 1
"""


@dataclass(frozen=True)
class Whole:
    """What is copied, damaged and then used, and what comes of it where nothing is damaged."""

    training: Path
    parameters: str
    solve: Path
    unfinished_solve: Path
    value: Any
    search: Path
    trials: Any
    policy: Path
    problem: Path


def made(place: Path) -> Whole:
    """A training that was stopped, a solve at its end and one before it, a search, a policy and a problem."""
    training, search = place / "training", place / "search"
    _, said, _ = answered([*TRAIN, *SETTINGS, "--out", str(training)])
    parameters = json.loads(said)["parameters_sha256"]
    policy, problem = place / "policy.npz", place / "problem.npz"
    answered(["export", str(training), str(policy)])
    make_problem("combination-lock", horizon=2, actions=2).save(problem)
    shutil.rmtree(training / "checkpoints" / "ckpt_000000000120")
    (training / "status.json").unlink()
    solve, unfinished = place / "solve", place / "unfinished-solve"
    solve_snapshots.SECONDS = solve_snapshots.SHARE = 0.0

    def stop(row: dict[str, Any]) -> None:
        if row["iteration"] == 4:
            shutil.copytree(solve, unfinished)

    run_solve(prepared_solve(SOLVE), solve, stop)
    (place / "search.toml").write_text(SEARCH)
    _, told, _ = answered(["tune", "search.toml", "--jobs", "1", "--json", "--out", str(search)])
    trials = json.loads(told)["trials"]
    return Whole(training, parameters, solve, unfinished, solved(solve), search, trials, policy, problem)


def solved(folder: Path) -> Any:
    """What a solve came to, without what a clock said."""
    result = json.loads((folder / "result.json").read_text())
    return {name: value for name, value in result.items() if not name.startswith("time/")}


def trainings(chance: random.Random, count: int, whole: Whole) -> Iterator[str]:
    """A stopped training, resumed, evaluated, exported, shown."""
    for copy, what in copies(chance, count, whole.training):
        command = chance.choice(
            ["resume", "resume", "eval", "eval --best", "export", "export --best", "report"]
        )
        name, *more = command.split()
        more += {
            "eval": ["--episodes", "1"],
            "export": [str(copy.parent / "exported.npz")],
            "report": ["--out", str(copy.parent / "report.html")],
        }.get(name, [])
        code, out, _ = answered([name, str(copy), *more, "--json"])
        if command == "resume" and code == 0:
            said = json.loads(out)
            if said["exact"] and said["parameters_sha256"] != whole.parameters:
                raise Failed(f"{what}: resumed to another result that says exact")
        yield f"{command}: exit {code}"


def solves(chance: random.Random, count: int, whole: Whole) -> Iterator[str]:
    """A solve, finished or not, resumed, opened in Python, shown."""
    for number in range(count):
        start = chance.choice([whole.solve, whole.unfinished_solve])
        for copy, what in copies(chance, 1, start, number):
            command = chance.choice(["resume", "resume", "load", "report"])
            if command == "load":
                yield f"load: {opened(lambda copy=copy: optac.load(copy))}"
                continue
            more = ["--out", str(copy.parent / "report.html")] if command == "report" else []
            code, _, _ = answered([command, str(copy), *more, "--json"])
            another = command == "resume" and code == 0 and start is whole.unfinished_solve
            if another and solved(copy) != whole.value:
                raise Failed(f"{what}: a solve was resumed to another result")
            yield f"{command}: exit {code}"


def searches(chance: random.Random, count: int, whole: Whole) -> Iterator[str]:
    """A search, in most cases its tune.json, continued or shown."""
    for copy, what in copies(chance, count, whole.search, likely="tune.json"):
        if chance.random() < 0.3:
            code, _, _ = answered(["report", str(copy), "--out", str(copy.parent / "report.html"), "--json"])
            yield f"report: exit {code}"
            continue
        words = ["tune", "search.toml", "--jobs", "1", "--retries", "0", "--json", "--out", str(copy)]
        code, out, _ = answered(words)
        if code == 0 and json.loads(out)["trials"] != whole.trials:
            raise Failed(f"{what}: a search was continued to other trials")
        yield f"tune: exit {code}"


def copies(
    chance: random.Random, count: int, whole: Path, first: int = 0, likely: str = ""
) -> Iterator[tuple[Path, str]]:
    """Copies of a folder, one file damaged or one folder made a link, and what was done; nothing outside changes."""
    outside = whole.parent / f"outside-{whole.name}"
    if not outside.exists():
        shutil.copytree(whole, outside)
        (outside / "precious").write_text("a year's work")
    before = contents(outside)
    for number in range(first, first + count):
        copy = whole.parent / f"{whole.name}-{number}"
        shutil.copytree(whole, copy)
        folders = [path for path in sorted(copy.rglob("*")) if path.is_dir()]
        found = sorted(path for path in copy.rglob("*") if path.is_file())
        if folders and chance.random() < 0.1:
            place, what = chance.choice(folders), "a link"
            shutil.rmtree(place)
            place.symlink_to(outside / place.relative_to(copy))
        else:
            place = copy / likely if likely and chance.random() < 0.7 else chance.choice(found)
            what = damaged(chance, place, outside / "precious")
        what = f"{place.relative_to(whole.parent)}: {what}"
        yield copy, what
        if contents(outside) != before:
            raise Failed(f"{what}: something outside the folder was changed")
        shutil.rmtree(copy)


def arrays(chance: random.Random, count: int, whole: Whole) -> Iterator[str]:
    """An exported policy or a problem's arrays, loaded or solved."""
    for _ in range(count):
        start = chance.choice([whole.policy, whole.problem])
        file = start.with_name("damaged.npz")
        shutil.copyfile(start, file)
        damaged(chance, file, start)
        if start is whole.problem:
            code, _, _ = answered(["solve", str(file), "--iterations", "2", "--out", "solved", "--json"])
            shutil.rmtree("solved", ignore_errors=True)
            yield f"solve: exit {code}"
        else:
            yield f"load: {opened(lambda file=file: numpy_policy.load(file))}"
        file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)


def opened(load: Callable[[], object]) -> str:
    """Whether something could be loaded."""
    with watched("loading"):
        try:
            load()
        except (OptacError, OSError):
            return "refused"
    return "loaded"


KINDS = {"trainings": trainings, "solves": solves, "searches": searches, "arrays": arrays}
SHARES = {"trainings": 0.5, "solves": 0.16, "searches": 0.14, "arrays": 0.2}
"""of all damaged files"""
