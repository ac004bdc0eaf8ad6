"""The report as one page that needs no network, and the same figures and tables as files beside it."""

import base64
import gzip
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from string import Template

from optac import __version__
from optac.errors import InvalidInput
from optac.report import page_sections, tuning_section
from optac.report.chart import answers
from optac.report.colours import Look, looks
from optac.report.commands_section import Commands
from optac.report.evidence import Evidence, gather
from optac.report.groups import Group, group_runs
from optac.report.latents import latents_section
from optac.report.markup import Markup, element, joined, without_folders
from optac.report.numbers import seeds
from optac.report.page_sections import Shared, curves_section, shared_tasks, version_sets
from optac.report.panels import Panel, curve_panels, gap_panels, profile_panel
from optac.report.provable_groups import ProvableGroup, group_provable
from optac.report.raw_rows import raw_rows
from optac.report.reading import reading_section
from optac.report.recorded_runs import TrainingRun
from optac.report.reference import UNTOLD, Reference, Section
from optac.report.statistics import SEEDS_NEEDED

LARGEST_PLAIN_CSV = 1_000_000


class PageTemplate(Template):
    """`@@{name}`, since CSS and JavaScript use $ and { themselves."""

    delimiter = "@@"


@dataclass(frozen=True)
class Report:
    """The contents of a page."""

    title: str
    evidence: Evidence
    groups: tuple[Group, ...]
    provable: tuple[ProvableGroup, ...]
    reference: Reference
    sections: tuple[Section, ...]
    shared: Shared
    curves: tuple[Panel, ...]
    profile: tuple[Panel, ...]
    gaps: tuple[Panel, ...]
    tunings: tuple[tuning_section.RecordedTuning, ...]
    trials: Mapping[str, tuple[TrainingRun, ...]]
    """the runs of the searches' trials, which stand in no other section"""
    histories: tuple[Panel, ...]
    made_by: str

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All of them, in the order of the page."""
        return (*self.curves, *self.profile, *self.gaps, *self.histories)


def read_report(
    folders: Sequence[Path], *, title: str = "Report", out: Path, reference: Reference = UNTOLD
) -> Report:
    """Everything in the folders, ready to be shown."""
    evidence = gather(folders)
    notes = list(evidence.notes)
    tunings = tuple(tuning_section.recorded_tunings(folders, notes))
    evidence = replace(evidence, notes=tuple(notes))
    trials = tuning_section.trial_runs(tunings, evidence.training)
    tried = {run.path for runs in trials.values() for run in runs}
    groups = group_runs([run for run in evidence.training if run.path not in tried], reference)
    provable = group_provable(evidence.provable)
    shared = shared_tasks(groups, reference)
    return Report(
        title,
        evidence,
        tuple(groups),
        tuple(provable),
        reference,
        tuple(reference.sections(groups)),
        shared,
        tuple(curve_panels(groups)),
        (profile_panel(shared.groups, reference),) if shared.groups else (),
        tuple(gap_panels(provable)),
        tunings,
        trials,
        tuple(tuning_section.history_panels(tunings)),
        shlex.join(["optac", "report", *map(str, folders), "--out", str(out)]),
    )


def page(report: Report) -> str:
    """The whole page."""
    source = resources.files("optac.report")
    script = (source / "page.js").read_text(encoding="utf-8")
    sections = _sections(report)
    return PageTemplate((source / "page.html").read_text(encoding="utf-8")).substitute(
        title=joined(report.title),
        version=__version__,
        lead=joined(_lead(report)),
        tiles=_tiles(report),
        notes=_notes(report),
        navigation=joined(*(element("li", element("a", key, href=f"#{key}")) for key, _, _ in sections)),
        sections=joined(*(element("section", element("h2", n), body, id=k) for k, n, body in sections)),
        made_by=joined(without_folders(report.made_by)),
        panels=json.dumps([answers(panel) for panel in report.panels], ensure_ascii=False).replace(
            "<", "\\u003c"
        ),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def page_path(given: Path) -> Path:
    """The file to write; anything but an .html is refused before any work is done."""
    if given.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"{given} is no name for a page; give --out a file that ends in .html")
    if given.is_dir():
        raise InvalidInput(f"{given} is a folder; give --out a file that ends in .html")
    return given


def _sections(report: Report) -> list[tuple[str, str, Markup]]:
    commands = Commands()
    shown: list[tuple[str, str, Markup]] = []
    styles: dict[str, Look] = {}
    for panels in ((*report.curves, *report.profile), report.gaps, report.histories):
        # Agents, algorithms and searches never share a figure, so that they need not be told apart by dashes.
        styles |= looks((series.name for panel in panels for series in panel.series), report.reference)
    shown += [(section.key, section.title, section.body(commands)) for section in report.sections]
    if report.curves:
        about = element(
            "p",
            "Thick: the mean over complete seeds, or over all while none is complete, with a band for its 95 % "
            f"bootstrap interval where there are at least {SEEDS_NEEDED} of them; thin: each seed. Left of the dashed "
            "line actions are random and nothing is learnt.",
        )
        figures = curves_section(report.curves, 0, styles, "environments")
        shown.append(("curves", "Learning curves", joined(about, figures)))
    if report.groups:
        shown.append(("results", "Every result", page_sections.results_section(report.groups, commands)))
    if len(report.groups) > 1:
        shown.append(("agents", "Agent against agent", _agents(report, styles)))
    if report.provable:
        about = element(
            "p",
            "The provable half: problems whose truth is known, so that the gap V* − V(policy) is exact, and every "
            "oracle call is counted. SL: supervised learning, the calls inside the others included; PE: policy "
            "evaluation; PP: planning; CP: constrained planning.",
        )
        first = len(report.curves) + len(report.profile)
        figures = curves_section(report.gaps, first, styles, "problems") if report.gaps else Markup("")
        bills = page_sections.bill_section(report.provable, commands)
        shown.append(("oracles", "Oracle bills", joined(about, bills, figures)))
    if report.tunings:
        first = len(report.panels) - len(report.histories)
        tuned = tuning_section.tuning_section(
            report.tunings, report.trials, report.histories, first, styles, commands
        )
        shown.append(("tuning", "Tuning", tuned))
    decoded = [run for run in report.evidence.provable if run.confusion]
    if decoded:
        shown.append(("latents", "Learnt latents beside the true ones", latents_section(decoded)))
    made_by = page_sections.provenance_section(report.groups, report.trials, report.provable)
    words = reading_section(
        trainings=bool(report.groups), solves=bool(report.provable), searches=bool(report.tunings)
    )
    return [
        *shown,
        ("rows", "Raw rows", _downloads(report)),
        ("versions", "What made these numbers", made_by),
        ("commands", "Commands", commands.section()),
        ("reading", "How to read this page", words),
    ]


def _agents(report: Report, styles: Mapping[str, Look]) -> Markup:
    if report.shared.groups:
        profile = curves_section(report.profile, len(report.curves), styles, "figures")
        over_tasks = joined(page_sections.aggregate_table(report.shared, report.reference), profile)
    else:
        over_tasks = element(
            "p",
            "No figure over several tasks yet: it needs at least two agents with "
            f"{SEEDS_NEEDED} complete seeds or more each, for the same steps, on a task with reference scores.",
        )
    return joined(page_sections.agents_section(report.groups), over_tasks)


def _lead(report: Report) -> str:
    parts = []
    if report.groups:
        complete = sum(len(group.complete) for group in report.groups)
        parts.append(
            f"{_count(complete, 'complete training run')} of {sum(len(group.runs) for group in report.groups)}"
        )
    if report.tunings:
        tried = sum(len(tuning.trials) for tuning in report.tunings)
        parts.append(f"{_count(tried, 'trial')} of {_count(len(report.tunings), 'search', 'es')}")
    if report.evidence.provable:
        problems = len({run.problem for run in report.evidence.provable})
        parts.append(
            f"{_count(len(report.evidence.provable), 'run')} of provable algorithms on {_count(problems, 'problem')}"
        )
    few = [g for g in report.groups if g.scores and len(g.scores) < SEEDS_NEEDED]
    said = ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1] + "."
    if few:
        share = f"{len(few)} of {len(report.groups)} groups"
        said += f" Where there are fewer than {SEEDS_NEEDED} seeds ({share}) no interval is given."
    return said


def _tiles(report: Report) -> Markup:
    training, provable = report.evidence.training, report.evidence.provable
    facts = [
        ("training runs", len(training)),
        ("environments", len({run.environment for run in training})),
        ("agents", len({run.agent for run in training})),
        ("environment steps", sum(run.reached for run in training)),
        ("provable runs", len(provable)),
        ("algorithms", len({run.algorithm for run in provable})),
        ("episodes played", sum(run.episodes for run in provable)),
    ]
    there = [(name if value > 1 else name[:-1], f"{value:,}") for name, value in facts if value]
    return joined(*(element("li", element("b", value), name) for name, value in there))


def _notes(report: Report) -> Markup:
    """A list of what was left out, and whether rows of different versions stand side by side."""
    said = list(report.evidence.notes)
    together = [(f"{one.label} on {one.environment}", [r.config for r in one.runs]) for one in report.groups]
    together += [(f"{one.label} on {one.problem}", [r.config for r in one.runs]) for one in report.provable]
    for name, configs in together:
        sets = version_sets(configs)
        if len(sets) > 1:
            said.append(
                f"{name}: its {seeds(len(configs))} were made with {len(sets)} "
                "different sets of versions or machines, listed below; they are counted together"
            )
    if not said:
        return Markup("")
    lines = element("ul", *(element("li", without_folders(text, kept=2)) for text in said))
    return element("div", element("strong", "Please note"), lines, class_="note", role="note")


def _downloads(report: Report) -> Markup:
    links = [_download(name, text) for name, text in raw_rows(report.evidence).items()]
    about = (
        "Every row the runs have written, as they wrote it: what is neither text nor number, such as a bill, stands "
        "in its cell as JSON. The files are inside this page."
    )
    return joined(element("p", about), element("ul", *(element("li", link) for link in links)))


def _download(name: str, text: str) -> Markup:
    """A link that holds the file itself, packed where it is large."""
    data, kind = text.encode(), "text/csv"
    rows = text.count("\n") - 1
    if len(data) > LARGEST_PLAIN_CSV:
        data, kind, name = gzip.compress(data, mtime=0), "application/gzip", f"{name}.gz"
    packed = base64.b64encode(data).decode()
    size = f"{_count(rows, 'row')}, {len(data) / 1000:,.0f} kB"
    return joined(
        element("a", name, href=f"data:{kind};base64,{packed}", download=name),
        element("span", f" ({size})", class_="soft"),
    )


def _count(number: int, thing: str, more: str = "s") -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}{more}"
