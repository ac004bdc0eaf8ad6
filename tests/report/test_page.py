"""The page and the files beside it: complete, self-contained, and safe whatever a run is called."""

import base64
import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import optac
from optac.cli import main
from optac.report.chart import round_places, tick_text
from optac.report.evidence import gather
from optac.report.files import file_names, write_report
from optac.report.groups import group_runs
from optac.report.latex import latex_tables
from optac.report.markup import Markup, element, joined, without_folders
from optac.report.page_sections import aggregate_table, result_cells, shared_tasks
from optac.report.panels import profile_panel
from optac.report.raw_rows import raw_rows
from optac.runs.folder import RunFolder
from optac.runs.json_files import write_json
from optac.runs.solving import SolveConfig, prepared_solve, run_solve
from optac.studies.table2.report import REFERENCE
from tests.report.training_runs import write_run

RESULTS = Path(__file__).parents[2] / "results"


class Reader(HTMLParser):
    """Tags that stand open, links, anchors and the texts of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes) -> None:
        found = dict(attributes)
        if tag not in ("meta", "br", "!doctype"):
            self.open.append(tag)
        self.scripts += tag == "script"
        self.anchors.add(found.get("id"))
        self.links += [found["href"][1:]] if found.get("href", "").startswith("#") else []
        self.addresses += [found[key] for key in ("src", "href") if key in found and found[key][0] != "#"]

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("report")
    return write_report(
        [RESULTS / "recipe-confirmation" / "fourth-candidate", RESULTS / "lock-8-5"],
        folder / "mine.html",
        title="Mine",
        reference=REFERENCE,
    )


def test_every_link_has_its_anchor_and_every_tag_its_end(written) -> None:
    page = Reader(written.page.read_text())
    assert page.open == [] and len(page.links) > 30
    assert set(page.links) <= page.anchors
    assert page.scripts == 2


def test_the_page_asks_for_nothing_from_elsewhere(written) -> None:
    text = written.page.read_text()
    assert written.size == len(text.encode()) < 5_000_000
    assert all(address.startswith("data:text/csv;base64,") for address in Reader(text).addresses)
    assert "default-src 'none'" in text and "@import" not in text and "url(" not in text


def test_the_embedded_rows_are_the_runs_own(written) -> None:
    packed = re.search(
        r'href="data:text/csv;base64,([^"]+)" download="training-rows.csv"', written.page.read_text()
    )
    assert packed is not None
    text = base64.b64decode(packed[1]).decode()
    assert text == (written.beside / "training-rows.csv").read_text()
    lines = list(csv.DictReader(io.StringIO(text)))
    run = next((RESULTS / "recipe-confirmation" / "fourth-candidate").glob("sac-*HalfCheetah*-s50"))
    chosen = [line for line in lines if line["run"] == run.name]
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [float(line["time/fps"]) for line in chosen] == [row["time/fps"] for row in rows]


def test_provable_rows_are_whole(tmp_path: Path) -> None:
    config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, "opt-ac", iterations=3)
    run_solve(prepared_solve(config), tmp_path / "solved")
    for folder in (tmp_path / "solved", RESULTS / "lock-8-5" / "driven"):
        rows = RunFolder.open(folder).rows()
        lines = list(csv.DictReader(io.StringIO(raw_rows(gather([folder]))["provable-rows.csv"])))
        assert len(lines) == len(rows) > 0
        for line, row in zip(lines, rows, strict=True):
            read = {
                name: line[name] if isinstance(row[name], str) else json.loads(line[name]) for name in row
            }
            assert read == row


def test_the_profile_shows_scores_below_random_play(tmp_path: Path) -> None:
    """HalfCheetah's −6,000 is (−6000 + 279.02) / (4994 + 279.02) = −1.08 where random play is 0."""
    for seed in range(3):
        write_run(tmp_path / f"s{seed}", "sac", seed, (-6000.0 + seed,))
        write_run(tmp_path / f"c{seed}", "crffsac", seed, (4994.0,))
    shared = shared_tasks(group_runs(gather([tmp_path]).training, REFERENCE), REFERENCE)
    panel = profile_panel(shared.groups, REFERENCE)
    sac, crffsac = (series.band for series in panel.series)
    assert sac.at[0] < -1.08 and sac.at[-1] > 1.0
    assert sac.estimate[0] == 1.0 and sac.estimate[-1] == 0.0
    assert dict(zip(crffsac.at, crffsac.estimate, strict=True))[next(x for x in sac.at if x > 0)] == 1.0


