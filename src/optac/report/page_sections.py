"""The page's other sections: every result, agents against each other, curves, oracle bills, what made it all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from optac.report.chart import chart
from optac.report.colours import Look
from optac.report.commands_section import Commands
from optac.report.groups import Group, short_name
from optac.report.markup import Markup, element, joined, table
from optac.report.numbers import interval, mean_std, number
from optac.report.panels import Panel, normalised_scores
from optac.report.provable_groups import ProvableGroup, by_problem
from optac.report.recorded_runs import TrainingRun
from optac.report.reference import Reference
from optac.report.statistics import (
    SEEDS_NEEDED,
    difference,
    improvement_interval,
    iqm_interval,
    probability_of_improvement,
)
from optac.report.tables import ORACLES
from optac.runs.json_files import Row

RESULT_COLUMNS = ["environment", "agent", "steps", "seeds", "mean ± std", "last three", "IQM [95 %]"]
BILL_COLUMNS = ["algorithm", "seeds", "episodes", "gap, last policy", "gap, mixture", *ORACLES, "seconds"]
NO_SPREAD = "cannot tell: neither has a spread"
TOO_FEW = f"fewer than {SEEDS_NEEDED} seeds"


def results_section(groups: Sequence[Group], commands: Commands) -> Markup:
    """Every group of seeds with what it came to."""
    lines = []
    for group in groups:
        title = f"{group.label} on {short_name(group.environment)}, {group.steps:,} steps"
        anchor = commands.add(title, [run.command for run in group.runs])
        going = len(group.runs) - len(group.complete)
        *who, complete, mean, recent, iqm = result_cells(group)
        count = f"{complete} (+{going} not complete)" if going else complete
        link = element("a", mean, href=f"#{anchor}", title="the commands that make it")
        each = ", ".join(number(score) for score in group.scores.values()) or "—"
        lines.append([*who, count, link, recent, iqm, each])
    caption = (
        "The last evaluation of every run, over seeds; beside it the mean of each run’s last three. Each mean links to "
        "the commands that make it."
    )
    return table([*RESULT_COLUMNS, "each seed"], lines, caption=caption)


def result_cells(group: Group) -> list[str]:
    """What a group of seeds came to, as the page and its files say it."""
    found, iqm = group.summary, group.iqm
    return [
        short_name(group.environment),
        group.label,
        f"{group.steps:,}",
        str(len(group.complete)),
        mean_std(found) if found else _without_score(group),
        mean_std(group.recent) if group.recent else "—",
        "—" if found is None else interval(iqm) if iqm else TOO_FEW,
    ]


def _without_score(group: Group) -> str:
    """Why no run of a group has a last evaluation."""
    if group.was_stopped:
        return "stopped early"
    return "never evaluated" if group.was_never_evaluated else "on its way"


def agents_section(groups: Sequence[Group]) -> Markup:
    """Each agent against each other where both were run for the same steps."""
    lines = []
    for first, second in combinations([group for group in groups if group.scores], 2):
        if (first.environment, first.steps) != (second.environment, second.steps):
            continue
        a, b = list(second.scores.values()), list(first.scores.values())
        assert first.summary is not None and second.summary is not None
        gap = difference(second.summary, first.summary)
        chance = improvement_interval([a], [b])
        untold = TOO_FEW if min(len(a), len(b)) < SEEDS_NEEDED else NO_SPREAD
        lines.append(
            [
                short_name(first.environment),
                f"{second.label} over {first.label}",
                interval(gap.interval) if gap.interval else number(gap.mean),
                interval(chance) if chance else f"{probability_of_improvement([a], [b]):.2f}",
                gap.verdict if gap.interval else untold,
            ]
        )
    if not lines:
        return Markup("")
    head = [
        "environment",
        "comparison",
        "difference of means [95 %]",
        "P(improvement) [95 %]",
        "the seeds say",
    ]
    caption = (
        "Same code, same steps, same evaluation. P(improvement): how often a run of the first agent beats one of "
        "the second."
    )
    return table(head, lines, caption=caption)


@dataclass(frozen=True)
class Shared:
    """The tasks that agents have in common with enough seeds, and who is not among them and why."""

    groups: dict[str, list[Group]]
    left_out: tuple[str, ...]


def shared_tasks(groups: Sequence[Group], reference: Reference) -> Shared:
    """Agent → its groups on the reference's tasks where every agent has enough seeds for the same steps.

    The agents that the reference names say which tasks those are, or all agents where none is named. Another agent is
    among them if it has enough seeds on all of these tasks, and is said to be left out if it has not. One that has
    enough of them nowhere is no more than begun.
    """
    usable = [g for g in groups if g.environment in reference.scales and g.has_usual_settings]
    agents = sorted({g.agent for g in usable if len(g.scores) >= SEEDS_NEEDED}, key=reference.place)
    named = [agent for agent in agents if agent in reference.names] or agents
    found: dict[str, list[Group]] = {agent: [] for agent in agents}
    tasks = 0
    for task in reference.scales:
        for budget in sorted({group.steps for group in usable if group.environment == task}, reverse=True):
            there = {
                g.agent: g
                for g in usable
                if g.agent in found
                and (g.environment, g.steps) == (task, budget)
                and len(g.scores) >= SEEDS_NEEDED
            }
            if len(there) > 1 and all(agent in there for agent in named):
                tasks += 1
                for agent, group in there.items():
                    found[agent].append(group)
                break
    if not tasks:
        return Shared({}, ())
    left_out = [
        f"{reference.name(agent)} has {SEEDS_NEEDED} complete seeds on {len(there)} of these {tasks}"
        for agent, there in found.items()
        if len(there) < tasks
    ]
    return Shared({agent: there for agent, there in found.items() if len(there) == tasks}, tuple(left_out))


def aggregate_table(shared: Shared, reference: Reference) -> Markup:
    """IQM over the shared tasks on the normalised scale, and the chance of beating the first agent."""
    scores = normalised_scores(shared.groups, reference)
    base = next(iter(scores))
    lines = []
    for agent, tasks in scores.items():
        found = iqm_interval(tasks)
        chance = improvement_interval(tasks, scores[base]) if agent != base else None
        name = reference.name(agent)
        lines.append([name, interval(found) if found else TOO_FEW, interval(chance) if chance else "—"])
    names = ", ".join(short_name(group.environment) for group in shared.groups[base])
    head = ["agent", "IQM of normalised scores [95 %]", f"P(improvement over {reference.name(base)}) [95 %]"]
    caption = f"Over {names}. Normalised: {reference.scale}."
    if shared.left_out:
        caption += f" Left out: {'; '.join(shared.left_out)}."
    return table(head, lines, caption=caption)


def curves_section(panels: Sequence[Panel], first: int, styles: Mapping[str, Look], kind: str) -> Markup:
    """The panels with switches for their lines and, where there are several, for the panels."""
    labels = {series.label: styles[series.name] for panel in panels for series in panel.series}
    lines = [_switch(_sample(look), label, data_series_switch=label) for label, look in labels.items()]
    figures = [
        element(
            "figure",
            element("figcaption", panel.title),
            chart(panel, first + i, styles),
            id=f"f{first + i}",
            data_environment=panel.name,
        )
        for i, panel in enumerate(panels)
    ]
    whole = [_switch(panel.title, data_figure_switch=f"f{first + i}") for i, panel in enumerate(panels)]
    keys = [element("span", _sample(look), label, class_="key") for label, look in labels.items()]
    return joined(
        element("div", element("span", "show"), *lines, class_="switches"),
        element("div", element("span", kind), *whole, class_="switches") if len(panels) > 1 else "",
        element("p", *keys, class_="keys"),
        element("div", *figures, class_="panels"),
    )


def _switch(*shown: str, **what: str) -> Markup:
    return element("button", *shown, type="button", aria_pressed="true", **what)


def _sample(look: Look) -> Markup:
    line = element("line", x1=0, x2=22, y1=4, y2=4, class_="sample")
    return element("svg", line, viewBox="0 0 22 8", class_=look.style, aria_hidden="true")


def bill_section(groups: Sequence[ProvableGroup], commands: Commands) -> Markup:
    """The gaps every algorithm came to and which oracles it paid for, one table per problem, medians over seeds."""
    tables = []
    for problem, there in by_problem(groups).items():
        lines = [_bill_line(group, commands) for group in there]
        tables.append(table(BILL_COLUMNS, lines, caption=f"{problem}: medians over seeds (least–most)"))
    return joined(*tables)


def _bill_line(group: ProvableGroup, commands: Commands) -> list[str]:
    label, *cells = bill_line(group)
    anchor = commands.add(f"{group.label} on {group.problem}", [run.command for run in group.runs])
    return [element("a", label, href=f"#{anchor}", title="the command that makes it"), *cells]


def bill_line(group: ProvableGroup) -> list[str]:
    """What an algorithm came to and paid, as the page and its files say it."""
    runs = group.runs
    gaps = [f"{gap:.3f}" for gap in sorted(run.last_gap for run in runs)]
    spread = f" ({gaps[0]}–{gaps[-1]})" if gaps[0] != gaps[-1] else ""
    return [
        group.label,
        str(len(runs)),
        f"{median(run.episodes for run in runs):,.0f}",
        f"{median(run.last_gap for run in runs):.3f}{spread}",
        f"{median(run.gap for run in runs):.3f}",
        *(f"{median(run.bill[oracle] for run in runs):,.0f}" for oracle in ORACLES),
        f"{median(run.seconds for run in runs):,.1f}",
    ]


def provenance_section(
    groups: Sequence[Group], trials: Mapping[str, Sequence[TrainingRun]], provable: Sequence[ProvableGroup]
) -> Markup:
    """Every run with its seed, state, speed and which set of versions and machine made it."""
    training = [(group.label, run) for group in groups for run in group.runs]
    training += [(name, run) for name, runs in trials.items() for run in runs]
    configs = [run.config for _, run in training]
    sets = version_sets([*configs, *(run.config for group in provable for run in group.runs)])
    letters = {text: letter for letter, text in sets.items()}
    lines = [
        [
            name,
            short_name(run.environment),
            str(run.seed),
            f"{run.steps:,}" if run.is_complete else f"{run.reached:,} of {run.steps:,}",
            run.state,
            f"{median(run.speeds):.0f}" if run.speeds else "—",
            letters[_versions(run.config)],
            str(run.config.get("commit") or run.config.get("versions", {}).get("commit") or "not recorded"),
        ]
        for name, run in training
    ]
    head = ["agent", "environment", "seed", "steps", "state", "steps/s", "made with", "commit"]
    terms = [joined(element("dt", letter), element("dd", text)) for letter, text in sets.items()]
    parts = [element("h3", "Versions and machine"), element("dl", *terms)]
    if lines:
        parts.append(table(head, lines, caption="Every training run on this page."))
    rows = [
        [group.label, group.problem, str(run.seed), letters[_versions(run.config)]]
        for group in provable
        for run in group.runs
    ]
    if rows:
        head = ["algorithm", "problem", "seed", "made with"]
        parts.append(table(head, rows, caption="Every run of a provable algorithm on this page."))
    return joined(*parts)


def version_sets(configs: Iterable[Row]) -> dict[str, str]:
    """A letter for each different set of versions and machine."""
    texts = dict.fromkeys(_versions(config) for config in configs)
    return {chr(ord("A") + i) if i < 26 else f"A{i}": text for i, text in enumerate(texts)}


def _versions(config: Row) -> str:
    said = config.get("versions")
    if not said:
        return "nothing recorded"
    machine = "" if "processor" in said else "; processor not recorded"
    return ", ".join(f"{name} {value}" for name, value in said.items() if name != "commit") + machine
