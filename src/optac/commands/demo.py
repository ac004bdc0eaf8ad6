"""`optac demo`."""

import argparse
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, print_json


def add_demo(commands: Any) -> None:
    """Add `optac demo`."""
    add_command(commands, "demo", "Opt-AC opens a lock that random play never opens, beside ε-greedy", _demo)


def _demo(arguments: argparse.Namespace) -> None:
    from optac.experiments.demo import BUDGET, PROBLEM, play
    from optac.experiments.solving import fresh_path
    from optac.reports.demo import show_demo
    from optac.reports.terminal import progress

    out = arguments.out or fresh_path(Path("runs/demo"))
    with progress(PROBLEM, 2 * BUDGET, quiet=arguments.quiet or arguments.json) as advance:
        story = play(out, lambda episodes, note: advance(episodes, note))
    figure = show_demo(story, out, quiet=arguments.json)
    if arguments.json:
        print_json({**story.summary(), "figure": str(figure), "out": str(out)})