def test_an_agent_that_the_reference_does_not_name_is_not_left_out_silently(tmp_path: Path) -> None:
    """It is in the aggregate table where it has run every shared task, and else said to be missing there."""
    for seed in range(3):
        for agent in ("sac", "crffsac"):
            for task in ("optac/HalfCheetah-v0", "optac/Hopper-v0"):
                write_run(
                    tmp_path / f"{agent}{seed}{task[-9:]}", agent, seed, (100.0 + seed,), environment=task
                )
        mine = write_run(tmp_path / f"mine{seed}", "sac", seed, (200.0 + seed,))
        mine.config_path.write_text(json.dumps(mine.config | {"agent": "mine"}))
    groups = group_runs(gather([tmp_path]).training, REFERENCE)
    shared = shared_tasks(groups, REFERENCE)
    assert list(shared.groups) == ["sac", "crffsac"]
    assert "Left out: mine has 3 complete seeds on 1 of these 2." in aggregate_table(shared, REFERENCE)
    there = [group for group in groups if group.environment == "optac/HalfCheetah-v0"]
    shared = shared_tasks(there, REFERENCE)
    assert list(shared.groups) == ["sac", "crffsac", "mine"] and shared.left_out == ()
    assert '<th scope="row">mine</th>' in aggregate_table(shared, REFERENCE)


def test_figures_and_tables_lie_beside_the_page(written) -> None:
    names = {path.name for path in written.files}
    assert {
        "table2.md",
        "table2.tex",
        "results.md",
        "results.tex",
        "bills.md",
        "bills.tex",
        "curve-HalfCheetah.png",
        "curve-HalfCheetah.svg",
    } <= names
    assert all(path.stat().st_size > 100 and path.parent.name == "mine" for path in written.files)
    assert "gap-combination-lock-horizon-8-actions-5-seed-0.svg" in names
    bills = [(written.beside / f"bills.{kind}").read_text() for kind in ("md", "tex")]
    assert bills[1] == latex_tables(bills[0]) and "opt-ac" in bills[1]


def test_no_two_figures_have_the_same_file(tmp_path: Path) -> None:
    """Problems that differ in their last word alone, as long as these families' are."""
    for seed in range(2):
        words = {"states": 4, "actions": 2, "horizon": 2, "rank": 2, "concentration": 0.5, "seed": seed}
        config = SolveConfig("random-simplex", words, "opt-ac", iterations=2)
        run_solve(prepared_solve(config), tmp_path / f"s{seed}")
    drawn = [
        path.name for path in write_report([tmp_path], tmp_path / "r.html").files if path.suffix == ".png"
    ]
    name = "gap-random-simplex-states-4-actions-2-horizon-2-rank-2-concentration-0.5-seed-{}.png"
    assert drawn == [name.format(0), name.format(1)]
    assert file_names(["gap-x=-1", "gap-x=1", "gap-X=1", "g" * 200, "g" * 201]) == [
        "gap-x-1",
        "gap-x-1-2",
        "gap-X-1-3",
        "g" * 120,
        "g" * 120 + "-2",
    ]


def test_few_seeds_are_said_to_be_few(tmp_path: Path) -> None:
    for seed, agent in ((0, "sac"), (0, "crffsac"), (1, "crffsac")):
        write_run(tmp_path / f"{agent}-{seed}", agent, seed, [1.0, 2.0, 3.0], environment="optac/Hopper-v0")
    text = write_report([tmp_path], tmp_path / "r.html", title="Few", reference=REFERENCE).page.read_text()
    assert "<td>fewer than 3 seeds</td>" in text and "1 seed: too few to tell" in text
    assert "learning starts at 5,000" in text and 'class="mark"' in text


def test_a_name_cannot_become_markup(tmp_path: Path) -> None:
    evil = '<script>alert("1")</script>'
    run = write_run(tmp_path / "runs" / "a")
    config = json.loads(run.config_path.read_text())
    config |= {"environment": f"{evil}$x$", "agent": f"</script>{evil}"}
    config["versions"]["numpy"] = f"{evil}' onload='x"
    run.config_path.write_text(json.dumps(config))
    made = write_report([tmp_path / "runs"], tmp_path / "r.html", title=evil)
    text = made.page.read_text()
    assert evil not in text and Reader(text).scripts == 2 and "&lt;script&gt;alert" in text


