"""What docs/speed.md and README.md show of the benches, from results/bench; `make study-pages` writes it."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from optac.errors import InvalidInput
from optac.report.numbers import seeds
from optac.report.tables import Row, grouped, markdown_table
from optac.runs.folder import RunFolder
from optac.runs.json_files import read_json_object
from optac.studies.bench import spread
from optac.studies.bench.agents import AIMS, NAMES, TWO_CORES, rate, ratios
from optac.studies.bench.returns import CONTENDERS, MINUTES, SEEDS, TASKS, on_one_processor
from optac.studies.bench.returns_report import COLUMNS, by_seed, comparable, draw, lines, summary, verdicts

FIGURE = "results/bench/returns/returns.png"
COMMAND = "optac bench returns --out results/bench"
_SHOWN = [COLUMNS.index(name) for name in ("return", "steps per CPU-second", "peak memory, MB")]
PLANNED = len(CONTENDERS) * len(TASKS) * SEEDS


def bench_pages(results: Path) -> dict[str, dict[str, str]]:
    """The parts of each page."""
    agents, rows = read_json_object(results / "bench" / "agents.json"), returns_rows(results)
    return {
        "docs/speed.md": {"speeds": speeds(agents), "returns": returns_part(rows)},
        "README.md": {"speed": readme_speed(agents), "returns": readme_returns(rows)},
    }


def returns_rows(results: Path) -> list[Row]:
    """The trainings that are in; none where nobody has begun. Refuses shorter ones, as of a trial."""
    folder = results / "bench" / "returns"
    if not folder.is_dir():
        return []
    made = RunFolder.open(folder)
    if made.config["minutes"] != MINUTES:
        raise InvalidInput(f"{folder} has trainings of {made.config['minutes']:g} minutes, not of {MINUTES}")
    return [row for row in comparable(made.rows()) if row["task"] in TASKS and row["seed"] < SEEDS]


def speeds(measured: dict[str, Any]) -> str:
    """Both tables of `optac bench agents`, and where they were made."""
    task = measured["task"]
    said = [
        [NAMES[name], spread(list(map(rate, said)), 1)]
        for name, said in sorted(measured["answers"].items(), key=lambda one: list(NAMES).index(one[0]))
    ]
    within = ratios(measured["answers"], measured["facts"])
    if measured["two_cores"]:
        within |= {TWO_CORES: [both / one for one, both in measured["two_cores"]]}
    found = [
        [name, spread(values, 2), f"≥ {AIMS[name]}" if name in AIMS else ""]
        for name, values in within.items()
    ]
    return "\n".join(
        [
            f"{task['environment']}, batch {task['batch_size']}, two hidden layers of {task['width']}, one update per "
            f"step, one core, {measured['rounds']} rounds of {measured['steps']} steps, in turn. Measured at commit "
            f"{measured['commit'][:7]} on an {_machine(measured)}; raw answers and versions in "
            f"[agents.json](../results/bench/agents.json).{_left_out(measured)}\n",
            markdown_table(["contender", "steps per second: median (least–most)"], said),
            markdown_table(["ratio within a round", "median (least–most)", "aim"], found),
        ]
    )


def _machine(measured: dict[str, Any]) -> str:
    versions = measured["versions"]
    return f"{versions['processor']} with {versions['cores']} cores"


def _left_out(measured: dict[str, Any]) -> str:
    """What the bench measures now and did not when this was made."""
    missing = [NAMES[name] for name in NAMES if name not in measured["answers"]]
    return f" Not in it yet: {'; '.join(missing)}." if missing else ""


def readme_speed(measured: dict[str, Any]) -> str:
    """The two ratios that people ask for, and what is left of the second where SBX shares dispatches too."""
    sb3, sbx, ten = (
        median(measured["ratios"][f"sac over {peer}"])
        for peer in ("Stable-Baselines3", "SBX", "SBX with ten updates per dispatch")
    )
    return (
        "**What it costs.** One core, batch 256, one update of everything per step (preset `plain`): "
        f"SAC takes {sb3:.2f} times the steps\nper second of Stable-Baselines3 and {sbx:.2f} times SBX's "
        f"({ten:.2f} times where SBX too makes ten updates per dispatch),\n"
        f"medians of {measured['rounds']} rounds in turn at commit {measured['commit'][:7]}.\n"
        "[All of it, with what eats the rest](docs/speed.md).\n"
    )


def returns_part(rows: Sequence[Row]) -> str:
    """A table for each task with the verdicts and the figure, or that nothing is in yet."""
    if not rows:
        return _nothing_yet()
    found = summary(rows)
    parts = [_how_many(rows)]
    for task, contenders in found.items():
        each = markdown_table(*by_seed(grouped(rows, "task")[task]))
        parts += [f"### {task}\n", markdown_table(COLUMNS, lines(contenders)), "Seed by seed:\n", each]
    return "\n".join([*parts, *(f"{said}\n" for said in verdicts(found)), _figure("../")])


def readme_returns(rows: Sequence[Row]) -> str:
    """Both tasks in one table, with what each step costs, and the figure."""
    if not rows:
        return _nothing_yet()
    found = summary(rows)
    tables = [{line[0]: line for line in lines(contenders)} for contenders in found.values()]
    told = {
        one.title: [
            [table.get(one.title, ["missing"] * len(COLUMNS))[at] for table in tables] for at in _SHOWN
        ]
        for one in CONTENDERS.values()
        if any(one.title in table for table in tables)
    }
    short = " / ".join(task.partition("-")[0] for task in found)
    head = ["", *(f"{task}, {_seeds(contenders)}" for task, contenders in found.items())]
    head += [f"{COLUMNS[at]}, {short}" for at in _SHOWN[1:]]
    body = [[title, *returns, *map(" / ".join, costs)] for title, (returns, *costs) in told.items()]
    table = markdown_table(head, body)
    return "\n".join([_how_many(rows), table, *(f"{said}\n" for said in verdicts(found)), _figure("")])


def _seeds(contenders: dict[str, Any]) -> str:
    return seeds(min(len(one["return"]) for one in contenders.values()))


def _how_many(rows: Sequence[Row]) -> str:
    commits = ", ".join(sorted({str(row["commit"])[:7] for row in rows}))
    there = len(rows)
    rest = "" if there == PLANNED else f" `{COMMAND}` makes the rest."
    loads = [load for row in rows for load in row["load_average"]]
    machines = " and ".join(
        f"{name} ({', '.join(_whose(made))})" for name, made in grouped(rows, "processor").items()
    )
    return (
        f"Return after {MINUTES} CPU-minutes on one core, median (least–most) of seeds: "
        f"{there} of {PLANNED} trainings are in, at commit {commits}, on {machines}.{rest} "
        f"The machine's load average at their starts and ends was {min(loads):.1f} to {max(loads):.1f}.\n"
    )


def _whose(rows: Sequence[Row]) -> list[str]:
    """`seed 0 of Hopper-v5` of each group of trainings there."""
    return [f"seed {seed} of {task}" for task, seed in on_one_processor(rows)]


def _nothing_yet() -> str:
    return (
        f"Return after {MINUTES} CPU-minutes on one core: **not measured yet.** `{COMMAND}` makes the "
        f"{PLANNED} trainings, in about {PLANNED * (MINUTES + 1) / 60:.1f} core-hours, and goes on where it was "
        "stopped.\n"
    )


def _figure(root: str) -> str:
    return f"![return against CPU-minutes on one core]({root}{FIGURE})\n"


def draw_returns(results: Path) -> list[Path]:
    """The figure of the rows that are in."""
    rows, file = returns_rows(results), results / FIGURE.removeprefix("results/")
    if not rows:
        return []
    draw(rows, file)
    return [file]
