"""`optac train`."""

import argparse
import dataclasses
import re
import sys
from collections.abc import Mapping
from typing import Any

from optac.commands.subcommand import Parser, add_everywhere, add_examples, answer, is_quiet, listed_settings
from optac.registry import load
from optac.runs.training_result import TrainingResult
from optac.settings import assignments
from optac.terminal import show_table
from optac.threads import limit_threads
from optac.words import quoted

DEFAULT_AGENT = "crffsac"


def configure(parser: Parser) -> None:
    """Its options."""
    add_everywhere(parser, presets="default, plain or paper")
    add_examples(
        parser,
        "optac train optac/HalfCheetah-v0 --agent crffsac --steps 100000",
        "optac train Pendulum-v1 --agent sac --steps 20000 --set learning_starts=1000 --threads 2",
        "optac train Hopper-v5 --agent crffsac-bonus --steps 200000 --preset paper --seed 3",
        "optac train Pendulum-v1 --env-kwargs g=5.0 --steps 20000 --stop-on-reward -200",
        "optac train my_envs:my/Crane-v0 --path . --steps 50000    my_envs.py is here, and registers the id\n",
    )
    parser.more_help = _listed_settings
    what = "a Gymnasium id with Box observations and bounded Box actions"
    parser.add_argument("environment", metavar="ENVIRONMENT", help=what)
    arguments = "an argument of the environment, as in --env-kwargs g=9.0; repeatable, as --set is"
    parser.add_argument("--env-kwargs", action="append", default=[], metavar="NAME=VALUE", help=arguments)
    agents = f"a name from `optac list`, or package.module (default: {DEFAULT_AGENT})"
    parser.add_argument("--agent", default=DEFAULT_AGENT, metavar="AGENT", help=agents)
    parser.add_argument("--steps", type=int, default=100_000, metavar="N", help="default: 100000")
    parser.add_argument("--seed", type=int, default=0, help="the agent's seed (default: 0)")
    add_running(parser)


def add_running(parser: argparse.ArgumentParser) -> None:
    """How a training runs here, which changes nothing in what is learnt."""
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one run (default: 1)")
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events (an extra)")
    enough = "stop at the first evaluation whose mean return is at least R"
    parser.add_argument("--stop-on-reward", type=float, metavar="R", help=enough)
    own = "a callback of one's own, package.module:name with --path DIR (see docs/agents/callbacks.md); repeatable"
    parser.add_argument("--callback", action="append", default=[], metavar="CALLBACK", help=own)


def _listed_settings(arguments: argparse.Namespace) -> str:
    from optac.agents.record import record_of

    agent = record_of(arguments.agent)
    idle = ("preset", *agent.fixed)
    usual = {one.name: one.default for one in dataclasses.fields(agent.settings) if one.name not in idle}
    return listed_settings(f"{agent.name}, with the preset default's values", agent.settings, defaults=usual)


def run(arguments: argparse.Namespace) -> int:
    """Train, with the threads limited before JAX is loaded."""
    from optac.agents.record import record_of

    settings: dict[str, Any] = assignments(arguments.settings, "setting")
    if arguments.preset:
        settings["preset"] = arguments.preset
    record_of(arguments.agent).choose(settings)
    limit_threads(arguments.threads)
    from optac.runs.training import train

    return run_training(
        arguments,
        lambda **watching: train(
            " ".join([arguments.environment, *map(_one_word, arguments.env_kwargs)]),
            arguments.agent,
            steps=arguments.steps,
            seed=arguments.seed,
            settings=settings,
            out=arguments.out,
            **watching,
        ),
    )


def _one_word(given: str) -> str:
    """`name=value`, the value in quotes where there is a space in it."""
    name, equals, value = given.partition("=")
    return f"{name}{equals}{quoted(value)}" if re.search(r"\s", value) and value[:1] not in "\"'[" else given


def run_training(arguments: argparse.Namespace, train: Any) -> int:
    """Train or resume, with a line for each evaluation, and say what came of it."""
    quiet = is_quiet(arguments)
    callbacks = _callbacks(arguments)
    result = train(
        on_row=(lambda row: None) if quiet else print_evaluation,
        show_progress=not quiet,
        callback=callbacks,
        stop_on_reward=arguments.stop_on_reward,
    )
    answer(arguments, result.summary(), lambda: show_training(result))
    return 0


def _callbacks(arguments: argparse.Namespace) -> list[Any]:
    """Those that the options ask for; one of one's own is a class, or the callback itself."""
    names = [*(["tensorboard"] if arguments.tensorboard else []), *arguments.callback]
    parts = [load("callback", name) for name in names]
    return [part() if isinstance(part, type) else part for part in parts]


def print_evaluation(row: Mapping[str, Any]) -> None:
    """One line on standard error for a row that holds an evaluation; a terminal has the bar instead."""
    if "eval/mean_reward" in row and not sys.stderr.isatty():
        print(
            f"step {row['time/total_timesteps']}: return {row['eval/mean_reward']:.4g} "
            f"± {row['eval/std_reward']:.3g}, {row['time/fps']:.0f} steps/s",
            file=sys.stderr,
            flush=True,
        )


def show_training(result: TrainingResult, *, best: bool = False) -> None:
    """Print the result of a run or an evaluation, of its `best` policy perhaps."""
    mean = "never evaluated"
    if result.mean_reward is not None and result.std_reward is not None:
        mean = f"{result.mean_reward:.6g} ± {result.std_reward:.3g} over {result.episodes} episodes"
    steps = f"{result.steps}, where its best evaluation was" if best else str(result.steps)
    rows = [["steps", steps], ["return", mean]]
    if result.steps_per_second is not None:
        rows.append(["steps per second", f"{result.steps_per_second:.0f}"])
    if result.parameters_sha256 is not None:
        rows.append(["parameters", f"{result.parameters_sha256[:16]}…"])
    rows.append(["folder", result.folder])
    show_table(f"{result.agent} in {result.environment}, seed {result.seed}", ["", ""], rows)