def test_enough_seeds_give_intervals_profiles_and_a_warning_of_mixed_versions(tmp_path: Path) -> None:
    for seed in range(3):
        for agent in ("sac", "crffsac"):
            run = write_run(tmp_path / "runs" / f"{agent}{seed}", agent, seed, (0.0, 5000.0 + 100 * seed))
    config = json.loads(run.config_path.read_text())
    config["versions"]["jax"] = "0.9.9"
    run.config_path.write_text(json.dumps(config))
    made = write_report([tmp_path / "runs"], tmp_path / "r.html", reference=REFERENCE)
    text = made.page.read_text()
    assert 'class="band"' in text and "Performance profile" in text
    assert "cRFFSAC on optac/HalfCheetah-v0: its 3 seeds were made with 2 different sets of versions" in text
    assert (made.beside / "profile.png").exists()
    assert (
        "| HalfCheetah | SAC | 10,000 | 3 | 5,100 ± 100 | 2,550 ± 50 | 5,100 [5,000, 5,200] |"
        in (made.beside / "results.md").read_text()
    )


def test_a_run_that_was_stopped_at_its_reward_is_not_on_its_way_and_its_command_stops_there(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "run", steps=50_000)
    assert result_cells(group_runs(gather([tmp_path]).training)[0])[4] == "on its way"
    run.set_status("finished", "eval/mean_reward 200 at step 15000 is at least 150")
    write_json(run.config_path, run.config | {"stop_on_reward": 150.0})
    group = group_runs(gather([tmp_path]).training)[0]
    assert result_cells(group)[4] == "stopped early"
    assert "--steps 50000 --seed 0 --stop-on-reward=150.0" in group.runs[0].command


def test_a_finished_run_that_was_asked_for_no_evaluation_is_not_on_its_way(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", returns=(), steps=10_000, eval_every=0)
    run.append({"time/total_timesteps": 10_000, "time/fps": 90.0})
    assert result_cells(group_runs(gather([tmp_path]).training)[0])[4] == "on its way"
    run.set_status("finished")
    assert result_cells(group_runs(gather([tmp_path]).training)[0])[4] == "never evaluated"


def test_the_command_writes_the_page_and_says_where(tmp_path: Path, capsys) -> None:
    run = write_run(tmp_path / "runs" / "a")
    with open(run.metrics_path, "ab") as file:
        file.write(b"{")
    assert main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "x.html"), "--json"]) == 0
    output = capsys.readouterr()
    said = json.loads(output.out)
    assert Path(said["page"]).stat().st_size == said["bytes"] and len(said["notes"]) == 1
    assert "its last line is torn" in output.err
    assert main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "x.pdf")]) == 2
    assert "ends in .html" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "absent"), "--out", str(tmp_path / "y.html")]) == 2
    assert "does not exist" in capsys.readouterr().err and not (tmp_path / "y.html").exists()


def test_markup_escapes_text_and_keeps_markup() -> None:
    assert element("b", "<&>", Markup("<i>x</i>"), title='"') == '<b title="&quot;">&lt;&amp;&gt;<i>x</i></b>'
    assert joined("<", element("br")) == "&lt;<br/>"


def test_ticks_are_round() -> None:
    assert round_places(0.0, 100_000.0) == [0, 20_000, 40_000, 60_000, 80_000, 100_000]
    assert round_places(-0.05, 1.05) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert round_places(2.0, 2.0) == [2.0]
    assert [tick_text(v) for v in (0.0, 200_000.0, 1_500_000.0, 2_000_000.0, -150.0, 0.2)] == [
        "0",
        "200k",
        "1,500k",
        "2M",
        "−150",
        "0.2",
    ]


def looks_of(text: str) -> dict[str, set[str]]:
    """Label → the colours it has anywhere on a page."""
    found: dict[str, set[str]] = {}
    for style, label in re.findall(r'<g class="series (s\d) x\d" data-series="([^"]+)"', text):
        found.setdefault(label, set()).add(style)
    return found


def test_one_configuration_has_one_name_and_one_colour_whatever_else_is_on_the_page(tmp_path: Path) -> None:
    for seed, batch in enumerate((32, 64, 96)):
        write_run(tmp_path / f"b{batch}", agent="sac", seed=seed, batch_size=batch)
    write_run(tmp_path / "plain", agent="crffsac", seed=1)
    pages = []
    for folders in (["b64"], ["b32", "b64"], ["plain", "b96", "b64", "b32"], ["b32", "b64", "b96"]):
        out = tmp_path / "out.html"
        write_report([tmp_path / name for name in folders], out, reference=REFERENCE)
        pages.append(looks_of(out.read_text()))
    assert [len(page) for page in pages] == [1, 2, 4, 3]
    for page in pages:
        for label, colours in page.items():
            assert len(colours) == 1 and colours == pages[2][label], label
    assert pages[2]["cRFFSAC"] == {"s1"}
    assert {"SAC · batch_size=64"} == pages[0].keys()


