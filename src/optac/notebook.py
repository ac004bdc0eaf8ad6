"""What a Jupyter notebook shows: an object's card with a small table and a figure, and a bar while work is done."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optac.figures import Picture

SECONDS_BETWEEN_UPDATES = 0.2


def card(title: str, facts: Mapping[str, str], picture: "Picture | None" = None) -> str:
    """A title, one line a fact, and a figure on white, as HTML that needs nothing else."""
    lines = "".join(
        f'<tr><th style="text-align:left;font-weight:normal">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    frame = "background:white;width:fit-content;max-width:100%;overflow-x:auto"
    drawn = "" if picture is None else f'<div style="{frame}">{picture.svg()}</div>'
    return f"<div><b>{escape(title)}</b><table>{lines}</table>{drawn}</div>"


def is_notebook() -> bool:
    """Whether a Jupyter kernel runs this process: its shell is there and can show HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def bar(description: str, total: int) -> Iterator[Any]:
    """A bar in the notebook's output, renewed in place; called with how far the work has come and a note."""
    from IPython.display import HTML, display

    def html(done: int, note: str) -> Any:
        said = escape(f"{done:,}/{total:,} {note}".rstrip())
        return HTML(f"{escape(description)} <progress value={done} max={total}></progress> {said}")

    shown = display(html(0, ""), display_id=True)
    latest, renewed = (0, ""), 0.0

    def advance(done: int, note: str = "") -> None:
        nonlocal latest, renewed
        latest = (done, note)
        if time.monotonic() - renewed >= SECONDS_BETWEEN_UPDATES:
            renewed = time.monotonic()
            shown.update(html(*latest))

    try:
        yield advance
    finally:
        shown.update(html(*latest))
