"""The tables of `optac bench`."""

from statistics import median
from typing import Any

from optac.report.terminal import show_table


def show_bench(measured: dict[str, Any]) -> None:
    """What `bench theory` measured."""
    iteration, memory, lock = measured["iteration"], measured["memory"], measured["lock"]
    show_table(
        f"Opt-AC on {iteration['problem']}: what grows with k",
        ["", "early (k = 100)", "later", "ratio"],
        [
            [
                "milliseconds an iteration (k = 5000)",
                f"{1e3 * iteration['seconds_at_100']:.3f}",
                f"{1e3 * iteration['seconds_at_5000']:.3f}",
                f"{iteration['ratio']:.2f}",
            ],
            [
                "kilobytes held, members dropped (K = 1000, 3000)",
                f"{memory['bytes_early'] / 1e3:.0f}",
                f"{memory['bytes_late'] / 1e3:.0f}",
                f"{memory['ratio']:.2f}",
            ],
        ],
    )
    learners = [name for name in ("opt-ac", "rlberry-scool UCBVI") if name in lock]
    rows = []
    for name in learners:
        runs = lock[name]
        episodes, seconds = (median(run[key] for run in runs) for key in ("episodes", "seconds"))
        worst = max(run["gap"] for run in runs)
        rows.append([name, f"{episodes:.0f}", f"{seconds:.3f}", f"{worst:.3f}"])
    print()
    show_table(
        f"{lock['problem']}: until the last policy's gap ≤ {lock['target_gap']}, median of {lock['seeds']} seeds",
        ["", "episodes", "seconds", "largest gap at the end"],
        rows,
    )
    if "seconds_ratio" in lock:
        print(
            f"UCBVI over Opt-AC: {lock['seconds_ratio']:.1f} times the seconds, "
            f"{lock['episodes_ratio']:.1f} times the episodes"
        )
    else:
        print(
            "the peer was left out: give --peer-python an interpreter that has rlberry-scool (`make bench` does)"
        )
