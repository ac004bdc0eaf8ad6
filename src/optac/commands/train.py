"""`optac train`, `optac resume` and `optac eval`."""

import argparse
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, notice, print_json, write_answer
from optac.errors import InvalidInput

DEFAULT_AGENT = "crffsac"


def add_train(commands: Any) -> None:
    """Add `optac train`."""
    parser = add_command(
        commands, "train", "train an agent in an environment", _train, presets="default or paper"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        "  optac train optac/HalfCheetah-v0 --agent crffsac --steps 100000\n"
        "  optac train Pendulum-v1 --agent sac --steps 20000 --set learning_starts=1000 --threads 2\n"
        "  optac train Hopper-v5 --agent crffsac-bonus --steps 200000 --preset paper --seed 3\n"
        "  optac train my_envs:my/Crane-v0 --steps 50000        imports my_envs first, which registers the id\n\n"
    )
    parser.more_help = _listed_settings
    parser.add_argument(
        "environment",
        metavar="ENVIRONMENT",
        help="a Gymnasium id with Box observations and bounded Box actions",
    )
    parser.add_argument(
        "--agent",
        default=DEFAULT_AGENT,
        metavar="AGENT",
        help=f"a name from `optac list`, or package.module (default: {DEFAULT_AGENT})",
    )
    parser.add_argument("--steps", type=int, default=100_000, metavar="N", help="default: 100000")
    parser.add_argument("--seed", type=int, default=0, help="the agent's seed (default: 0)")
    _add_running(parser)


def _listed_settings() -> str:
    from optac.agents.record import record_of

    agent = record_of(DEFAULT_AGENT)
    rows = [row for row in agent.settings.described() if row[0] not in ("preset", *agent.fixed)]
    lines = [f"  {name:22} {text} [{default}]" for name, default, text in rows]
    return "\n".join([f"settings of {agent.name}, as in --set batch_size=256:", *lines])


def add_resume(commands: Any) -> None:
    """Add `optac resume`."""
    parser = add_command(
        commands,
        "resume",
        "go on from the newest sound checkpoint of a run",
        _resume,
        out="a run goes on in its own folder, no other",
    )
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    _add_running(parser)


def add_eval(commands: Any) -> None:
    """Add `optac eval`."""
    parser = add_command(
        commands,
        "eval",
        "play a trained run's policy on fresh seeds",
        _eval,
        out="also write the answer to eval.json there",
    )
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("--episodes", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--seed", type=int, default=0, help="which fresh seeds (default: 0)")


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one run (default: 1)")
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events (an extra)")


def _train(arguments: argparse.Namespace) -> int:
    from optac.agents.record import record_of
    from optac.settings import assignments
    from optac.threads import limit_threads

    settings: dict[str, Any] = assignments(arguments.settings, "setting")
    if arguments.preset:
        settings["preset"] = arguments.preset
    record_of(arguments.agent).choose(settings)
    limit_threads(arguments.threads)
    from optac.runs.training import train

    return _run_training(
        arguments,
        lambda **watching: train(
            arguments.environment,
            arguments.agent,
            steps=arguments.steps,
            seed=arguments.seed,
            settings=settings,
            out=arguments.out,
            **watching,
        ),
    )


def _resume(arguments: argparse.Namespace) -> int:
    from optac.runs.folder import RunFolder
    from optac.runs.kinds import known_kind

    if arguments.out is not None and arguments.out.resolve() != arguments.run_folder.resolve():
        raise InvalidInput(
            f"--out {arguments.out}: a run goes on in its own folder; copy {arguments.run_folder} there and resume that"
        )
    kind = known_kind(RunFolder.open(arguments.run_folder).config, arguments.run_folder)
    return RESUMERS[kind.name](arguments, kind)


def _resume_training(arguments: argparse.Namespace, kind: Any) -> int:
    from optac.threads import limit_threads

    limit_threads(arguments.threads)
    resume = kind.resume()
    return _run_training(
        arguments, lambda **watching: resume(arguments.run_folder, on_notice=notice, **watching)
    )


def _resume_solve(arguments: argparse.Namespace, kind: Any) -> int:
    """A finished solve is left alone; another starts again, for it keeps no checkpoint."""
    result = kind.resume()(arguments.run_folder)
    if arguments.json:
        print_json({**result, "out": str(arguments.run_folder)})
    else:
        print(f"{arguments.run_folder} is finished; see result.json there")
    return 0


RESUMERS = {"solve": _resume_solve, "train": _resume_training}


def _run_training(arguments: argparse.Namespace, run: Any) -> int:
    from optac.commands.train_output import print_evaluation, show_training
    from optac.runs.training import Interrupted

    quiet = arguments.quiet or arguments.json
    try:
        result = run(
            on_row=(lambda row: None) if quiet else print_evaluation,
            show_progress=not quiet,
            tensorboard=arguments.tensorboard,
        )
    except Interrupted as error:
        notice(str(error))
        return error.exit_code
    if arguments.json:
        print_json(result.summary())
    else:
        show_training(result)
    return 0


def _eval(arguments: argparse.Namespace) -> None:
    from optac.threads import limit_threads

    limit_threads(1)
    from optac.commands.train_output import show_training
    from optac.runs.training import evaluate

    result = evaluate(
        arguments.run_folder, episodes=arguments.episodes, seed=arguments.seed, on_notice=notice
    )
    write_answer(arguments.out, "eval.json", result.summary())
    if arguments.json:
        print_json(result.summary())
    else:
        show_training(result)
