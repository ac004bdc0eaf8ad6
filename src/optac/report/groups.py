"""Training runs that differ in their seed alone, as one group with its statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from optac.report.recorded_runs import BOOKKEEPING, TrainingRun, finite
from optac.report.reference import UNTOLD, Reference
from optac.report.statistics import Band, Interval, Summary, iqm_interval, learning_curve, summary
from optac.report.tables import gathered
from optac.settings import shown


@dataclass(frozen=True)
class Group:
    """The seeds of one agent, with one set of settings, in one environment, for one number of steps."""

    environment: str
    agent: str
    steps: int
    name: str
    """the agent and the settings that are not its preset's: the same on every page"""
    label: str
    """the name, what its sweep varied, and what tells it from a rival of the same name on this page"""
    runs: tuple[TrainingRun, ...]

    @cached_property
    def complete(self) -> tuple[TrainingRun, ...]:
        """The runs that were evaluated at their last step; the others are still on their way, or were stopped."""
        return tuple(run for run in self.runs if run.is_complete)

    @property
    def was_stopped(self) -> bool:
        """Whether every run of it was finished before its last step."""
        return all(run.was_stopped for run in self.runs)

    @property
    def was_never_evaluated(self) -> bool:
        """Whether every run of it was finished without an evaluation, as `eval_every=0` asks."""
        return all(run.state.startswith("finished") and not run.curve for run in self.runs)

    @cached_property
    def scores(self) -> dict[int, float]:
        """Seed → last evaluation."""
        return {run.seed: run.score for run in self.complete}

    @cached_property
    def summary(self) -> Summary | None:
        """Mean ± std of the last evaluations."""
        return summary(list(self.scores.values())) if self.scores else None

    @cached_property
    def recent(self) -> Summary | None:
        """Mean ± std of the runs' means of their last three evaluations."""
        return summary([run.recent for run in self.complete]) if self.complete else None

    @cached_property
    def iqm(self) -> Interval | None:
        """Their interquartile mean, with an interval."""
        return iqm_interval([list(self.scores.values())])

    @cached_property
    def band(self) -> Band:
        """The learning curve: of the complete runs, or of all while there are none."""
        return learning_curve([run.curve for run in self.complete or self.runs])

    @property
    def warm_up(self) -> int | None:
        """Random steps before the first update."""
        found = finite(self.runs[0].config["settings"].get("learning_starts"))
        return None if found is None else int(found)

    @property
    def has_usual_settings(self) -> bool:
        """Whether it is recorded that no setting was changed from the preset `default`."""
        return self.runs[0].preset == "default" and self.runs[0].changed == {}


def short_name(environment: str) -> str:
    """`HalfCheetah` of `optac/HalfCheetah-v0`; another namespace's or version's id stays as it is."""
    name = environment.removeprefix("optac/")
    return name.removesuffix("-v0") if name != environment else environment


def group_runs(runs: Sequence[TrainingRun], reference: Reference = UNTOLD) -> list[Group]:
    """The groups, agents in the reference's order within each environment, told apart by their labels."""
    ordered = sorted(
        (alike for seeds in gathered(runs, lambda run: run.setup).values() for alike in _alike(seeds)),
        key=lambda seeds: (seeds[0].environment, *reference.place(seeds[0].agent), seeds[0].steps),
    )
    return [
        Group(
            seeds[0].environment,
            seeds[0].agent,
            seeds[0].steps,
            *_name_and_label(seeds, ordered, reference),
            tuple(sorted(seeds, key=lambda run: run.seed)),
        )
        for seeds in ordered
    ]


def _alike(seeds: Sequence[TrainingRun]) -> list[list[TrainingRun]]:
    """Runs that say they changed the same, parted where a preset was another when one of them was made."""
    names = sorted({name for run in seeds for name in _told_apart(run, seeds)})
    return list(
        gathered(seeds, lambda run: tuple(repr(run.learning_settings.get(name)) for name in names)).values()
    )


def _told_apart(run: TrainingRun, others: Sequence[TrainingRun]) -> dict[str, Any]:
    """A run's settings of which another has another value; one that lacks a setting was made before there was one."""
    return {
        name: value
        for name, value in sorted(run.learning_settings.items())
        if any(one.learning_settings.get(name, value) != value for one in others)
    }


def _name_and_label(
    seeds: Sequence[TrainingRun], groups: Sequence[Sequence[TrainingRun]], reference: Reference
) -> tuple[str, str]:
    """The agent with the settings that are not its preset's; and with all that its sweep varied, and the steps where a
    rival has others.

    Where it is not recorded which settings are not the preset's, those that its rivals do not share.
    """
    run = seeds[0]
    rivals = [
        seeds[0] for seeds in groups if (seeds[0].agent, seeds[0].environment) == (run.agent, run.environment)
    ]
    changed = run.changed
    if changed is None:
        changed = {
            name: value
            for name, value in sorted(run.learning_settings.items())
            if any(rival.learning_settings.get(name) != value for rival in rivals)
        }
    else:
        preset = {} if run.preset == "default" else {"preset": run.preset}
        changed = {**preset, **changed, **_told_apart(run, [one for one in rivals if one.setup == run.setup])}
    varied = {name: one.varied[name] for one in seeds for name in one.varied if name not in BOOKKEEPING}
    agent = reference.name(run.agent)
    label = joined_words(agent, {**varied, **changed})
    others = any(rival.steps != run.steps for rival in rivals)
    return joined_words(agent, changed), f"{label} · {run.steps:,} steps" if others else label


def joined_words(name: str, chosen: Mapping[str, Any]) -> str:
    """A name with what was chosen for it: `sac · batch_size=64`."""
    return " · ".join([name, *(f"{key}={shown(value)}" for key, value in chosen.items())])
