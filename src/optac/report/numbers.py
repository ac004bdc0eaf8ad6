"""Numbers as people read them: thousands apart, a true minus, as many digits as the spread deserves."""

from math import floor, isfinite, log10

from optac.report.statistics import Interval, Summary

MINUS = "−"


def number(value: float, spread: float | None = None) -> str:
    """Four significant digits, or down to the second digit of the spread where there is one."""
    if not isfinite(value):
        return str(value)
    scale, digits = (spread, 1) if spread else (value, 3)
    places = digits - floor(log10(abs(scale))) if scale else 0
    return f"{value:,.{min(max(places, 0), 6)}f}".replace("-", MINUS)


def fixed(value: float, digits: int) -> str:
    """`−1,234.5`: so many digits, and no zero with a sign."""
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", MINUS)


def mean_std(found: Summary) -> str:
    """`6,152 ± 657`; a single seed has no spread."""
    if found.std is None:
        return number(found.mean)
    return f"{number(found.mean, found.std)} ± {number(found.std, found.std)}"


def ends(low: float, high: float) -> str:
    """`[126, 2,190]`."""
    width = high - low
    return f"[{number(low, width)}, {number(high, width)}]"


def interval(found: Interval) -> str:
    """`5,900 [5,700, 6,100]`."""
    return f"{number(found.estimate, found.high - found.low)} {ends(found.low, found.high)}"


def seeds(count: int) -> str:
    """`1 seed`, `4 seeds`."""
    return "1 seed" if count == 1 else f"{count} seeds"
