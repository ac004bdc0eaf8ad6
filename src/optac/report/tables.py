"""Rows by what they share, medians over seeds, and tables in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, TypeVar

import numpy as np

Row = Mapping[str, Any]
Number = int | float
Item = TypeVar("Item")
ORACLES = ("SL", "PE", "PP", "CP")


def gathered(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    """Items by a key, in the order of first appearance."""
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def grouped(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Rows by the value of a key, or by the values of several, in the order of first appearance."""
    return gathered(rows, lambda row: row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys))


def column(rows: Iterable[Row], key: str) -> list[Any]:
    """One value of every row."""
    return [row[key] for row in rows]


def quartiles(values: Sequence[Number]) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile by order statistics, which infinite (censored) values do not upset."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    return float(low), float(middle), float(high)


def cell(values: Sequence[Number], *, limit: Number | None = None, digits: int | None = None) -> str:
    """`median [lower–upper]`, with how many were censored; a censored quartile is written as more than the limit."""
    low, middle, high = quartiles(values)
    over = ">" if limit is None else f">{limit:,.0f}"

    def spelt(value: Number) -> str:
        if value == inf:
            return over
        return f"{value:.{digits}f}" if digits is not None else f"{value:,.0f}"

    censored = sum(value == inf for value in values)
    note = f" ({len(values) - censored}/{len(values)})" if censored else ""
    if low == high:
        return spelt(middle) + note
    return f"{spelt(middle)} [{spelt(low)}–{spelt(high)}]{note}"


def bill_cells(bills: Sequence[Mapping[str, int]]) -> list[str]:
    """The calls of every oracle over seeds."""
    return [cell(column(bills, oracle)) for oracle in ORACLES]


def markdown_table(columns: Sequence[str], lines: Iterable[Sequence[object]], *, left: int = 1) -> str:
    """The table in Markdown, its first `left` columns to the left; a bar or a tag inside a cell is escaped."""
    ruler = ["---" if i < left else "---:" for i in range(len(columns))]
    escaped = [[_one_cell(str(text)) for text in line] for line in (columns, ruler, *lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped) + "\n"


def _one_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").splitlines())
