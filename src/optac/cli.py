"""The command `optac`: every subcommand parses here and works elsewhere.

Exit codes: 0 done, 1 a run failed, 2 bad input, 130 and 143 interrupted by SIGINT and SIGTERM.
"""

import argparse
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from optac import __version__
from optac.errors import InvalidInput, OptacError, Terminated, unknown_name

DESCRIPTION = """\
Learning in low-rank Markov decision processes: provable algorithms with every oracle call billed and the
gap exact, and the deep agents built on the same idea.

start here:
  optac demo                                             the story in a few minutes
  optac solve combination-lock horizon=6 actions=10      Opt-AC opens a lock
  optac list                                             everything there is, a line each
"""


class _Parser(argparse.ArgumentParser):
    """argparse with our one-line errors, the nearest name first where a name is wrong."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"optac: error: {message}", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            kind = action.metavar if isinstance(action.metavar, str) else action.dest
            raise argparse.ArgumentError(None, str(unknown_name(kind.lower(), str(value), action.choices)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # formulas on a terminal that knows only ASCII
    arguments = build_parser().parse_args(argv)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        return int(arguments.run(arguments) or 0)
    except InvalidInput as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 2
    except OptacError as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print("optac: interrupted", file=sys.stderr)
        return 143 if isinstance(stop, Terminated) else 130
    except BrokenPipeError:
        # Whoever reads our output has had enough; nothing may be flushed to it on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError as error:
        print(f"optac: error: out of memory: {error}; make the problem or the run smaller", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"optac: error: {error}", file=sys.stderr)
        return 1


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty name is not a folder")
    return Path(text)


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="optac", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"optac {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _add_demo(commands)
    _add_list(commands)
    _add_solve(commands)
    _add_train(commands)
    _add_resume(commands)
    _add_eval(commands)
    _add_enjoy(commands)
    _add_export(commands)
    _add_compare(commands)
    _add_reproduce(commands)
    _add_bench(commands)
    return parser


def _command(
    commands: Any, name: str, help: str, run: Any, *, settings: bool = False
) -> argparse.ArgumentParser:
    """A subcommand with the options every subcommand has; with `settings` also --preset and --set."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help, description=help[0].upper() + help[1:]
    )
    parser.set_defaults(run=run)
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument("--out", type=_folder, metavar="DIR", help="where to write (default: runs/<id>)")
    everywhere.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    everywhere.add_argument("--quiet", action="store_true", help="no progress")
    if settings:
        everywhere.add_argument(
            "--preset", default=None, metavar="NAME", help="the set of defaults to start from"
        )
        everywhere.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            dest="settings",
            help="a setting by its Python keyword; repeatable",
        )
    return parser


def _notice(text: str) -> None:
    print(f"optac: {text}", file=sys.stderr)


def _print_json(value: Any) -> None:
    print(json.dumps(value, default=lambda item: item.item() if hasattr(item, "item") else str(item)))


# optac list


def _add_list(commands: Any) -> None:
    _command(commands, "list", "everything there is by name, each with one line", _list)


def _list(arguments: argparse.Namespace) -> None:
    from optac.experiments.listing import everything

    sections = everything()
    if arguments.json:
        _print_json(sections)
        return
    for title, entries in sections.items():
        print(title)
        width = max(len(name) for name in entries)
        for name, line in entries.items():
            print(f"  {name.ljust(width)}  {line}")


# optac solve


def _add_solve(commands: Any) -> None:
    parser = _command(commands, "solve", "run an algorithm on a problem", _solve, settings=True)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        "  optac solve combination-lock horizon=6 actions=10 --iterations 300\n"
        "  optac solve random-simplex states=30 rank=3 seed=1 --set model_class=finite --preset theory\n"
        "  optac solve FrozenLake-v1 horizon=20 --episodes 20000\n"
        "  optac solve my-arrays.npz --set rank=4"
    )
    _add_problem(parser)
    parser.add_argument("--algorithm", default="opt-ac", metavar="ALGORITHM", help="default: opt-ac")
    parser.add_argument("--iterations", type=int, metavar="K", help="outer rounds (default: the algorithm's)")
    parser.add_argument("--episodes", type=int, metavar="N", help="play at most so many episodes")
    parser.add_argument("--seed", type=int, default=0, help="the learner's seed (default: 0)")