def test_an_algorithm_has_its_own_dash_though_an_agent_has_its_colour(tmp_path: Path) -> None:
    write_run(tmp_path / "agent", agent="sac", seed=0)
    config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, iterations=2)
    run_solve(prepared_solve(config), tmp_path / "solve")
    out = tmp_path / "out.html"
    write_report([tmp_path / "agent", tmp_path / "solve"], out, reference=REFERENCE)
    found = re.findall(r'<g class="series (s\d x\d)" data-series="([^"]+)"', out.read_text())
    assert found == [("s0 x0", "SAC"), ("s0 x0", "opt-ac")]


def test_what_a_sweep_varied_is_shown_also_where_it_is_the_default(tmp_path: Path) -> None:
    for seed, batch in enumerate((64, 128)):
        write_run(tmp_path / "sweep" / f"b{batch}", seed=seed, batch_size=batch)
    write_run(tmp_path / "sweep" / "other", "crffsac", seed=2)
    settings = {"batch_size": [64, 128], "width": [256], "crffsac": {"batch_size": 128}}
    (tmp_path / "sweep" / "sweep.json").write_text(json.dumps({"settings": settings}))
    for alpha in (0.02, 0.1):
        config = SolveConfig(
            "combination-lock", {"horizon": 2, "actions": 2}, iterations=2, settings={"alpha": alpha}
        )
        run_solve(prepared_solve(config), tmp_path / "solves" / str(alpha))
    axes = {"settings": {"alpha": [0.02, 0.1], "model_class": ["simplex", "decoder"]}}
    (tmp_path / "solves" / "sweep.json").write_text(json.dumps(axes))
    out = tmp_path / "page.html"
    write_report([tmp_path / "sweep", tmp_path / "solves"], out, reference=REFERENCE)
    shown = looks_of(out.read_text())
    lock = [f"opt-ac · alpha={alpha} · model_class=default" for alpha in (0.02, 0.1)]
    assert shown.keys() == {"SAC · batch_size=64", "SAC · batch_size=128", "cRFFSAC", *lock}
    assert shown["SAC · batch_size=128"] == {"s0"}, "the colour of SAC, which it is"
    (tmp_path / "sweep" / "sweep.json").write_text('{"settings": 3}')
    notes = write_report([tmp_path / "sweep"], out, reference=REFERENCE).notes
    assert any("sweep.json is damaged" in note for note in notes)
    assert looks_of(out.read_text()).keys() == {"SAC · batch_size=64", "SAC", "cRFFSAC"}


@pytest.mark.parametrize("with_training", [True, False])
def test_the_words_at_the_end_are_of_what_is_on_the_page(with_training: bool, tmp_path: Path) -> None:
    config = SolveConfig("combination-lock", {"horizon": 2, "actions": 2}, iterations=2)
    run_solve(prepared_solve(config), tmp_path / "runs" / "solve")
    if with_training:
        write_run(tmp_path / "runs" / "train")
    write_report([tmp_path / "runs"], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text().partition('<section id="reading">')[2]
    assert "oracle bill" in text and "bootstrap" in text and "pruned" not in text
    assert ("each run’s last evaluation" in text) == ("P(improvement)" in text) == with_training


def test_no_folder_of_anybody_is_on_the_page(tmp_path: Path) -> None:
    home = tmp_path / "home" / "jane"
    sound = write_run(home / "runs" / "sound")
    sound.config_path.write_text(json.dumps({**sound.config, "path": [str(home / "code")]}))
    write_run(home / "runs" / "damaged")
    (home / "runs" / "damaged" / "metrics.jsonl").write_text("{}\nnonsense\n{}\n")
    optac.make_problem("combination-lock", horizon=2, actions=2).save(home / "mine.npz")
    config = SolveConfig(str(home / "mine.npz"), iterations=2)
    run_solve(prepared_solve(config), home / "runs" / "solve")
    out = home / "page.html"
    write_report([home / "runs"], out)
    text = out.read_text()
    assert str(tmp_path) not in text and "jane" not in text
    assert "…/damaged/metrics.jsonl is damaged" in text and "mine.npz" in text
    assert without_folders("a/b https://x.org/a/b/c /one") == "a/b https://x.org/a/b/c /one"
