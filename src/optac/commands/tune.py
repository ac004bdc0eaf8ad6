"""`optac tune`."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_everywhere, add_examples, answer, is_quiet
from optac.commands.sweep import add_launching, executor_of, retries_of, watched
from optac.runs.command_lines import train_command
from optac.runs.folder import RunFolder
from optac.settings import shown
from optac.sweeps.tuning import Trial, Tuned, tune
from optac.sweeps.tuning_file import read_tuning
from optac.terminal import show_table

SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser)
    add_examples(
        parser,
        "optac tune pendulum.toml --jobs 2",
        "optac report runs/pendulum --out page.html      its history and which settings matter",
        before="The same command continues where it stopped, with the trials it would have had.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="the search (see docs/tuning.md)")
    add_launching(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the trials that are missing and show the best."""
    tuning = read_tuning(arguments.file)
    path = arguments.out or Path("runs") / tuning.name
    with watched(path, quiet=is_quiet(arguments)) as watching:
        found = tune(
            tuning,
            path.resolve(),
            lambda: executor_of(arguments),
            retries=retries_of(arguments),
            watching=watching,
        )
    answer(arguments, _json(found), lambda: show_tuned(found))
    return 0 if found.best is not None else 1


def _json(found: Tuned) -> dict[str, Any]:
    trials = [{name: value for name, value in vars(one).items() if name != "bars"} for one in found.trials]
    best = None if found.best is None else trials[found.best.number]
    return {"out": str(found.path), "best": best, "importances": dict(found.importances), "trials": trials}


def show_tuned(found: Tuned) -> None:
    """The best trials, which settings matter, and the command that trains with the best again."""
    ended = [trial for trial in found.trials if trial.score is not None]
    order = sorted(ended, key=lambda trial: (trial.state != "finished", -(trial.score or 0.0)))
    names = list(found.trials[0].settings)
    counts = [
        f"{sum(t.state == state for t in found.trials)} {state}" for state in ("finished", "pruned", "failed")
    ]
    title = f"{found.path.name}: {len(found.trials)} trials, {', '.join(counts)}; the best {SHOWN}"
    show_table(title, ["trial", *names, "return", "state"], [_line(trial, names) for trial in order[:SHOWN]])
    for name, share in sorted(found.importances.items(), key=lambda pair: -pair[1]):
        print(f"{name} accounts for {share:.0%} of the spread of the scores")
    if found.best is None:
        print("no trial has finished")
    else:
        config = RunFolder.open(found.path / found.best.runs[0]).config
        print(f"the best again: {train_command(config)}")
        print(f"the page: {shlex.join(['optac', 'report', str(found.path), '--out', 'page.html'])}")


def _line(trial: Trial, names: list[str]) -> list[str]:
    values = [shown(trial.settings[name]) for name in names]
    return [str(trial.number), *values, f"{trial.score:.6g}", trial.state]
