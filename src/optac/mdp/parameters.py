"""A check of numbers that the families of problems share."""

from optac.errors import InvalidInput


def require_at_least(least: int | float, **parameters: int | float) -> None:
    """Every parameter is at least `least`, or an error that names the first that is not."""
    for name, value in parameters.items():
        if value != value:
            raise InvalidInput(f"{name}={value} is not a number; {name} must be at least {least}")
        if value < least:
            raise InvalidInput(f"{name}={value} is too small; {name} must be at least {least}")
