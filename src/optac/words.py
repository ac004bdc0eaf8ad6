"""The meaning of words on a command line or in a file: `name=value`, quotes, values of which nobody says the kind."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from optac.errors import InvalidInput


def assignments(words: Iterable[str], what: str) -> dict[str, str]:
    """`name=value` words as a mapping; `what` names them in errors: parameter, setting."""
    parsed: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InvalidInput(f"{word!r} is not a {what}; write it as name=value")
        if name in parsed:
            raise InvalidInput(f"{name} is given twice: {parsed[name]} and {value}")
        parsed[name] = value
    return parsed


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
