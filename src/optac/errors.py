"""The errors that optac raises at its users: one tree, each text saying what was given, what is allowed, what to do."""

import difflib
import signal
from collections.abc import Collection, Iterable
from importlib.util import find_spec

_MOST_NAMES, _NEAREST, _MOST_LETTERS = 40, 10, 200


class OptacError(Exception):
    """Anything optac refuses or could not finish; the command exits with `exit_code`."""

    exit_code = 1


class InvalidInput(OptacError, ValueError):
    """The caller's input is wrong; the message says what is allowed."""

    exit_code = 2


class InvalidProblem(InvalidInput):
    """Arrays that do not describe a low-rank MDP; the message names the first offending (h, s, a)."""


class MissingExtra(InvalidInput, ImportError):
    """Something was asked for that needs packages that are not installed; the message says what to install."""


class RunFailed(OptacError):
    """A run could not go on."""


class Interrupted(RunFailed):
    """A signal ended the run after it had saved; `exit_code` is 128 plus the signal's number."""

    def __init__(self, number: int, command: str) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}; `{command}` continues")
        self.exit_code = 128 + number


class OptacWarning(UserWarning):
    """Something a user should know though the run continues; the command says it in one line on standard error."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which the command treats as it does SIGINT, but for its exit code 143."""


def require_extra(extra: str, who_needs: str, *packages: str) -> None:
    """MissingExtra where one of these packages, which an extra of optac brings, is not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        verb = "are" if len(missing) > 1 else "is"
        raise MissingExtra(
            f"{who_needs} {' and '.join(missing)}, which {verb} not installed; {installing(extra)}"
        )


def installing(extra: str) -> str:
    """The command that adds an extra, however optac itself was installed."""
    return f"pip install 'optac[{extra}]'"


def require_known(kind: str, given: Iterable[str], known: Collection[str]) -> None:
    """`unknown_name` for the first given name that is not known."""
    for name in given:
        if name not in known:
            raise unknown_name(kind, name, known)


def clipped(given: object) -> str:
    """What was given, in so few letters that an error stays one line."""
    try:
        text = str(given)
    except ValueError:  # Python shows no number of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… ({len(text):,} letters)"


def refusal(error: OSError) -> str:
    """What the system refused, in words: the place and why, without a number."""
    place, why = error.filename, error.strerror or str(error)
    if isinstance(error, IsADirectoryError) and place:
        return f"{error.filename2 or place} is a folder, where a file belongs; move it away or name another place"
    return f"{place}: {why}" if place else why


def cannot_write(place: object, error: OSError, what: str = "folder") -> InvalidInput:
    """The error for a place that was named by --out and cannot be written."""
    return InvalidInput(f"cannot write to {place}: {error.strerror or error}; give another {what} with --out")


def unknown_name(kind: str, given: str, known: Iterable[str], meant: str | None = None) -> InvalidInput:
    """The error for a name that is not in a list of names, the nearest known ones first; of a long list only those.

    `meant` is the one that such a name stands for elsewhere. Initials (`lr`) and words of a name (`rate`) are near too.
    """
    names = sorted(known)
    short = [name for name in names if len(given) > 1 and given == "".join(w[0] for w in _words(name))]
    near = difflib.get_close_matches(given, names, n=max(len(names), 1), cutoff=0.5)
    part = [name for name in names if _words(given) and {*_words(given)} <= {*_words(name)}]
    first = [meant] if meant in names else []
    ordered = list(dict.fromkeys([*first, *short, *near, *part, *names]))
    shown = ordered if len(ordered) <= _MOST_NAMES else [*ordered[:_NEAREST], f"… ({len(ordered)} in all)"]
    listing = ", ".join(shown) if shown else "(none)"
    return InvalidInput(f"unknown {kind} {given!r}; known, nearest first: {listing}")


def _words(name: str) -> list[str]:
    return [word for word in name.replace("-", "_").split("_") if word]
