"""The table at the end of `optac solve`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optac.report.terminal import show_table

if TYPE_CHECKING:
    from optac.algorithms import Result
    from optac.mdp import Problem


def show_result(problem: "Problem", result: "Result", folder: Path) -> None:
    """What was learnt, what it cost, with which constants, where it lies."""
    rows = [
        ["optimal value V*", f"{result.optimal_value:.4f}"],
        ["uniform play", f"{problem.uniform_value:.4f}"],
        ["mixture: value, gap", f"{result.value:.4f}, {result.gap:.4f}"],
        ["last policy: value, gap", f"{result.last_value:.4f}, {result.last_gap:.4f}"],
        ["certificate (a bound on the gap without the truth)", _or_dash(result.certificate)],
        ["episodes, iterations", f"{result.episodes}, {result.iterations}"],
        ["bill", bill_line(result.bill.asdict())],
        ["seconds", f"{result.seconds:.2f}"],
    ]
    for search, rounds in result.capped.items():
        rows.append([f"{search}: ended by its cap, not done", f"in {rounds} of {result.iterations} rounds"])
    show_table(f"{result.algorithm} on {problem!r}, seed {result.seed}", ["", ""], rows)
    print(
        "constants: "
        + ", ".join(f"{name}={_short(value)}" for name, value in asdict(result.settings).items())
    )
    print(f"written to {folder}")


def progress_note(row: Mapping[str, Any]) -> str:
    """What to say beside the bar; a reward-free algorithm has no gap before its end."""
    if row["gap"] is None:
        return f"exploring, {row['episodes']} episodes"
    return f"gap {row['gap']:.3f}, last {row['last_gap']:.3f}"


def bill_line(bill: dict[str, Any]) -> str:
    """SL 2000, PE 1000, PP 0, CP 0."""
    return ", ".join(f"{name} {bill[name]}" for name in ("SL", "PE", "PP", "CP"))


def _or_dash(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
