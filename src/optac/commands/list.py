"""`optac list`: everything there is by name, each with one line. Loads neither JAX nor MuJoCo."""

import argparse

from optac.commands.subcommand import add_everywhere, answer, write_answer
from optac.environments.registration import SPARSE, TASKS
from optac.registry import Entry, entries
from optac.settings import parameters_of
from optac.studies.bench import BENCHES
from optac.studies.catalogue import studies


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="also write it to list.json there")


def run(arguments: argparse.Namespace) -> None:
    """Print every section, or all as JSON."""
    sections = everything()
    write_answer(arguments.out, "list.json", sections)
    answer(arguments, sections, lambda: _show(sections))


def everything() -> dict[str, dict[str, str]]:
    """Sections of name → one line."""
    return {
        "problems": {name: _line(entry) + _defaults(entry) for name, entry in entries("problem").items()},
        "model classes": {name: _line(entry) for name, entry in entries("model class").items()},
        "algorithms": {name: _line(entry) for name, entry in entries("algorithm").items()},
        "agents": {name: _line(entry) for name, entry in entries("agent").items()},
        "callbacks": {name: _line(entry) for name, entry in entries("callback").items()},
        "environments": {name: task.summary for name, task in (TASKS | SPARSE).items()},
        "studies": {name: study.summary for name, study in studies().items()},
        "benches": dict(BENCHES),
    }


def _line(entry: Entry) -> str:
    """Its summary, and the package that brings it where that is not ours."""
    return entry.summary if entry.package == "optac" else f"{entry.summary} (from {entry.package})"


def _defaults(entry: Entry) -> str:
    """A family's parameters; another package's is not imported for a list."""
    if entry.package != "optac":
        return ""
    return " [" + " ".join(f"{name}={value}" for name, value in parameters_of(entry.load()).items()) + "]"


def _show(sections: dict[str, dict[str, str]]) -> None:
    for title, lines in sections.items():
        print(title)
        width = max(len(name) for name in lines)
        for name, line in lines.items():
            print(f"  {name.ljust(width)}  {line}")
