"""The page's first table: the paper's Table 2 with our figures beside it."""

from collections.abc import Sequence

from optac.report.commands_section import Commands
from optac.report.groups import short_name
from optac.report.markup import Markup, element, joined, scrolling
from optac.report.numbers import interval, mean_std, number, seeds
from optac.studies.table2.cells import SEEDS
from optac.studies.table2.comparison import TableCell
from optac.studies.table2.paper import AGENTS

STRIP = 176.0


def paper_section(lines: Sequence[Sequence[TableCell]], commands: Commands) -> Markup:
    """One line per task, one cell per agent: ours, the paper's, a strip with every seed, and the verdict."""
    head = element("tr", *(element("th", name, scope="col") for name in ("task", *AGENTS.values())))
    body = []
    for cells in lines:
        steps = element("span", f"{cells[0].steps:,} steps", class_="why")
        task = element("th", short_name(cells[0].environment), steps, scope="row")
        shown = [element("td", _cell(one, cells, commands), data_agent=AGENTS[one.agent]) for one in cells]
        body.append(element("tr", task, *shown))
    table = element("table", element("thead", head), element("tbody", *body), class_="paper")
    return joined(
        element(
            "p",
            "Mean ± standard deviation over seeds of the last evaluation (ours: the deterministic policy, no bonus). "
            "In the strips the grey bar is the paper’s mean ± std over 4 seeds and the dots are our seeds. “Can tell” "
            "means that Welch’s 95 % interval of the difference leaves zero out; fewer than 3 seeds tell nothing. "
            "The paper states neither its number of steps nor the length of an episode.",
        ),
        scrolling(table, "Our results beside the paper's"),
    )


def _cell(cell: TableCell, line: Sequence[TableCell], commands: Commands) -> Markup:
    printed = element("span", f"paper {cell.paper.text}", class_="printed")
    name = f"{AGENTS[cell.agent]} on {short_name(cell.environment)}"
    if cell.ours is None or cell.group is None:
        anchor = commands.add(f"Missing: {name}, seeds {SEEDS[0]} to {SEEDS[-1]}", [cell.fill])
        link = element("a", "the command that fills it", href=f"#{anchor}")
        missing = element("span", "missing", class_="pill none")
        return joined(missing, printed, element("span", link, class_="missing"))
    anchor = commands.add(f"{name}, {cell.steps:,} steps", [run.command for run in cell.group.complete])
    made = {"href": f"#{anchor}", "title": "the commands that make it"}
    parts = [
        element("a", mean_std(cell.ours), class_="ours", **made),
        element("span", f"last three {cell.recent_text}", class_="printed"),
        printed,
        _strip(cell, line),
        *_verdict(cell),
    ]
    if cell.missing:
        fill = commands.add(f"Missing: {name}, {_listed(cell.missing)}", [cell.fill])
        link = element("a", f"{_listed(cell.missing)} missing", href=f"#{fill}")
        parts.append(element("span", link, class_="missing"))
    return joined(*parts)


def _listed(numbers: Sequence[int]) -> str:
    return ("seed " if len(numbers) == 1 else "seeds ") + ", ".join(map(str, numbers))


def _verdict(cell: TableCell) -> list[Markup]:
    gap, ours = cell.difference, cell.ours
    assert gap is not None and ours is not None
    better = cell.better
    sign = {"ours higher": "▲ ", "paper’s higher": "▼ ", "equal": "= "}[better]
    if gap.interval is None:
        return [element("span", sign + better, class_="pill"), element("span", cell.untold, class_="why")]
    told = gap.verdict != "cannot tell"
    kind = "pill" if not told else "pill good" if gap.verdict == "higher" else "pill bad"
    why = f"{seeds(ours.seeds)} {'can' if told else 'cannot'} tell: {interval(gap.interval)}"
    return [element("span", sign + better, class_=kind), element("span", why, class_="why")]


def _strip(cell: TableCell, line: Sequence[TableCell]) -> Markup:
    """Every seed on the task's own scale, the paper's spread behind them."""
    values = [v for one in line for v in (one.paper.mean - one.paper.std, one.paper.mean + one.paper.std)]
    values += [v for one in line if one.group for v in one.group.scores.values()]
    low, width = min(values), (max(values) - min(values)) or 1.0

    def at(value: float) -> float:
        return round(4 + (STRIP - 8) * (value - low) / width, 1)

    assert cell.group is not None and cell.ours is not None
    paper = cell.paper
    first, last = at(paper.mean - paper.std), at(paper.mean + paper.std) + 0.5
    parts = [
        element("line", x1=first, x2=last, y1=11, y2=11, class_="spread"),
        element("line", x1=at(paper.mean), x2=at(paper.mean), y1=5, y2=17, class_="theirs"),
        element("line", x1=at(cell.ours.mean), x2=at(cell.ours.mean), y1=3, y2=19, class_="mean"),
    ]
    for seed, score in cell.group.scores.items():
        name = element("title", f"seed {seed}: {number(score)}")
        parts.append(element("circle", name, cx=at(score), cy=11, r=4, class_="seed"))
    scores = ", ".join(number(score) for score in cell.group.scores.values())
    said = f"our seeds {scores}; the paper's {paper.text}"
    return element("svg", *parts, viewBox=f"0 0 {STRIP:g} 22", class_="strip", role="img", aria_label=said)
