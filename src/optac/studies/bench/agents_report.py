"""The table of `optac bench agents`, on a terminal and in Markdown."""

from statistics import median
from typing import Any

from optac.report.terminal import show_table
from optac.studies.bench.agents import TWO_CORES

NAMES = {
    "sac": "optac SAC",
    "crffsac": "optac cRFFSAC, one feature step an update",
    "crffsac-bonus": "optac cRFFSAC + bonus",
    "sb3": "Stable-Baselines3 SAC",
    "sbx": "SBX SAC",
    "sbx-10": "SBX SAC, ten updates a dispatch",
}
AIMS = {
    "sac over Stable-Baselines3": 1.8,
    "sac over SBX": 1.2,
    "crffsac over sac, of what flops allow": 0.85,
    "crffsac-bonus over crffsac": 0.9,
    TWO_CORES: 1.8,
    "sac over sgemm's limit": 0.7,
}


def show_agents_bench(measured: dict[str, Any]) -> None:
    """What `bench agents` measured."""
    show_table(_title(measured), ["", "steps a second (median, least–most)"], _speeds(measured))
    print()
    show_table("Ratios within a round", ["", "median (least–most)", "aim"], _figures(measured))
    for name in measured["missing"]:
        print(f"{name} was left out: pip install 'optac[bench]' installs it")


def agents_markdown(measured: dict[str, Any]) -> str:
    """The same as Markdown."""
    speeds = ["| contender | steps a second: median (least–most) |", "|---|---:|"]
    speeds += [f"| {name} | {speed} |" for name, speed in _speeds(measured)]
    figures = ["| ratio within a round | median (least–most) | aim |", "|---|---:|---:|"]
    figures += [f"| {name} | {value} | {aim} |" for name, value, aim in _figures(measured)]
    return "\n".join([f"{_title(measured)}.", "", *speeds, "", *figures])


def _title(measured: dict[str, Any]) -> str:
    task = measured["task"]
    return (
        f"{task['environment']}, batch {task['batch_size']}, two hidden layers of {task['width']}, one update a step, "
        f"one core, {measured['rounds']} rounds of {measured['steps']} steps, turn about"
    )


def _speeds(measured: dict[str, Any]) -> list[list[str]]:
    return [
        [NAMES[name], spread([answer["steps"] / answer["seconds"] for answer in answers], digits=1)]
        for name, answers in measured["answers"].items()
    ]


def _figures(measured: dict[str, Any]) -> list[list[str]]:
    return [
        [name, spread(values, digits=2), f"≥ {AIMS[name]}" if name in AIMS else ""]
        for name, values in measured["ratios"].items()
    ]


def spread(values: list[float], digits: int) -> str:
    """Median, least and most."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"
