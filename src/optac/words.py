"""The meaning of words on a command line or in a file: quotes, and values of which nobody says the kind."""

import re
from contextlib import suppress
from typing import Any


def parted(words: str) -> list[str]:
    """The words of a name with its parameters; a value with a space in it stands in quotes, which it keeps."""
    return re.findall(r"""(?:[^\s"']|"[^"]*"|'[^']*'|["'])+""", words) or [""]


def plain(value: Any) -> Any:
    """A value of which nobody says the kind: text becomes true, false, none or a number; else, and in quotes, text."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"(['\"]).*\1", value):
        return value[1:-1]
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return words[value.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


def quoted(text: str) -> str:
    """Text in quotes, single ones where it has a double one in it."""
    return f"'{text}'" if '"' in text else f'"{text}"'
