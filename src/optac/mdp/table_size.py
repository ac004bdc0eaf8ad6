"""How large a table over (h, s, a, s') would be: when to keep factors instead, and when to refuse."""

from optac.errors import InvalidInput

LARGE_TABLE = 2**24
"""entries, 128 MB; a kernel of more is kept in its factors"""
LARGEST_TABLE = 2**27
"""entries, one gigabyte; what needs a larger table is refused"""


def is_large(horizon: int, states: int, actions: int) -> bool:
    """A table over (h, s, a, s') would be too large to be made without need."""
    return horizon * states * actions * states > LARGE_TABLE


def check_table(horizon: int, states: int, actions: int) -> None:
    """Refuse a table over (h, s, a, s') that needs more than a gigabyte, before it is made."""
    entries = horizon * states * actions * states
    if entries > LARGEST_TABLE:
        raise InvalidInput(
            f"a table over (h, s, a, s') with H = {horizon}, S = {states}, A = {actions} has {entries:.2g} entries, "
            f"{entries * 8 / 2**30:.3g} GB; use an algorithm and a model class that need none, such as opt-ac or "
            "rep-ucb with model_class=decoder or linear"
        )
