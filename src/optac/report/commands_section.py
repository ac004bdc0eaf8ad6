"""The page's list of commands: whatever a cell shows can be made again by one of them."""

from collections.abc import Sequence

from optac.report.markup import Markup, element, without_folders


class Commands:
    """Titles with their commands, each under an anchor of its own."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, tuple[str, ...]], str] = {}

    def add(self, title: str, lines: Sequence[str]) -> str:
        """The anchor of these commands."""
        key = title, tuple(map(without_folders, lines))
        return self._entries.setdefault(key, f"c{len(self._entries) + 1}")

    def section(self) -> Markup:
        """All of them, each with a button that copies it."""
        shown = []
        for (title, lines), anchor in self._entries.items():
            commands = map(_line, dict.fromkeys(lines))
            shown.append(element("li", element("strong", title), *commands, id=anchor, tabindex="-1"))
        return element("ol", *shown, class_="commands")


def _line(command: str) -> Markup:
    button = element("button", "copy", type="button", class_="copy")
    # An option is not broken after its hyphens; what is copied is the text.
    words = [
        element("span", word, class_="option") if word.startswith("-") else word
        for word in command.split(" ")
    ]
    spaced = [part for word in words for part in (" ", word)][1:]
    return element("div", element("code", *spaced), button, class_="line-of-code")
