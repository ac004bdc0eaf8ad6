"""The rows of `optac reproduce misspecified` as arrays: gaps by ζ, episodes by ε, the theorem's constant."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from optac.report.tables import Row

Table = Float[np.ndarray, "point run"]


def of_study(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows of one of the four questions."""
    return [row for row in rows if row["study"] == name]


def by_zeta(rows: Sequence[Row]) -> tuple[list[float], Table, Table]:
    """ζ, and the gaps of mixture and last policy of the seeds that have a run at every ζ."""
    chosen = of_study(rows, "misspecified")
    zetas, gaps = _by_seed(chosen, "zeta", "gap")
    return zetas, gaps, _by_seed(chosen, "zeta", "last_gap")[1]


def by_epsilon(rows: Sequence[Row], which: str) -> tuple[list[float], Table]:
    """ε from large to small, and the episodes of the seeds that have a run at every ε; infinite where censored."""
    epsilons, episodes = _by_seed(of_study(rows, "tied"), "epsilon", which)
    return epsilons[::-1], episodes[::-1]


def _by_seed(rows: Sequence[Row], key: str, name: str) -> tuple[list[float], Table]:
    """The values of a key, and a number of the seeds that have a run at each; None is infinite."""
    runs = {(row[key], row["seed"]): np.inf if row[name] is None else row[name] for row in rows}
    values = sorted({value for value, _ in runs})
    seeds = [seed for seed in sorted({seed for _, seed in runs}) if all((v, seed) in runs for v in values)]
    table = np.array([[runs[value, seed] for seed in seeds] for value in values], dtype=float)
    return values, table.reshape(len(values), len(seeds))


def theorem_constant(rows: Sequence[Row]) -> float:
    """H² d̃^{3/2} |A|, with d̃ of exact coefficients."""
    runs = of_study(rows, "misspecified")
    if not runs:
        return float("nan")
    return float(runs[0]["horizon"] ** 2 * runs[0]["effective_dimension"] ** 1.5 * runs[0]["actions"])
