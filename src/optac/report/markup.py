"""HTML and SVG built from nested elements, every text escaped unless it is markup already.

Names, settings and error messages come from files that anybody may have written.
"""

import re
from html import escape
from typing import Any, Final

_ABSOLUTE: Final = re.compile(r"(?<![\w/:.…~-])(?:/[^\s/'\",;:<>]+){2,}")


def without_folders(text: str, kept: int = 1) -> str:
    """A text whose absolute paths keep their last names alone: a page may be mailed, and tells nobody's folders."""
    return _ABSOLUTE.sub(lambda found: "/".join(["…", *found.group().split("/")[-kept:]]), text)


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


VOID = {"br", "meta", "path", "line", "rect", "circle", "hr"}


def element(tag: str, *children: str, **attributes: Any) -> Markup:
    """`<tag …>children</tag>`; an attribute's `_` is a `-`, a trailing one keeps Python's words free."""
    words = "".join(
        f" {name}" if value is True else f' {name}="{escape(str(value))}"'
        for name, value in ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
        if value is not None and value is not False
    )
    if tag in VOID and not children:
        return Markup(f"<{tag}{words}/>")
    return Markup(f"<{tag}{words}>{joined(*children)}</{tag}>")


def joined(*parts: str) -> Markup:
    """The parts one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))


WORDS: Final = {"agent", "algorithm", "comparison", "environment", "problem", "state", "the seeds say", "why"}
"""Columns of words: they begin at the left and may take several lines, so that the numbers stay in sight."""
_LONG: Final = 40


def table(
    head: list[str], lines: list[list[str]], *, caption: str | None = None, **attributes: Any
) -> Markup:
    """A table that scrolls sideways by itself where the screen is narrow; the first cell of a line names it."""
    styles = [
        None
        if title not in WORDS
        else "words long"
        if any(len(line[place]) > _LONG for line in lines)
        else "words"
        for place, title in enumerate(head)
    ]
    titles = [
        element("th", title, scope="col", class_=style) for title, style in zip(head, styles, strict=True)
    ]
    body = [
        element(
            "tr",
            element("th", line[0], scope="row"),
            *(element("td", cell, class_=style) for cell, style in zip(line[1:], styles[1:], strict=True)),
        )
        for line in lines
    ]
    parts = [] if caption is None else [element("caption", element("span", caption))]
    parts += [element("thead", element("tr", *titles)), element("tbody", *body)]
    whole = element("table", *parts, **attributes)
    return scrolling(whole, caption or head[0])


def scrolling(content: Markup, label: str) -> Markup:
    """Content that scrolls sideways by itself where the screen is narrow."""
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)