def _add_problem(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "problem", metavar="PROBLEM", help="a name from `optac list`, an .npz file or a toy-text id"
    )
    parser.add_argument(
        "parameters", nargs="*", metavar="name=value", help="its parameters, among them the instance's seed="
    )


def _solve(arguments: argparse.Namespace) -> None:
    from optac.algorithms.catalogue import load_algorithm
    from optac.algorithms.inputs import rounds_of
    from optac.experiments.solving import SolveConfig, parse_assignments, problem_of, run_solve
    from optac.reports.solving import progress_note, show_result
    from optac.reports.terminal import progress

    config = SolveConfig(
        problem=arguments.problem,
        parameters=parse_assignments(arguments.parameters, "parameter"),
        algorithm=arguments.algorithm,
        iterations=arguments.iterations,
        episodes=arguments.episodes,
        seed=arguments.seed,
        preset=arguments.preset or "practical",
        settings=parse_assignments(arguments.settings, "setting"),
    )
    module = load_algorithm(config.algorithm)
    problem = problem_of(config)
    total = rounds_of(config.iterations, config.episodes, module, config.algorithm, problem.horizon)
    with progress(config.algorithm, total, quiet=arguments.quiet or arguments.json) as advance:
        result, folder = run_solve(
            config,
            problem,
            arguments.out,
            lambda row: advance(row["iteration"], progress_note(row)),
        )
    if arguments.json:
        _print_json({**result.summary(), "out": str(folder.path)})
    else:
        show_result(problem, result, folder.path)


# optac train, resume, eval


def _add_train(commands: Any) -> None:
    parser = _command(commands, "train", "train an agent in an environment", _train, settings=True)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "examples:\n"
        "  optac train optac/HalfCheetah-v0 --agent crffsac --steps 100000\n"
        "  optac train Pendulum-v1 --agent sac --steps 20000 --set learning_starts=1000 --threads 2\n"
        "  optac train Hopper-v5 --agent crffsac-bonus --steps 200000 --preset paper --seed 3"
    )
    parser.add_argument(
        "environment",
        metavar="ENVIRONMENT",
        help="a Gymnasium id with Box observations and bounded Box actions",
    )
    parser.add_argument(
        "--agent", default="crffsac", metavar="AGENT", help="sac, crffsac (default) or crffsac-bonus"
    )
    parser.add_argument("--steps", type=int, default=100_000, metavar="N", help="default: 100000")
    parser.add_argument("--seed", type=int, default=0, help="the agent's seed (default: 0)")
    _add_running(parser)


def _add_resume(commands: Any) -> None:
    parser = _command(commands, "resume", "go on from the newest sound checkpoint of a run", _resume)
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    _add_running(parser)


