"""`optac bench`."""

import argparse
import json
from typing import Any

from optac.commands.subcommand import add_command, into, print_json
from optac.errors import unknown_name


def add_bench(commands: Any) -> None:
    """Add `optac bench`."""
    parser = add_command(
        commands, "bench", "measure side by side with what a user would pick instead", _bench
    )
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
            into(arguments.out, f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")
        if not arguments.json:
            show(measured)
    if arguments.json:
        print_json(results if len(results) > 1 else next(iter(results.values())))


def _bench_theory(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    from optac.studies.bench.theory import bench_theory
    from optac.studies.bench.theory_report import show_bench

    return bench_theory(arguments.peer_python, quiet=arguments.quiet or arguments.json), show_bench


def _bench_agents(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    from optac.studies.bench.agents import bench_agents
    from optac.studies.bench.agents_report import show_agents_bench

    return bench_agents(quiet=arguments.quiet or arguments.json), show_agents_bench


def _bench_sweep(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    from optac.studies.bench.sweep import bench_sweep
    from optac.studies.bench.sweep_report import show_sweep_bench

    return bench_sweep(quiet=arguments.quiet or arguments.json), show_sweep_bench


BENCHES = {"theory": _bench_theory, "agents": _bench_agents, "sweep": _bench_sweep}
