"""The rows of `optac reproduce misspecified` as arrays: gaps by ζ, episodes by ε, the theorem's constant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

Row = dict[str, Any]
Table = Float[np.ndarray, "point run"]


def of_study(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows of one of the four questions."""
    return [row for row in rows if row["study"] == name]


def by_zeta(rows: Sequence[Row]) -> tuple[list[float], Table, Table]:
    """ζ, and the gaps of mixture and last policy of the seeds that have a run at every ζ."""
    runs = {(row["zeta"], row["seed"]): row for row in of_study(rows, "misspecified")}
    zetas, seeds = _complete(runs)
    gaps, last = (
        np.array([[runs[z, s][name] for s in seeds] for z in zetas], dtype=float).reshape(
            len(zetas), len(seeds)
        )
        for name in ("gap", "last_gap")
    )
    return zetas, gaps, last


def by_epsilon(rows: Sequence[Row], which: str) -> tuple[list[float], Table]:
    """ε from large to small, and the episodes of the seeds that have a run at every ε; infinite where censored."""
    runs = {(row["epsilon"], row["seed"]): row[which] for row in of_study(rows, "tied")}
    epsilons, seeds = _complete(runs)
    counts = [[np.inf if runs[e, s] is None else runs[e, s] for s in seeds] for e in epsilons[::-1]]
    return epsilons[::-1], np.array(counts, dtype=float).reshape(len(epsilons), len(seeds))


def theorem_constant(rows: Sequence[Row]) -> float:
    """H² d̃^{3/2} |A|, with d̃ of exact coefficients."""
    runs = of_study(rows, "misspecified")
    if not runs:
        return float("nan")
    run = runs[0]
    return float(run["horizon"] ** 2 * run["effective_dimension"] ** 1.5 * run["actions"])


def _complete(runs: dict[tuple[float, int], Any]) -> tuple[list[float], list[int]]:
    values = sorted({value for value, _ in runs})
    seeds = sorted({seed for _, seed in runs})
    return values, [seed for seed in seeds if all((value, seed) in runs for value in values)]
