"""The examples of the documentation: every code block of a page, and how the tests run it.

docs/examples.toml says of a page, under its path, what the tests change: `shorter` replaces text (fewer steps),
`not_run` names a word and why a block that has it is not run, `files` the names under which the page's TOML blocks are
saved. The site shows below each block what was changed, or why it is not run.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```\n", re.M | re.S)
COMMAND = re.compile(r"^(?:\$ )?(optac .*?)(?: {2,}.*| # .*)?$", re.M)
RUNS = ("python", "", "console", "toml")


@dataclass(frozen=True)
class Example:
    """A code block: its language, its text as the tests run it, and what they changed or why they do not."""

    language: str
    text: str
    changed: tuple[tuple[str, str], ...]
    not_run: str | None
    end: int

    @property
    def commands(self) -> list[str]:
        """The command lines of optac in it, without their comments."""
        return [] if self.language in ("python", "toml") else COMMAND.findall(self.text)

    @property
    def is_run(self) -> bool:
        """Whether there is anything to run, and it is run."""
        return self.not_run is None and (self.language in ("python", "toml") or bool(self.commands))


def plans() -> dict[str, Any]:
    """What examples.toml says, by page."""
    return tomllib.loads((DOCS / "examples.toml").read_text(encoding="utf-8"))


def examples(text: str, plan: Mapping[str, Any]) -> list[Example]:
    """The code blocks of a page; a key that is none, and a change or a reason that fits no block, is an error."""
    if plan.keys() - {"shorter", "not_run", "files"}:
        raise ValueError(f"examples.toml knows shorter, not_run and files; a page has {', '.join(plan)}")
    found, used = [], set()
    for block in FENCE.finditer(text):
        given = block["text"]
        changed = [(old, new) for old, new in plan.get("shorter", {}).items() if old in given]
        reasons = {word: why for word, why in plan.get("not_run", {}).items() if word in given}
        used |= {old for old, _ in changed} | set(reasons)
        for old, new in changed:
            given = given.replace(old, new)
        reason = next(iter(reasons.values()), None)
        found.append(Example(block["language"], given, tuple(changed), reason, block.end()))
    unused = [word for part in ("shorter", "not_run") for word in plan.get(part, {}) if word not in used]
    if unused:
        raise ValueError(f"examples.toml names what is in no code block of the page: {', '.join(unused)}")
    return found


def marked(text: str, plan: Mapping[str, Any]) -> str:
    """The page with a line below each block that the tests change or do not run."""
    for example in reversed(examples(text, plan)):
        if example.language not in RUNS:
            continue
        said = None
        if example.not_run is not None:
            said = f"Not run by the tests: {example.not_run}."
        elif example.changed:
            pairs = ", ".join(f"`{new.strip()}` for `{old.strip()}`" for old, new in example.changed)
            said = f"Run by the tests with less: {pairs}."
        if said:
            text = f"{text[: example.end]}\n{said}\n{{ .tested }}\n{text[example.end :]}"
    return text


def notebook(text: str) -> dict[str, Any]:
    """A page as a Jupyter notebook: its Python blocks are cells of code, the rest of it text."""
    cells: list[dict[str, Any]] = []
    at = 0
    for block in FENCE.finditer(text):
        if block["language"] == "python":
            cells += [_cell("markdown", text[at : block.start()]), _cell("code", block["text"])]
            at = block.end()
    cells.append(_cell("markdown", text[at:]))
    kept = [cell for cell in cells if "".join(cell["source"]).strip()]
    return {
        "cells": kept,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def _cell(kind: str, text: str) -> dict[str, Any]:
    source = text.strip().splitlines(keepends=True)
    more = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **more}
