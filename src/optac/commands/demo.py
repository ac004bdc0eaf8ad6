"""`optac demo`."""

import argparse
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, notice, print_json
from optac.errors import InvalidInput


def add_demo(commands: Any) -> None:
    """Add `optac demo`."""
    parser = add_command(
        commands,
        "demo",
        "the whole story in about three minutes: Opt-AC opens a lock, cRFFSAC learns a task, a page shows both",
        _demo,
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, metavar="N", help="steps of the training (default: 8000)")
    length.add_argument("--theory", action="store_true", help="the lock alone: no training, no JAX")


def _demo(arguments: argparse.Namespace) -> int:
    from optac.report.terminal import progress
    from optac.runs.solving import fresh_path
    from optac.studies.demo.cells import BUDGET, PROBLEM, STEPS, play
    from optac.studies.demo.report import show_demo, show_page, write_page

    steps = STEPS if arguments.steps is None else arguments.steps
    if steps < 1:
        raise InvalidInput(f"steps={steps} must be at least 1")
    out = arguments.out or fresh_path(Path("runs/demo"))
    with progress(PROBLEM, 2 * BUDGET, quiet=arguments.quiet or arguments.json) as advance:
        story = play(out, lambda episodes, note: advance(episodes, note))
    figure = show_demo(story, out, quiet=arguments.json)
    said: dict[str, Any] = {**story.summary(), "figure": str(figure)}
    if not arguments.theory:
        return _train_and_report(arguments, out, steps, said)
    written = write_page(out, "The demo: a lock")
    if arguments.json:
        print_json({**said, "page": str(written.page), "out": str(out)})
    else:
        show_page(written)
    return 0


def _train_and_report(arguments: argparse.Namespace, out: Path, steps: int, said: dict[str, Any]) -> int:
    from optac.commands.train_output import print_evaluation, show_training
    from optac.studies.demo.cells import TASK, train_shortly
    from optac.studies.demo.report import show_page, write_page

    quiet = arguments.quiet or arguments.json
    if not quiet:
        notice(f"now cRFFSAC learns {TASK}, {steps:,} steps")
    from optac.runs.training import Interrupted

    try:
        on_row = (lambda row: None) if quiet else print_evaluation
        result = train_shortly(out, steps, on_row=on_row, show_progress=not quiet)
    except Interrupted as error:
        notice(str(error))
        return error.exit_code
    written = write_page(out, "The demo: a lock and a pendulum")
    if arguments.json:
        print_json({**said, "training": result.summary(), "page": str(written.page), "out": str(out)})
    else:
        show_training(result)
        show_page(written)
    return 0
