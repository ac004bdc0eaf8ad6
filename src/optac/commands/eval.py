"""`optac eval`."""

import argparse

from optac.commands.subcommand import add_everywhere, add_policy, answer, chosen_policy, write_answer
from optac.commands.train import show_training
from optac.threads import limit_threads


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="also write the answer to eval.json there")
    add_policy(parser)
    parser.add_argument("--episodes", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--seed", type=int, default=0, help="which fresh seeds (default: 0)")


def run(arguments: argparse.Namespace) -> None:
    """Play the saved policy, and say what it came to."""
    limit_threads(1)
    from optac.runs.training import evaluate

    which = chosen_policy(arguments)
    result = evaluate(arguments.run_folder, episodes=arguments.episodes, seed=arguments.seed, **which)
    write_answer(arguments.out, "eval.json", result.summary())
    answer(arguments, result.summary(), lambda: show_training(result, best=arguments.best))