def _add_eval(commands: Any) -> None:
    parser = _command(commands, "eval", "play a trained run's policy on fresh seeds", _eval)
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("--episodes", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--seed", type=int, default=0, help="which fresh seeds (default: 0)")


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one run (default: 1)")
    parser.add_argument("--tensorboard", action="store_true", help="also write TensorBoard events (an extra)")


def _train(arguments: argparse.Namespace) -> int:
    from optac.agents.catalogue import settings_of
    from optac.agents.threads import limit_threads
    from optac.experiments.solving import parse_assignments

    settings: dict[str, Any] = parse_assignments(arguments.settings, "setting")
    if arguments.preset:
        settings["preset"] = arguments.preset
    settings_of(arguments.agent, settings)
    limit_threads(arguments.threads)
    from optac.experiments.training import train

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
    from optac.experiments.run_folder import RunFolder

    folder = RunFolder.open(arguments.run_folder)
    if folder.config.get("kind") == "solve":
        return _resume_solve(arguments, folder)
    from optac.agents.threads import limit_threads

    limit_threads(arguments.threads)
    from optac.experiments.training import resume

    return _run_training(
        arguments, lambda **watching: resume(arguments.run_folder, on_notice=_notice, **watching)
    )


def _resume_solve(arguments: argparse.Namespace, folder: Any) -> int:
    """A finished solve is left alone; another starts again, for it keeps no checkpoint."""
    from optac.experiments.run_folder import read_json_object
    from optac.experiments.solving import resume_solve

    status = folder.status
    if status is None or status.state != "finished":
        resume_solve(folder)
    if arguments.json:
        _print_json({**read_json_object(folder.path / "result.json"), "out": str(folder.path)})
    else:
        print(f"{folder.path} is finished; see result.json there")
    return 0


def _run_training(arguments: argparse.Namespace, run: Any) -> int:
    from optac.experiments.training import Interrupted
    from optac.reports.training import print_evaluation, show_training

    quiet = arguments.quiet or arguments.json
    try:
        result = run(
            on_row=(lambda row: None) if quiet else print_evaluation,
            show_progress=not quiet,
            tensorboard=arguments.tensorboard,
        )
    except Interrupted as error:
        _notice(str(error))
        return error.exit_code
    if arguments.json:
        _print_json(result.summary())
    else:
        show_training(result)
    return 0


def _eval(arguments: argparse.Namespace) -> None:
    from optac.agents.threads import limit_threads

    limit_threads(1)
    from optac.experiments.training import evaluate
    from optac.reports.training import show_training

    result = evaluate(
        arguments.run_folder, episodes=arguments.episodes, seed=arguments.seed, on_notice=_notice
    )
    if arguments.json:
        _print_json(result.summary())
    else:
        show_training(result)


# optac compare


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        "several algorithms and seeds on one problem, in parallel",
        _compare,
        settings=True,
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "The same command goes on where it stopped.\n\nexamples:\n"
        "  optac compare combination-lock horizon=6 actions=10 --algorithms opt-ac rep-ucb --seeds 5\n"
        "  optac compare my-arrays.npz --set model_class=finite --set rep-ucb.alpha=0.1"
    )
    _add_problem(parser)
    parser.add_argument(
        "--algorithms", nargs="+", metavar="ALGORITHM", help="default: all that accept the problem"
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 0 … N − 1 (default: 5)")
    parser.add_argument(
        "--episodes", type=int, metavar="N", help="budget of a run, and top of a ladder (default: 1000·H)"
    )
    parser.add_argument(
        "--epsilon", type=float, default=0.1, metavar="E", help="the gap to reach (default: 0.1)"
    )
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: the machine's cores)")


def _compare(arguments: argparse.Namespace) -> None:
    from optac.algorithms.catalogue import ALGORITHMS
    from optac.experiments.comparing import CompareConfig, prepared_comparison, run_compare
    from optac.experiments.solving import parse_assignments
    from optac.reports.comparison import show_comparison
    from optac.reports.terminal import progress

    config = CompareConfig(
        problem=arguments.problem,
        parameters=parse_assignments(arguments.parameters, "parameter"),
        algorithms=tuple(arguments.algorithms or ALGORITHMS),
        seeds=arguments.seeds,
        episodes=arguments.episodes,
        epsilon=arguments.epsilon,
        preset=arguments.preset or "practical",
        settings=parse_assignments(arguments.settings, "setting"),
    )
    comparison = prepared_comparison(config, leave_out=arguments.algorithms is None)
    total = len(comparison.algorithms) * config.seeds
    with progress("compare", total, quiet=arguments.quiet or arguments.json) as advance:
        jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
        rows, path = run_compare(comparison, arguments.out, jobs=jobs, progress=advance)
    summary = show_comparison(
        rows,
        path,
        title=repr(comparison.problem)[1:-1],
        epsilon=config.epsilon,
        episodes=comparison.episodes,
        left_out=comparison.left_out,
        quiet=arguments.json,
    )
    if arguments.json:
        _print_json({**summary, "rows": rows, "out": str(path)})


# optac reproduce


def _add_reproduce(commands: Any) -> None:
    parser = _command(commands, "reproduce", "run an experiment of the paper, or go on with it", _reproduce)
    parser.add_argument("experiment", metavar="NAME", help="a name from `optac list`, section experiments")
    parser.add_argument("--jobs", type=int, metavar="J", help="processes (default: the machine's cores)")
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="start nothing after so many minutes; report what is there"
    )


