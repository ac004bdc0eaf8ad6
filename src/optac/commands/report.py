"""`optac report`."""

import argparse
from pathlib import Path
from typing import Any

from optac.commands.subcommand import add_command, folder, notice, print_json


def add_report(commands: Any) -> None:
    """Add `optac report`."""
    parser = add_command(
        commands,
        "report",
        "a page about runs, sweeps and comparisons",
        _report,
        out="the page (default: report.html)",
        out_name="FILE.html",
    )
    parser.add_argument(
        "folders",
        nargs="+",
        type=folder,
        metavar="DIR",
        help="a run, a sweep, a comparison, or a folder of them",
    )
    parser.add_argument("--title", default="Report", metavar="TEXT", help="the page's title")


def _report(arguments: argparse.Namespace) -> None:
    from optac.report.files import write_report

    written = write_report(arguments.folders, arguments.out or Path("report.html"), title=arguments.title)
    for note in written.notes:
        notice(note)
    if arguments.json:
        files = [str(path) for path in written.files]
        print_json(
            {"page": str(written.page), "bytes": written.size, "files": files, "notes": list(written.notes)}
        )
    else:
        size = f"{written.size / 1000:,.0f} kB"
        print(f"{written.page}  {size}, opens in any browser; figures, tables and rows in {written.beside}/")
