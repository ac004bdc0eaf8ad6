"""The reference pages of the documentation, made of the code: every command, setting, metric and public name."""

import argparse
import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Iterable
from importlib import import_module
from textwrap import fill
from typing import Any

from optac import registry
from optac.algorithms.loop.inputs import COMMON_SETTINGS
from optac.algorithms.loop.run import prepare
from optac.algorithms.protocol import load_algorithm
from optac.cli import COMMANDS, build_parser
from optac.mdp import make_problem
from optac.meanings import meanings
from optac.report.tables import markdown_table
from optac.runs.metrics import SOLVE, TRAINING
from optac.settings import Range, parameters_of, wanted

MODULES = {
    "optac": "The names that `import optac` gives",
    "optac.mdp": "Problems and policies",
    "optac.algorithms": "Solving, and what it returns",
    "optac.studies.compare": "Comparing, and what it returns",
    "optac.numpy_policy": "A trained policy with numpy alone",
    "optac.environments": "The paper's six tasks, and the state of any environment",
    "optac.extend": "What a part of one's own must provide or may use",
    "optac.testing": "The checks of a part of one's own",
    "optac.errors": "What is raised",
    "optac.oracles": "The oracles, each with its bill",
    "optac.models": "What SL fits",
}
"""the public modules, and what each is for"""


def pages() -> dict[str, str]:
    """Each page's path in the documentation, and its text."""
    made = {
        "reference/commands.md": commands_page(),
        "reference/settings.md": settings_page(),
        "reference/metrics.md": metrics_page(),
    }
    return made | {f"reference/api/{name}.md": module_page(name, line) for name, line in MODULES.items()}


def commands_page() -> str:
    """Every command with its options."""
    parts = ["# Commands", "Made from the commands themselves; `optac COMMAND --help` shows the same."]
    for name, parser in command_parsers().items():
        parts += [f"## optac {name}", f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}.", _usage(parser)]
        lines = [
            [_option(action), _text((action.help or "").replace("%%", "%"))]
            for action in parser._actions
            if action.help is not argparse.SUPPRESS
        ]
        parts.append(markdown_table(["option", "meaning"], lines, left=2))
        if parser.epilog:
            parts.append(f"```text\n{parser.epilog.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of every command."""
    (choices,) = [one.choices for one in build_parser()._actions if isinstance(one.choices, dict)]
    return dict(choices)


def settings_page() -> str:
    """Every setting of every algorithm and agent, and every parameter of a problem, with its values by default."""
    from optac.agents.record import record_of

    parts = ["# Settings", SETTINGS_HEAD, "## Common to all algorithms"]
    parts.append(
        markdown_table(["setting", "meaning"], [[f"`{n}`", t] for n, t in COMMON_SETTINGS.items()], left=2)
    )
    lock = make_problem("combination-lock")
    for name in registry.ours("algorithm"):
        part = load_algorithm(name)
        presets = {
            one: dataclasses.asdict(prepare(lock, name, iterations=100, preset=one).settings)
            for one in part.PRESETS
        }
        parts += [f"## {name}", _settings_table(part.Settings, presets)]
    for name in registry.ours("agent"):
        record = record_of(name)
        presets = {one: dataclasses.asdict(record.choose({"preset": one})) for one in record.settings.PRESETS}
        parts += [f"## {name}", _settings_table(record.settings, presets, without=("preset", *record.fixed))]
    parts.append("## Parameters of problems")
    for name, entry in registry.ours("problem").items():
        usual = ", ".join(f"{key}={value}" for key, value in parameters_of(entry.load()).items())
        parts.append(f"**{name}**: {entry.summary} `{usual}`")
    return "\n\n".join(parts) + "\n"


SETTINGS_HEAD = """\
Made from the code. A setting is a Python keyword, `--set NAME=VALUE` on the command line and a key under `[settings]`
in a sweep file. The values of an algorithm's presets depend on the problem; shown are those for the default
`combination-lock` and 100 iterations."""


AT_LEAST_0 = Range(least=0)


def _settings_table(kind: type, presets: dict[str, dict[str, Any]], *, without: Iterable[str] = ()) -> str:
    kinds, texts = typing.get_type_hints(kind), meanings(kind)
    lines = [
        [
            f"`{field.name}`",
            texts[field.name],
            wanted(kinds[field.name], field.metadata.get("range", AT_LEAST_0)),
            *(_value(values[field.name]) for values in presets.values()),
        ]
        for field in dataclasses.fields(kind)
        if field.name not in without
    ]
    return markdown_table(["setting", "meaning", "allowed", *presets], lines, left=3)


def _value(value: Any) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else str(value).lower()
        if value in (True, False)
        else str(value)
    )


