"""Runs of provable algorithms that differ in their seed alone, as one group."""

from collections.abc import Sequence
from dataclasses import dataclass

from optac.report.recorded_runs import ProvableRun
from optac.report.tables import gathered


@dataclass(frozen=True)
class ProvableGroup:
    """The seeds of one algorithm, with one budget, preset and set of settings, on one problem."""

    problem: str
    name: str
    """the algorithm and its settings: the same on every page"""
    label: str
    """the name, and what tells it from a rival of the same name on this page"""
    runs: tuple[ProvableRun, ...]


def group_provable(runs: Sequence[ProvableRun]) -> list[ProvableGroup]:
    """The groups in the order of their first runs, told apart by their labels."""
    found = gathered(runs, lambda run: run.setup)
    firsts = [seeds[0] for seeds in found.values()]
    return [
        ProvableGroup(
            seeds[0].problem,
            _name(seeds[0]),
            _label(seeds[0], firsts),
            tuple(sorted(seeds, key=lambda run: run.seed)),
        )
        for seeds in found.values()
    ]


BUDGET = ("kind", "iterations", "episodes", "epsilon", "file")
"""Choices that say how long a run was and what was run, not which algorithm it was."""


def _name(run: ProvableRun) -> str:
    """The algorithm with what was chosen for it, a preset other than the usual among it."""
    chosen = {name: value for name, value in run.choices.items() if name not in BUDGET}
    if chosen.get("preset") == "practical":
        del chosen["preset"]
    return " · ".join([run.algorithm, *(f"{name}={value}" for name, value in chosen.items())])


def _label(run: ProvableRun, firsts: Sequence[ProvableRun]) -> str:
    """The name, the command where its rivals on the problem were made by another, and what of its budget differs.

    A solve and a comparison share few choices, so that only what the same command made is held against each other.
    """
    rivals = [one for one in firsts if (one.problem, _name(one)) == (run.problem, _name(run))]
    kind = run.choices["kind"]
    alike = [one for one in rivals if one.choices["kind"] == kind]
    parts = [kind] if len(alike) < len(rivals) else []
    parts += [
        f"{name}={run.choices[name]}"
        for name in BUDGET
        if name in run.choices and any(one.choices.get(name) != run.choices[name] for one in alike)
    ]
    return " · ".join([_name(run), *parts])


def by_problem(groups: Sequence[ProvableGroup]) -> dict[str, list[ProvableGroup]]:
    """Problem → its groups."""
    return gathered(groups, lambda group: group.problem)
