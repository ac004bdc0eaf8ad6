"""The meaning of each setting in words, as help and reference show it."""

import ast
import dataclasses
import inspect
import itertools
import textwrap


def meanings(kind: type) -> dict[str, str]:
    """What each field of a dataclass means: as `setting` has it, else the text that stands under it in its file."""
    said: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        try:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        except (OSError, TypeError):  # made without a file
            continue
        for field, text in itertools.pairwise(getattr(node, "body", [])):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                constant = text.value if isinstance(text, ast.Expr) else None
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    said[field.target.id] = constant.value
    return {one.name: one.metadata.get("help", said.get(one.name, "")) for one in dataclasses.fields(kind)}
