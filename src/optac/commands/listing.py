"""Everything there is by name, each with one line: what `optac list` prints."""

from optac.registry import Entry, entries
from optac.settings import parameters_of


def everything() -> dict[str, dict[str, str]]:
    """Sections of name → one line. Loads neither JAX nor MuJoCo."""
    from optac.environments.registration import TASKS
    from optac.studies.catalogue import EXPERIMENTS, SWEPT

    return {
        "problems": {name: _line(entry) + _defaults(entry) for name, entry in entries("problem").items()},
        "model classes": {name: _line(entry) for name, entry in entries("model class").items()},
        "algorithms": {name: _line(entry) for name, entry in entries("algorithm").items()},
        "agents": {name: _line(entry) for name, entry in entries("agent").items()},
        "environments": {name: task.summary for name, task in TASKS.items()},
        "experiments": {name: experiment.summary for name, experiment in EXPERIMENTS.items()}
        | {name: experiment.summary for name, experiment in SWEPT.items()},
        "benches": {
            "theory": "Opt-AC's cost an iteration and its memory as k grows; seconds to open a lock beside UCBVI",
            "agents": "steps a second of the agents beside Stable-Baselines3 and SBX; the machine's limit; two cores",
            "sweep": "a sweep's throughput with two jobs on two cores over that with one",
        },
    }


def _line(entry: Entry) -> str:
    """What it is, and the package that brings it where that is not ours."""
    return entry.summary if entry.package == "optac" else f"{entry.summary} (from {entry.package})"


def _defaults(entry: Entry) -> str:
    """A family's parameters; another package's is not imported for a list."""
    if entry.package != "optac":
        return ""
    return " [" + " ".join(f"{name}={value}" for name, value in parameters_of(entry.load()).items()) + "]"
