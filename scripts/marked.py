"""Write the parts of a page that come from rows, each between its two marks, and leave the rest to its authors."""

from collections.abc import Mapping
from pathlib import Path

from optac.errors import InvalidInput


def write_parts(page: Path, parts: Mapping[str, str]) -> Path:
    """Put every part between `<!-- name -->` and `<!-- /name -->`."""
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise InvalidInput(f"{page} has no place for {name}; it goes between {begin} and {end}")
        text = f"{before}{begin}\n\n{part.strip()}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")
    return page
