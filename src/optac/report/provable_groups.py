"""Runs of provable algorithms that differ in their seed alone, as one group."""

from collections.abc import Sequence
from dataclasses import dataclass

from optac.report.groups import joined_words
from optac.report.recorded_runs import ProvableRun
from optac.report.tables import gathered


@dataclass(frozen=True)
class ProvableGroup:
    """The seeds of one algorithm, with one budget, preset and set of settings, on one problem."""

    problem: str
    name: str
    """the algorithm and its settings: the same on every page"""
    label: str
    """the name, what its sweep varied, and what tells it from a rival of the same name on this page"""
    runs: tuple[ProvableRun, ...]


def group_provable(runs: Sequence[ProvableRun]) -> list[ProvableGroup]:
    """The groups in the order of their first runs, told apart by their labels."""
    found = gathered(runs, lambda run: run.setup)
    firsts = [seeds[0] for seeds in found.values()]
    return [
        ProvableGroup(
            seeds[0].problem,
            _name(seeds[0]),
            _label(seeds, firsts),
            tuple(sorted(seeds, key=lambda run: run.seed)),
        )
        for seeds in found.values()
    ]


BUDGET = ("kind", "iterations", "episodes", "epsilon", "file")
"""Choices that say how long a run was and what was run, not which algorithm it was."""


def _chosen(run: ProvableRun) -> dict[str, str]:
    """What was chosen for it, a preset other than the usual among it."""
    usual = {"preset": "practical"}
    return {
        name: value for name, value in run.choices.items() if name not in BUDGET and usual.get(name) != value
    }


def _name(run: ProvableRun) -> str:
    return joined_words(run.algorithm, _chosen(run))


def _label(seeds: Sequence[ProvableRun], firsts: Sequence[ProvableRun]) -> str:
    """The name, with all that its sweep varied, the command where its rivals on the problem were made by another, and
    what of its budget differs.

    A solve and a comparison share few choices, so that only what the same command made is held against each other.
    """
    run = seeds[0]
    varied = {name: value for one in seeds for name, value in one.varied.items()}
    rivals = [one for one in firsts if (one.problem, _name(one)) == (run.problem, _name(run))]
    kind = run.choices["kind"]
    alike = [one for one in rivals if one.choices["kind"] == kind]
    parts = [kind] if len(alike) < len(rivals) else []
    parts += [
        f"{name}={run.choices[name]}"
        for name in BUDGET
        if name in run.choices and any(one.choices.get(name) != run.choices[name] for one in alike)
    ]
    return " · ".join([joined_words(run.algorithm, {**varied, **_chosen(run)}), *parts])


def by_problem(groups: Sequence[ProvableGroup]) -> dict[str, list[ProvableGroup]]:
    """Problem → its groups."""
    return gathered(groups, lambda group: group.problem)
