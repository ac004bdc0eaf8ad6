"""`optac report`."""

import argparse
from pathlib import Path

from optac.commands.subcommand import add_everywhere, answer, folder, notice
from optac.report.files import write_report
from optac.studies.table2.report import REFERENCE


def configure(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_everywhere(parser, out="the page (default: report.html)", out_name="FILE.html")
    what = "a run, a sweep, a comparison, or a folder of them"
    parser.add_argument("folders", nargs="+", type=folder, metavar="DIR", help=what)
    parser.add_argument("--title", default="Report", metavar="TEXT", help="the page's title")


def run(arguments: argparse.Namespace) -> None:
    """Write the page, with the paper's Table 2 where its tasks were run, and say where it is."""
    page = arguments.out or Path("report.html")
    written = write_report(arguments.folders, page, title=arguments.title, reference=REFERENCE)
    for note in written.notes:
        notice(note)
    files = [str(path) for path in written.files]
    said = {"page": str(written.page), "bytes": written.size, "files": files, "notes": list(written.notes)}
    size = f"{written.size / 1000:,.0f} kB"
    where = f"{size}, opens in any browser; figures, tables and rows in {written.beside}/"
    answer(arguments, said, lambda: print(f"{written.page}  {where}"))
