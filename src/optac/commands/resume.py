"""`optac resume`."""

import argparse
from typing import Any

from optac.commands.subcommand import add_everywhere, add_run_folder, answer, notice
from optac.commands.train import add_running, run_training
from optac.errors import InvalidInput
from optac.runs.folder import RunFolder
from optac.runs.kinds import known_kind
from optac.threads import limit_threads


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="a run is resumed in its own folder, no other")
    add_run_folder(parser)
    parser.add_argument(
        "--steps", type=int, metavar="N", help="go on to N steps, more than the training was asked for before"
    )
    add_running(parser)


def run(arguments: argparse.Namespace) -> int:
    """Resume a training from its newest sound checkpoint, a solve from its snapshot."""
    if arguments.out is not None and arguments.out.resolve() != arguments.run_folder.resolve():
        raise InvalidInput(
            f"--out {arguments.out}: a run is resumed in its own folder; copy {arguments.run_folder} there and resume "
            "that"
        )
    kind = known_kind(RunFolder.open(arguments.run_folder).config, arguments.run_folder)
    return RESUMERS[kind.name](arguments, kind)


def _resume_training(arguments: argparse.Namespace, kind: Any) -> int:
    limit_threads(arguments.threads)
    resume = kind.resume()
    return run_training(
        arguments,
        lambda **watching: resume(
            arguments.run_folder, on_notice=notice, steps=arguments.steps, trust=arguments.trust, **watching
        ),
    )


def _resume_solve(arguments: argparse.Namespace, kind: Any) -> int:
    """A finished solve is left alone; another goes on from its snapshot, or starts again where it has none."""
    if arguments.steps is not None:
        raise InvalidInput(
            f"--steps {arguments.steps}: {arguments.run_folder} is a solve, which has no steps"
        )
    for option in ("stop_on_reward", "tensorboard", "callback"):
        if getattr(arguments, option) not in (None, False, []):
            raise InvalidInput(
                f"--{option.replace('_', '-')} is for trainings; {arguments.run_folder} is a solve: leave it out"
            )
    ended = kind.resume()(arguments.run_folder, trust=arguments.trust)
    said = {name.removeprefix("time/"): value for name, value in ended.items()}
    said["out"] = str(arguments.run_folder)
    answer(arguments, said, lambda: print(f"{arguments.run_folder} is finished; see result.json there"))
    return 0


RESUMERS = {"solve": _resume_solve, "train": _resume_training}
