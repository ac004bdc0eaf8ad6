"""Runs of provable algorithms that differ in their seed alone, as one group."""

from collections.abc import Sequence
from dataclasses import dataclass

from optac.report.recorded_runs import ProvableRun
from optac.report.tables import gathered


@dataclass(frozen=True)
class ProvableGroup:
    """The seeds of one algorithm, with one budget, preset and set of settings, on one problem."""

    problem: str
    label: str
    runs: tuple[ProvableRun, ...]


def group_provable(runs: Sequence[ProvableRun]) -> list[ProvableGroup]:
    """The groups in the order of their first runs, told apart by their labels."""
    found = gathered(runs, lambda run: run.setup)
    firsts = [seeds[0] for seeds in found.values()]
    return [
        ProvableGroup(
            seeds[0].problem, _label(seeds[0], firsts), tuple(sorted(seeds, key=lambda run: run.seed))
        )
        for seeds in found.values()
    ]


def _label(run: ProvableRun, firsts: Sequence[ProvableRun]) -> str:
    """The algorithm, the command where its rivals on the problem were made by another, and what was chosen otherwise.

    A solve and a comparison share few choices, so that only what the same command made is held against each other.
    """
    rivals = [one for one in firsts if (one.problem, one.algorithm) == (run.problem, run.algorithm)]
    kind = run.choices["kind"]
    alike = [one for one in rivals if one.choices["kind"] == kind]
    parts = [kind] if len(alike) < len(rivals) else []
    parts += [
        f"{name}={value}"
        for name, value in run.choices.items()
        if any(one.choices.get(name) != value for one in alike)
    ]
    return " · ".join([run.algorithm, *parts])


def by_problem(groups: Sequence[ProvableGroup]) -> dict[str, list[ProvableGroup]]:
    """Problem → its groups."""
    return gathered(groups, lambda group: group.problem)
