"""The tables and the figure of the study of Opt-AC, from its rows alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from optac.figures import COLOURS, figure
from optac.report.statistics import SEEDS_NEEDED, log_slope, mean_interval
from optac.report.tables import Row, column, grouped, markdown_table
from optac.studies.study import drawn

FIRST_FITTED_FRACTION = 0.1


def sections(rows: Sequence[Row], path: Path) -> list[str]:
    """Three tables, and gap-against-k.png/.svg."""
    solved = [row for row in rows if row["study"] == "solved"]
    return [
        "## Solved\n",
        solved_table(rows),
        "## The mixture's gap against K\n",
        slope_table(rows),
        "## The certificate\n",
        certificate_table(rows),
        *drawn(mixture_figure, solved, path / "gap-against-k.png", "gap against K"),
    ]


def solved_table(rows: Sequence[Row]) -> str:
    """Episodes until the last policy's gap is at most the target and stays there, over the seeds."""
    lines = []
    for (problem, algorithm), runs in _groups(rows, "solved").items():
        solved = sorted(run["solved_for_good"] for run in runs if run["solved_for_good"] is not None)
        episodes = f"{median(solved):,.0f} ({solved[0]:,}–{solved[-1]:,})" if solved else "—"
        hits = [run["first_solved"] for run in runs if run["first_solved"] is not None]
        first = f"{median(hits):,.0f}" if hits else "—"
        counts = [f"{len(solved)} of {len(runs)}", episodes, first, f"{runs[0]['episodes']:,}"]
        gaps = [f"{max(column(runs, 'target_gap')):.3g}", f"{max(column(runs, 'last_gap')):.2g}"]
        lines.append([problem, algorithm, *counts, *gaps])
    columns = ["problem", "algorithm", "solved for good", "episodes, median (least–most)", "first hit"]
    columns += ["budget", "target gap"]
    return markdown_table([*columns, "last gap, worst"], lines, left=2)


def slope_table(rows: Sequence[Row]) -> str:
    """The log-log slope of the mixture's gap in K from a tenth of K on, with its 95 % bootstrap interval over seeds."""
    lines = []
    for problem, runs in opt_ac_runs(rows).items():
        slopes = [_slope(run["curve"]) for run in runs]
        found = mean_interval(slopes)
        ends = f"[{found.low:.2f}, {found.high:.2f}]" if found else f"fewer than {SEEDS_NEEDED} seeds"
        last = f"{runs[0]['curve']['iteration'][-1]:,}"
        lines.append([problem, len(slopes), last, f"{np.mean(slopes):.2f}", ends])
    return markdown_table(["problem", "seeds", "K", "slope", "95 % interval"], lines)


def certificate_table(rows: Sequence[Row]) -> str:
    """How often the certificate spoke, how often it held when it did, and how loose it was; medians over seeds."""
    lines = []
    for (problem, preset), runs in _groups(rows, "certificate").items():
        spoke = [run for run in runs if run["certificate"] is not None]
        held = sum(run["certificate"] >= run["gap"] for run in spoke)
        bound = f"{median(column(spoke, 'certificate')):.3f}" if spoke else "—"
        ratio = f"{median(run['certificate'] / run['gap'] for run in spoke):.2f}" if spoke else "—"
        counts = [f"{runs[0]['episodes']:,}", len(runs), len(spoke), f"{held} of {len(spoke)}"]
        gap = f"{median(column(runs, 'gap')):.3f}"
        lines.append([preset, f"{problem}, one instance per seed", *counts, bound, gap, ratio])
    columns = ["preset", "problem", "episodes", "seeds", "spoke", "held", "certificate", "gap"]
    return markdown_table([*columns, "certificate/gap"], lines, left=2)


def mixture_figure(rows: Sequence[Row], path: Path) -> None:
    """The mixture's gap against K, both axes logarithmic, one line per seed, beside the theorem's K^−½."""
    with figure(path, size=(8, 5)) as axes:
        for (problem, runs), colour in zip(opt_ac_runs(rows).items(), COLOURS, strict=False):
            for i, run in enumerate(runs):
                k, gap = np.array(run["curve"]["iteration"]), np.array(run["curve"]["gap"])
                label = None if i else problem
                axes.loglog(k, gap / run["uniform_gap"], color=colour, alpha=0.5, label=label)
        guide = np.array([10.0, 5000.0])
        axes.loglog(guide, 3 * guide**-0.5, color="0.3", linestyle="--", label="K^−½, the theorem's rate")
        axes.set(xlabel="iterations K", ylabel="gap of the mixture / gap of uniform play", ylim=(1e-3, 2))
        axes.set_title("Opt-AC, practical preset: one line per seed")
        axes.legend(fontsize=7, loc="lower left")


def _groups(rows: Sequence[Row], study: str) -> dict[Any, list[Row]]:
    """A study's rows by problem, and by what ran on it: the algorithm, or the certificate's preset and settings."""
    named = []
    for row in rows:
        certificate = study == "certificate"
        drawn = {"seed"} if certificate else set()
        words = {name: value for name, value in row["parameters"].items() if name not in drawn}
        changed = f" ({_words(row['settings'])})" if row["settings"] else ""
        what = row["preset"] + changed if certificate else row["algorithm"]
        named.append({**row, "problem": f"{row['problem']} {_words(words)}".strip(), "what": what})
    return grouped([row for row in named if row["study"] == study], "problem", "what")


def opt_ac_runs(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Problem → Opt-AC's runs on it."""
    found = _groups(rows, "solved")
    return {problem: runs for (problem, what), runs in found.items() if what == "opt-ac"}


def _words(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def _slope(curve: Mapping[str, Sequence[int | float]]) -> float:
    k, gap = np.array(curve["iteration"]), np.array(curve["gap"])
    fitted = (k >= FIRST_FITTED_FRACTION * k[-1]) & (gap > 0)
    return float(log_slope(k[fitted], gap[fitted]))
