"""What the reports of all experiments share: a Markdown file that says what is missing, and slopes with intervals."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

RESAMPLES = 2000


def report_file(
    path: Path, title: str, sections: Sequence[str], *, done: int, total: int, command: str
) -> Path:
    """report.md: the title, what is missing with the command that fills it, the sections."""
    state = f"All {total} runs are in."
    if done < total:
        state = (
            f"**{done} of {total} runs are in; the rest is missing.** `{command}` goes on where it stopped."
        )
    head = (
        f"# {title}\n\n{state} Written by `{command}`; rows, each with the commit that made it, in `metrics.jsonl`, "
        "versions in `config.json`.\n"
    )
    report = path / "report.md"
    report.write_text("\n".join([head, *sections]), encoding="utf-8")
    return report


def log_slope(x: Sequence[float | int], y: Sequence[float | int]) -> float:
    """The least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def slope_interval(
    x: Sequence[float | int], runs: Float[np.ndarray, "point run"]
) -> tuple[float, float, float] | None:
    """The log-log slope of the medians over runs, with a 95 % bootstrap interval over the runs of each point.

    Censored runs are infinite; where a median is, or is not above 0, there is no slope: None. Resamples without one
    are left out.
    """
    medians = np.quantile(runs, 0.5, axis=1, method="inverted_cdf")
    if not _has_logarithm(medians) or len(medians) < 2:
        return None
    rng = np.random.default_rng(0)
    slopes = []
    for _ in range(RESAMPLES):
        drawn = np.take_along_axis(runs, rng.integers(runs.shape[1], size=runs.shape), axis=1)
        resampled = np.quantile(drawn, 0.5, axis=1, method="inverted_cdf")
        if _has_logarithm(resampled):
            slopes.append(log_slope(x, list(resampled)))
    low, high = np.quantile(slopes, [0.025, 0.975])
    return log_slope(x, list(medians)), float(low), float(high)


def _has_logarithm(values: Float[np.ndarray, " point"]) -> bool:
    return bool((np.isfinite(values) & (values > 0)).all())


def slope_text(slope: tuple[float, float, float] | None) -> str:
    """`1.20 [1.05, 1.37]`, a dash where there is none."""
    return "— (censored)" if slope is None else f"{slope[0]:.2f} [{slope[1]:.2f}, {slope[2]:.2f}]"
