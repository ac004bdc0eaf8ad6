"""A report on disk: the page, and in a folder of the same name its figures, tables and rows as files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from re import sub
from textwrap import shorten

from optac.errors import cannot_write
from optac.figures import COLOURS, figure
from optac.report.colours import looks
from optac.report.groups import short_name
from optac.report.latex import latex_tables
from optac.report.page import Report, page, page_path, read_report
from optac.report.page_sections import BILL_COLUMNS, RESULT_COLUMNS, bill_line, result_cells
from optac.report.panels import Panel
from optac.report.provable_groups import by_problem
from optac.report.raw_rows import raw_rows
from optac.report.reference import UNTOLD, Reference
from optac.report.tables import markdown_table
from optac.report.tuning_section import tuning_tables

LONGEST_NAME = 120
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2), (2, 1.5), (8, 2, 2, 2))


@dataclass(frozen=True)
class Written:
    """The page, its size in bytes, and the files beside it."""

    page: Path
    size: int
    files: tuple[Path, ...]
    notes: tuple[str, ...]

    @property
    def beside(self) -> Path:
        """The folder of the files."""
        return self.page.with_suffix("")


def write_report(
    folders: Sequence[Path], out: Path, *, title: str = "Report", reference: Reference = UNTOLD
) -> Written:
    """Read the folders and write FILE.html and FILE/."""
    path = page_path(out)
    report = read_report(folders, title=title, out=out, reference=reference)
    text = page(report)
    beside = path.with_suffix("")
    try:
        beside.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
        files = [*_tables(report, beside), *_figures(report, beside)]
    except OSError as error:
        raise cannot_write(path, error, "file") from error
    return Written(path, len(text.encode()), tuple(files), report.evidence.notes)


def _replace(path: Path, text: str) -> Path:
    """Write a file so that a reader sees the old one or the new one."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)
    return path


def _tables(report: Report, folder: Path) -> list[Path]:
    own = {}
    if report.groups:
        own["results"] = markdown_table(RESULT_COLUMNS, map(result_cells, report.groups))
    if report.provable:
        own["bills"] = "\n".join(
            f"## {problem}\n\n{markdown_table(BILL_COLUMNS, map(bill_line, there))}"
            for problem, there in by_problem(report.provable).items()
        )
    if report.tunings:
        own["trials"] = "\n".join(map(tuning_tables, report.tunings))
    made = {f"{name}.md": text for name, text in own.items()}
    made |= {f"{name}.tex": latex_tables(text) for name, text in own.items()}
    made |= {name: text for section in report.sections for name, text in section.files.items()}
    made |= raw_rows(report.evidence)
    return [_replace(folder / name, text) for name, text in made.items()]


def _figures(report: Report, folder: Path) -> list[Path]:
    panels = [(f"curve-{short_name(panel.name)}", panel) for panel in report.curves]
    panels += [("profile", panel) for panel in report.profile]
    panels += [(f"gap-{panel.name}", panel) for panel in report.gaps]
    panels += [(f"trials-{panel.name}", panel) for panel in report.histories]
    drawn = []
    for name, (_, panel) in zip(file_names([text for text, _ in panels]), panels, strict=True):
        path = panel_figure(panel, folder / f"{name}.png", report.reference)
        drawn += [path, path.with_suffix(".svg")]
    return drawn


def file_names(texts: Sequence[str]) -> list[str]:
    """For each text a name that any file system takes; where two come out alike the later ones are numbered."""
    names: list[str] = []
    for text in texts:
        slug = sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:LONGEST_NAME]
        taken = {name.lower() for name in names}
        numbered = (slug if i == 1 else f"{slug}-{i}" for i in count(1))
        names.append(next(name for name in numbered if name.lower() not in taken))
    return names


def panel_figure(panel: Panel, path: Path, reference: Reference = UNTOLD) -> Path:
    """A panel drawn by matplotlib, in the page's colours."""
    styles = looks((series.name for series in panel.series), reference)
    with figure(path, size=(7, 4.2)) as axes:
        for series in panel.series:
            look, band = styles[series.name], series.band
            colour = COLOURS[look.colour]
            for xs, ys in series.threads.values():
                axes.plot(xs, ys, color=colour, linewidth=0.7, alpha=0.4)
            label = shorten(series.label, 48, placeholder=" …").replace("$", r"\$")
            style = {
                "dashes": DASHES[(look.colour + look.dash) % len(DASHES)],
                "linewidth": 2,
                "markersize": 3,
            }
            marker = "o" if len(band.at) < 8 else None
            axes.plot(band.at, band.estimate, color=colour, label=label, marker=marker, **style)
            if band.low is not None and band.high is not None:
                axes.fill_between(band.at, band.low, band.high, color=colour, alpha=0.16, linewidth=0)
        furthest = axes.get_xlim()[1]
        for at, said in (mark for mark in panel.marks if mark[0] <= furthest):
            axes.axvline(at, color="0.5", linestyle="--", linewidth=1)
            frame = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            axes.annotate(said, (at, 1), (4, -10), fontsize=7, **frame)
        axes.set(xlabel=panel.x_label, ylabel=panel.y_label, title=panel.title.replace("$", r"\$"))
        if panel.log_x:
            axes.set_xscale("log")
        axes.legend()
    return path
