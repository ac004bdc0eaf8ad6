"""How far each command walks: how many of optac's modules it calls, and how many it loads.

Loaded: the module is in `sys.modules` when the command has ended. Called: at least one function of it ran, a method,
a lambda or a dataclass's own `__init__` included; the body of a module, of a class or of a generator expression is
no function, nor is the one with which the decorator `dataclass` makes a class's methods while its module loads. Only
the process of the command counts, not the workers it starts. Modules are counted by what they hold: a package's
`__init__` that only says what it is is never called.

    python scripts/walk.py                       this tree
    PYTHONPATH=/elsewhere/src python scripts/walk.py     another checkout, by the same commands
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SWEEP = """\
[sweep]
algorithms = ["opt-ac"]
problems = ["combination-lock horizon=3 actions=2"]
seeds = [0]
iterations = 20
"""
SHORT = "learning_starts=20 batch_size=8 width=8 feature_width=8 eval_every=40 eval_episodes=1 checkpoint_every=40"
COMMANDS = {
    "solve": "solve combination-lock horizon=3 actions=2 --iterations 20 --out solve",
    "train": "train optac/Pendulum-v0 --agent crffsac --steps 80 --out train "
    + " ".join(f"--set {word}" for word in SHORT.split()),
    "sweep": "sweep sweep.toml --jobs 1 --out sweep",
    "report": "report solve train --out report.html",
    "reproduce": "reproduce table2 --minutes 0 --out results",
}
NO_FUNCTIONS = ("<genexpr>", "__create_fn__")
SHARES_CODE = 0x1  # CO_OPTIMIZED: set in functions, not in the bodies of modules and classes


def watch(arguments: list[str]) -> None:
    """Run one command in this process and print, last, what it called and loaded."""
    called: set[str] = set()

    def note(frame, event, _):  # type: ignore[no-untyped-def]
        code = frame.f_code
        if event == "call" and code.co_flags & SHARES_CODE and code.co_name not in NO_FUNCTIONS:
            called.add(frame.f_globals.get("__name__", ""))

    import threading

    threading.setprofile(note)
    sys.setprofile(note)
    from optac.cli import main

    code = main(arguments)
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    ours = sorted(name for name in sys.modules if name.split(".")[0] == "optac")
    print(json.dumps({"code": code, "called": sorted(set(ours) & called), "loaded": ours}))


def walk(name: str, folder: Path) -> dict[str, list[str]]:
    """The modules one command called and loaded, by a process of its own."""
    started = [sys.executable, __file__, "--watch", *COMMANDS[name].split()]
    done = subprocess.run(started, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{COMMANDS[name]} failed:\n{done.stderr}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print a line per command; `--names` lists the modules too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", action="store_true", help="also print the modules' names")
    parser.add_argument(
        "commands", nargs="*", metavar="COMMAND", help=f"which (default: {', '.join(COMMANDS)})"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sweep.toml").write_text(SWEEP, encoding="utf-8")
        for name in arguments.commands or COMMANDS:
            found = walk(name, Path(folder))
            print(f"{name:10} {len(found['called']):4} called {len(found['loaded']):4} loaded", flush=True)
            if arguments.names:
                for module in found["loaded"]:
                    print(f"    {'called' if module in found['called'] else '      '} {module}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watch"]:
        watch(sys.argv[2:])
    else:
        main()
