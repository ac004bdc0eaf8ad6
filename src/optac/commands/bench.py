"""`optac bench`."""

import argparse
import json
from importlib import import_module

from optac.commands.subcommand import add_everywhere, into, is_quiet, print_json
from optac.errors import require_known
from optac.studies.bench import BENCHES


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser)
    which = f"which ones (default: all): {', '.join(BENCHES)}"
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=which)
    peer = "an interpreter that has theory's peer (see CONTRIBUTING.md); without it the peer is left out"
    parser.add_argument("--peer-python", metavar="PYTHON", help=peer)


def run(arguments: argparse.Namespace) -> None:
    """Measure the benches one after the other."""
    require_known("bench", arguments.benches, BENCHES)
    results = {}
    for name in arguments.benches or BENCHES:
        bench = import_module(f"optac.studies.bench.{name}")
        results[name] = bench.measure(peer_python=arguments.peer_python, quiet=is_quiet(arguments))
        if arguments.out:
            into(arguments.out, f"{name}.json").write_text(json.dumps(results[name], indent=2) + "\n")
        if not arguments.json:
            bench.show(results[name])
    if arguments.json:
        print_json(results if len(results) > 1 else next(iter(results.values())))
