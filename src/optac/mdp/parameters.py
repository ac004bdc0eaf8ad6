"""Checks of numbers that the families of problems, the models and `solve` share."""

from math import isfinite
from typing import Any

from optac.errors import InvalidInput

LARGEST = 10**12


def require_at_least(least: int | float, **parameters: int | float) -> None:
    """Every parameter is at least `least`, or an error that names the first that is not."""
    for name, value in parameters.items():
        if value != value:
            raise InvalidInput(f"{name}={value} is not a number; {name} must be at least {least}")
        if value < least:
            raise InvalidInput(f"{name}={value} is too small; {name} must be at least {least}")


def whole_number(name: str, value: Any, *, least: int) -> int:
    """The value as an int, or an error that says what is allowed."""
    try:
        number = int(value)
        if isinstance(value, bool | str) or number != value or not least <= number <= LARGEST:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{name}={value} is not valid; {name} must be a whole number, at least {least} and at most 10^12"
        ) from None
    return number


def positive_number(name: str, value: Any, *, below: float | None = None) -> float:
    """The value as a float above 0, finite and below `below` where that is given."""
    try:
        number = float(value)
        if isinstance(value, bool | str) or not (number > 0 and isfinite(number)):
            raise ValueError
        if below is not None and number >= below:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        allowed = "a positive finite number" if below is None else f"a number above 0 and below {below:g}"
        raise InvalidInput(f"{name}={value} is not valid; {name} must be {allowed}") from None
    return number
