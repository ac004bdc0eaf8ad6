"""What the documentation site adds to the pages in docs/: the reference, the linked files of this repository, marks.

A link that leaves docs/ (to a table under results/, say) works on a forge. For the site the file it names is taken in
under `repository/`, with what it links to in turn, and the link follows it there. A link to nothing stops the build.
"""

import json
import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts import page_examples, reference  # noqa: E402

LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?(?=\))")
OUTSIDE = re.compile(r"^(\w+:|/)")


class UnderscoresAreLetters(Extension):
    """Emphasis is written with stars alone: an underscore of a formula, as in ‖φ_h‖_Λ, stays what it is."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Markdown's own name)
        md.delimiters.remove("_")


def on_config(config: Any) -> Any:
    """Read pages with our extension too."""
    config.markdown_extensions.append(UnderscoresAreLetters())
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the reference, the notebooks of the tutorials, and the repository's files that pages link to."""
    made = dict(reference.pages())
    for file in list(files):
        if file.src_uri.startswith("tutorials/") and file.src_uri.endswith(".md"):
            made[file.src_uri.replace(".md", ".ipynb")] = json.dumps(
                page_examples.notebook(file.content_string)
            )
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    waiting = [
        ROOT / "docs" / file.src_uri for file in files if file.src_uri.endswith(".md") and file.abs_src_path
    ]
    waiting += [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md")]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if not path.is_relative_to(ROOT / "docs"):
            added = File.generated(config, uri_of(path), abs_src_path=str(path))
            added.inclusion = InclusionLevel.NOT_IN_NAV  # it may be, but need not
            files.append(added)
        if path.suffix == ".md":
            waiting += targets(path)
    return files


def targets(page: Path) -> list[Path]:
    """The files of this repository that a page links to."""
    found = []
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        if not OUTSIDE.match(link["path"]):
            target = Path(os.path.normpath(page.parent / link["path"]))
            if not target.is_file() and target.suffix != ".ipynb":
                raise PluginError(f"{page} links to {link['path']}, which is no file")
            found += [target] if target.is_file() else []
    return found


def uri_of(path: Path) -> str:
    """Where a file of the repository is on the site."""
    if path.is_relative_to(ROOT / "docs"):
        return path.relative_to(ROOT / "docs").as_posix()
    return f"repository/{path.relative_to(ROOT).as_posix()}"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links follow their files, and say below the code what the tests do with it."""
    uri = page.file.src_uri
    if uri.startswith("reference/"):
        return markdown
    here = ROOT / uri.removeprefix("repository/") if uri.startswith("repository/") else ROOT / "docs" / uri
    markdown = page_examples.marked(markdown, page_examples.plans().get(uri, {}))

    def moved(link: "re.Match[str]") -> str:
        if OUTSIDE.match(link["path"]):
            return link[0]
        target = uri_of(Path(os.path.normpath(here.parent / link["path"])))
        return posixpath.relpath(target, posixpath.dirname(uri) or ".") + (link["anchor"] or "")

    if uri.startswith("tutorials/"):
        name = posixpath.basename(uri).replace(".md", ".ipynb")
        markdown += f"\n[This page as a Jupyter notebook]({name})\n"
    return LINK.sub(moved, markdown)
