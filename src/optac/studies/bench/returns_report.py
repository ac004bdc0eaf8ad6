"""What the rows of `optac bench returns` say: a table for each task, and the return against CPU time as a figure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from optac.figures import COLOURS, figure
from optac.report.numbers import fixed
from optac.report.statistics import SEEDS_NEEDED
from optac.report.tables import Number, Row, grouped
from optac.studies.bench.returns import CONTENDERS, on_one_processor

COLUMNS: Final = ("", "seeds", "return", "steps", "steps per CPU-second", "peak memory, MB")
_COLOURS: Final = dict(zip(CONTENDERS, COLOURS, strict=False))


def summary(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, list[Number]]]]:
    """Of each task and each contender there, in the order of CONTENDERS: what its seeds came to at the end."""
    tasks = grouped(sorted(comparable(rows), key=lambda row: int(row["seed"])), "task")
    return {task: _of_contenders(of_common_seeds(found)) for task, found in tasks.items()}


def comparable(rows: Sequence[Row]) -> list[Row]:
    """The rows that one processor made of each task and seed."""
    return [row for made in on_one_processor(rows).values() for row in made]


def of_common_seeds(rows: Sequence[Row]) -> list[Row]:
    """The rows of one task with the seeds that all of its contenders have: others would be ahead by their seeds."""
    seeds = [{row["seed"] for row in found} for found in grouped(rows, "contender").values()]
    return [row for row in rows if row["seed"] in set.intersection(*seeds)]


def _of_contenders(rows: Sequence[Row]) -> dict[str, dict[str, list[Number]]]:
    found = grouped(rows, "contender")
    return {
        name: {
            "return": [mean(row["curve"][-1]["returns"]) for row in found[name]],
            "steps": [row["steps"] for row in found[name]],
            "steps_per_cpu_second": [row["steps"] / row["cpu_seconds"] for row in found[name]],
            "peak_rss_megabytes": [row["peak_rss_bytes"] / 1e6 for row in found[name]],
        }
        for name in CONTENDERS
        if name in found
    }


def lines(found: Mapping[str, Mapping[str, Sequence[Number]]]) -> list[list[str]]:
    """A line for each contender, the highest median return first."""
    ordered = sorted(found, key=lambda name: -median(found[name]["return"]))
    return [[CONTENDERS[name].title, *_cells(found[name])] for name in ordered]


def _cells(one: Mapping[str, Sequence[Number]]) -> list[str]:
    wide = f"{median(one['return']):,.0f} ({min(one['return']):,.0f}–{max(one['return']):,.0f})"
    rest = [f"{median(one[name]):,.0f}" for name in ("steps", "steps_per_cpu_second", "peak_rss_megabytes")]
    return [str(len(one["return"])), wide.replace("-", "−"), *rest]


def by_seed(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """One task's columns and lines: what each contender came to with each seed, — where it has not been trained."""
    found = {(row["contender"], row["seed"]): mean(row["curve"][-1]["returns"]) for row in rows}
    seeds = sorted({seed for _, seed in found})
    names = [name for name in CONTENDERS if any((name, seed) in found for seed in seeds)]
    return ["", *(f"seed {seed}" for seed in seeds)], [
        [CONTENDERS[name].title, *(_number(found.get((name, seed))) for seed in seeds)] for name in names
    ]


def _number(value: Number | None) -> str:
    return "—" if value is None else fixed(float(value), 0)


def curves(rows: Sequence[Row]) -> dict[Number, list[Number]]:
    """CPU-minutes → the mean return of each seed's evaluation then; only where every seed has one."""
    shares = [{point["share"]: point for point in row["curve"]} for row in rows]
    common = sorted(set.intersection(*(set(one) for one in shares)))
    return {
        median(one[share]["cpu_seconds"] for one in shares) / 60: [
            mean(one[share]["returns"]) for one in shares
        ]
        for share in common
    }


def draw(rows: Sequence[Row], file: Path) -> None:
    """A panel for each task: the median of seeds as a line, their range as a band."""
    tasks = grouped(comparable(rows), "task")
    with figure(file, 1, len(tasks), size=(5 * len(tasks), 3.6), squeeze=False) as axes:
        for axis, (task, found) in zip(axes[0], tasks.items(), strict=True):
            contenders = grouped(of_common_seeds(found), "contender")
            for name in (name for name in CONTENDERS if name in contenders):
                points = curves(contenders[name])
                style: dict[str, Any] = {"color": _COLOURS[name]}
                bounds = [(min(values), max(values)) for values in points.values()]
                axis.fill_between(list(points), *zip(*bounds, strict=True), alpha=0.15, lw=0, **style)
                middle = [median(values) for values in points.values()]
                axis.plot(list(points), middle, marker=".", label=CONTENDERS[name].title, **style)
            axis.set(title=task, xlabel="CPU-minutes on one core", ylabel="mean return of an evaluation")
            axis.set_xlim(left=0)
        max(axes[0], key=lambda axis: len(axis.lines)).legend()


def verdicts(found: Mapping[str, Mapping[str, Mapping[str, Sequence[Number]]]]) -> list[str]:
    """For each task where cRFFSAC has run beside others: who of them is ahead of it, by the median of enough seeds."""
    said = []
    for task, contenders in found.items():
        middle = {name: median(one["return"]) for name, one in contenders.items()}
        others = [name for name in middle if name != "crffsac"]
        if not others or "crffsac" not in middle:
            continue
        if len(contenders["crffsac"]["return"]) < SEEDS_NEEDED:
            said.append(f"On {task} fewer than {SEEDS_NEEDED} seeds are in: too few to tell who is ahead.")
        else:
            ahead = [CONTENDERS[name].title for name in others if middle[name] >= middle["crffsac"]]
            said.append(f"On {task} cRFFSAC's median return was reached by {_listed(ahead)}.")
            own = contenders["crffsac"]["return"]
            near = [CONTENDERS[name].title for name in others if _overlap(own, contenders[name]["return"])]
            said[-1] += f" Its seeds' range overlaps with {_listed(near)}'s."
    return said


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if names else "nobody else"


def _overlap(some: Sequence[Number], others: Sequence[Number]) -> bool:
    return min(some) <= max(others) and min(others) <= max(some)
