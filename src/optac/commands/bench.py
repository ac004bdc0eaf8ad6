"""`optac bench`."""

import argparse
import json
from importlib import import_module
from typing import Any

from optac.commands.subcommand import add_everywhere, add_examples, into, is_quiet, print_json
from optac.errors import InvalidInput, require_known
from optac.studies.bench import BENCHES, BY_NAME_ALONE

_RETURNS = ("minutes", "seeds", "tasks", "contenders", "jobs")
"""options that are for the bench `returns` alone"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="where to write (returns: runs/bench by default; the others: nowhere)")
    which = f"which ones (default: all but {', '.join(BY_NAME_ALONE)}): {', '.join(BENCHES)}"
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=which)
    peer = "an interpreter that has theory's peer (see CONTRIBUTING.md); without it the peer is left out"
    parser.add_argument("--peer-python", metavar="PYTHON", help=peer)
    returns = parser.add_argument_group("returns", "Named again, it goes on with what has no row yet.")
    returns.add_argument(
        "--minutes", type=float, metavar="M", help="CPU-minutes of each training (default: 20)"
    )
    returns.add_argument("--seeds", type=int, metavar="N", help="seeds 0 … N − 1 (default: 3)")
    returns.add_argument(
        "--tasks", nargs="+", metavar="ID", help="Gymnasium's ids (default: HalfCheetah-v5 Hopper-v5)"
    )
    returns.add_argument(
        "--contenders",
        nargs="+",
        metavar="NAME",
        help="default: crffsac sac sbx-crossq sbx-sac sb3-sac, as far as they are installed",
    )
    returns.add_argument(
        "--jobs", type=int, metavar="N", help="trainings at a time, each on a core of its own (default: 1)"
    )
    add_examples(
        parser,
        "optac bench agents --out results/bench",
        "optac bench returns --minutes 20 --out results/bench",
    )


def run(arguments: argparse.Namespace) -> None:
    """Measure the benches one after the other."""
    require_known("bench", arguments.benches, BENCHES)
    own = {name: value for name in _RETURNS if (value := getattr(arguments, name)) is not None}
    if own and arguments.benches != ["returns"]:
        options = ", ".join(f"--{name}" for name in own)
        raise InvalidInput(f"{options}: for `optac bench returns` alone; leave out the other benches")
    results: dict[str, Any] = {}
    for name in arguments.benches or [name for name in BENCHES if name not in BY_NAME_ALONE]:
        bench = import_module(f"optac.studies.bench.{name}")
        told = {"out": arguments.out, **own} if name == "returns" else {}
        results[name] = bench.measure(peer_python=arguments.peer_python, quiet=is_quiet(arguments), **told)
        if arguments.out:
            into(arguments.out, f"{name}.json").write_text(json.dumps(results[name], indent=2) + "\n")
        if not arguments.json:
            bench.show(results[name])
    if arguments.json:
        print_json(results if len(results) > 1 else next(iter(results.values())))