def metrics_page() -> str:
    """Every key of a training's rows and of a solve's."""
    tables = [
        markdown_table(["key", "meaning"], [[f"`{key}`", text] for key, text in metrics.items()], left=2)
        for metrics in (TRAINING, SOLVE)
    ]
    return (
        "# Metrics\n\nThe keys of a row of metrics.jsonl. What a clock said stands under `time/`.\n\n"
        f"## Trainings\n\n{tables[0]}\n## Solves\n\nAlso the keys of `result.history`. An algorithm has some of the "
        f"lower ones.\n\n{tables[1]}"
    )


def public_names(module: str) -> list[str]:
    """What a module offers: its `__all__`, else what it defines without an underscore."""
    loaded = import_module(module)
    names = getattr(loaded, "__all__", None)
    if names is None:
        own = (inspect.getmodule(value) is loaded for value in vars(loaded).values())
        names = [
            name for (name, _), mine in zip(vars(loaded).items(), own, strict=True) if mine and name[0] != "_"
        ]
    return [name for name in names if not name.startswith("__")]


def module_page(module: str, line: str) -> str:
    """A module's public names, each with its signature, its text and its methods."""
    loaded = import_module(module)
    parts = [f"# {module}", f"{line}."]
    for name in sorted(public_names(module), key=str.lower):
        parts.append(_entry(f"{module}.{name}", getattr(loaded, name)))
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any) -> str:
    """One name: a class with its methods, a function, a module or a value."""
    head = f"## `{name}` {{ #{name} }}"
    if inspect.ismodule(value):
        return f"{head}\n\n{_text(inspect.getdoc(value) or '')}"
    if isinstance(value, tuple) and all(map(callable, value)):
        return "\n\n".join([head, *(f"- **`{one.__name__}`** {_text(_doc(one))}" for one in value)])
    if not callable(value):
        shown = repr(value) if len(repr(value)) < 200 else f"a {type(value).__name__}"
        return f"{head}\n\n`{shown}`"
    parts = [head, _signature(name.rpartition(".")[2], value), _text(_doc(value))]
    if inspect.isclass(value):
        parts.append(_text(inspect.cleandoc(getattr(vars(value).get("__init__"), "__doc__", None) or "")))
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for member, found in sorted(_members(value).items()):
            text = _text(_doc(found))
            shown = member if isinstance(found, property) else _inline(member, found)
            parts.append(f"- **`{shown}`** {' '.join(text.split())}")
    return "\n\n".join(part for part in parts if part)


def _members(kind: type) -> dict[str, Any]:
    """The public methods and properties that have a text, those that a base of ours has included."""
    found = {}
    for base in reversed([one for one in kind.__mro__ if one.__module__.startswith("optac")]):
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            plain = (
                property(getattr(value, "func", None)) if type(value).__name__ == "cached_property" else plain
            )
            is_ours = not inspect.isclass(plain) and (callable(plain) or isinstance(plain, property))
            if not name.startswith("_") and is_ours and _doc(plain):
                found[name] = plain
    return found


def _doc(value: Any) -> str:
    """The text, but for those that dataclasses and tuples are given unasked."""
    text = inspect.getdoc(value.fget if isinstance(value, property) else value) or ""
    if inspect.isclass(value) and not value.__dict__.get("__doc__"):
        return ""
    return "" if re.match(r"^\w+\(.*\)$", text) or text.startswith("Alias for field") else text


def _signature(name: str, value: Any) -> str:
    """On several lines where it is long: a code block does not break its own."""
    lines = fill(
        _inline(name, value), 88, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return f"```python\n{lines}\n```"


def _inline(name: str, value: Callable[..., Any]) -> str:
    """`name(arguments)` without annotations, which would fill the line."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return name
    plain = [
        one.replace(annotation=inspect.Parameter.empty, default=_named(one.default))
        for one in parameters
        if one.name not in ("self", "cls")
    ]
    return f"{name}{inspect.Signature(plain)}"


class _Name(str):
    """A text that is its own repr."""

    __repr__ = str.__str__


def _named(default: Any) -> Any:
    """A default as a signature shows it: a function by its name, not by where it lies in memory."""
    if not inspect.isfunction(default):
        return default
    return _Name("…" if default.__name__ == "<lambda>" else default.__name__)


def _usage(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_usage().removeprefix('usage: ').strip()}\n```"


def _option(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    value = action.metavar if action.option_strings and action.nargs != 0 else None
    return f"`{names} {value}`" if isinstance(value, str) else f"`{names}`"


SETTING = re.compile(r"^ *(\w+)( \[[^\]]*\]: )", re.MULTILINE)
"""A line of a docstring that lists settings: its name, its default, what it is."""


def _text(text: str) -> str:
    """A text for Markdown: what stands in angle brackets is no tag, and listed settings are a list."""
    return SETTING.sub(r"- `\1`\2", text.replace("<", "&lt;"))