def _reproduce(arguments: argparse.Namespace) -> None:
    from importlib import import_module

    from optac.experiments.reproducing import cells_of, experiment, reproduce
    from optac.reports.terminal import progress

    chosen = experiment(arguments.experiment)
    total = len(cells_of(arguments.experiment))
    jobs = (os.cpu_count() or 1) if arguments.jobs is None else arguments.jobs
    with progress(arguments.experiment, total, quiet=arguments.quiet or arguments.json) as advance:
        done = reproduce(
            arguments.experiment, arguments.out, jobs=jobs, minutes=arguments.minutes, progress=advance
        )
    report = import_module(chosen.report).write_report(done.rows, done.total, done.path)
    if arguments.json:
        summary = {"experiment": arguments.experiment, "rows": len(done.rows), "of": done.total}
        _print_json({**summary, "out": str(done.path), "report": str(report)})
    else:
        print(report.read_text(encoding="utf-8"))
        print(f"written to {done.path}")


# optac demo


def _add_demo(commands: Any) -> None:
    _command(commands, "demo", "Opt-AC opens a lock that random play never opens, beside ε-greedy", _demo)


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
        _print_json({**story.summary(), "figure": str(figure), "out": str(out)})


# optac enjoy


def _add_enjoy(commands: Any) -> None:
    parser = _command(commands, "enjoy", "film an episode of a trained run's policy", _enjoy)
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("--video", type=Path, metavar="FILE.mp4", help="where to (default: DIR/episode.mp4)")
    parser.add_argument("--seed", type=int, default=0, help="the episode's seed (default: 0)")


def _enjoy(arguments: argparse.Namespace) -> None:
    from optac.experiments.deployment import film

    file = arguments.video or arguments.run_folder / "episode.mp4"
    made = film(arguments.run_folder, file, seed=arguments.seed, on_notice=_notice)
    if arguments.json:
        _print_json(made)
    else:
        print(
            f"{made['file']}: {made['steps']} steps, return {made['episode_return']:.1f}, {made['frames']} frames"
        )


# optac export


def _add_export(commands: Any) -> None:
    parser = _command(commands, "export", "a trained run's policy as plain arrays, for numpy alone", _export)
    parser.add_argument("run_folder", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("file", type=Path, metavar="FILE.npz", help="where to")


def _export(arguments: argparse.Namespace) -> None:
    from optac.experiments.deployment import export_policy

    made = export_policy(arguments.run_folder, arguments.file, on_notice=_notice)
    if arguments.json:
        _print_json(made)
    else:
        print(f"{made['policy']}: act with optac.numpy_policy.load({made['policy']!r})(observation)")


# optac bench


def _add_bench(commands: Any) -> None:
    parser = _command(commands, "bench", "measure side by side with what a user would pick instead", _bench)
    parser.add_argument(
        "benches", nargs="*", metavar="BENCH", help=f"which ones (default: all): {', '.join(BENCHES)}"
    )
    parser.add_argument(
        "--peer-python",
        metavar="PYTHON",
        help="an interpreter that has theory's peer (see CONTRIBUTING.md); without it the peer is left out",
    )


def _bench(arguments: argparse.Namespace) -> None:
    for name in arguments.benches:
        if name not in BENCHES:
            raise unknown_name("bench", name, BENCHES)
    results = {}
    for name in arguments.benches or BENCHES:
        measured, show = BENCHES[name](arguments)
        results[name] = measured
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")
        if not arguments.json:
            show(measured)
    if arguments.json:
        _print_json(results if len(results) > 1 else next(iter(results.values())))


def _bench_theory(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    from optac.experiments.bench_theory import bench_theory
    from optac.reports.bench import show_bench

    return bench_theory(arguments.peer_python, quiet=arguments.quiet or arguments.json), show_bench


def _bench_agents(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    from optac.experiments.bench_agents import bench_agents
    from optac.reports.bench_agents import show_agents_bench

    return bench_agents(quiet=arguments.quiet or arguments.json), show_agents_bench


BENCHES = {"theory": _bench_theory, "agents": _bench_agents}
