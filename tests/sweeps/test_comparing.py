"""`optac compare`: resumable after SIGKILL with the same table, ladders, censoring, a user's own arrays."""

import json
import signal
import subprocess
import sys
import time
from math import inf
from pathlib import Path

import numpy as np
import pytest

import optac
from optac.cli import main
from optac.errors import InvalidInput
from optac.provenance import source_commit
from optac.report.comparison import comparison_tables
from optac.report.tables import cell
from optac.studies import compare
from optac.studies.compare import compared
from optac.sweeps.cells import Cell, run_study
from optac.sweeps.comparing import prepared_comparison
from optac.sweeps.measuring import measured

ALGORITHMS = ("opt-ac", "flambe", "epsilon-greedy")
LOCK = ("combination-lock", {"horizon": "3", "actions": "2"})
WHOLE = prepared_comparison(*LOCK, ALGORITHMS, seeds=3, episodes=90)
COMMAND = ["compare", "combination-lock", "horizon=3", "actions=2", "--seeds", "3", "--episodes", "90"]
COMMAND += ["--algorithms", *ALGORITHMS, "--quiet"]


def without_times(rows):
    """Rows, and the curves in them, with everything that a clock said removed."""
    kept = []
    for row in rows:
        row = {key: value for key, value in row.items() if not key.startswith("time/")}
        row["curve"] = {key: values for key, values in row["curve"].items() if key != "time/seconds"}
        for which in ("first", "last", "mixture"):
            if row[which] is not None:
                row[which] = {key: value for key, value in row[which].items() if key != "time/seconds"}
        kept.append(row)
    return kept


def table_without_seconds(rows):
    return [line[:-1] for line in comparison_tables(rows, WHOLE.epsilon, WHOLE.episodes).lines]


KILLED = """
import os, signal, sys
from optac.cli import main
from optac.runs.folder import RunFolder

append = RunFolder.append

def and_no_more(folder, row):
    append(folder, row)
    os.kill(os.getpid(), signal.SIGKILL)

RunFolder.append = and_no_more
sys.exit(main(sys.argv[1:]))
"""


def test_killed_comparison_goes_on_and_ends_with_the_same_table(tmp_path) -> None:
    """It is killed as soon as it has a row: from outside it might have ended by then."""
    out = tmp_path / "killed"
    words = [sys.executable, "-c", KILLED, *COMMAND, "--jobs", "2", "--out", str(out)]
    process = subprocess.Popen(words, start_new_session=True)
    metrics = out / "metrics.jsonl"
    deadline = time.monotonic() + 900  # only so that a hang ends; a loaded machine takes minutes
    assert process.wait() == -signal.SIGKILL
    assert metrics.read_bytes().count(b"\n") == 1
    assert json.loads((out / "status.json").read_text())["state"] == "running"
    with metrics.open("ab") as file:
        file.write(b'{"cell": "torn')
    while True:
        try:
            resumed = compared(WHOLE, out, jobs=1)[0].rows
            break
        except InvalidInput as busy:
            assert "in use" in str(busy) and time.monotonic() < deadline
            time.sleep(0.2)
    undisturbed = compared(WHOLE, tmp_path / "whole", jobs=1)[0].rows
    assert without_times(resumed) == without_times(undisturbed)
    assert table_without_seconds(resumed) == table_without_seconds(undisturbed)
    assert json.loads((out / "status.json").read_text())["state"] == "finished"


def test_finished_comparison_is_not_run_again(tmp_path, monkeypatch) -> None:
    comparison = prepared_comparison(*LOCK, ALGORITHMS, seeds=1, episodes=60)
    first = compared(comparison, tmp_path / "out", jobs=1)[0].rows
    monkeypatch.setattr("optac.sweeps.comparing.measured", None)
    assert compared(comparison, tmp_path / "out", jobs=1)[0].rows == first


def test_a_comparison_written_otherwise_is_the_same_one(tmp_path, monkeypatch) -> None:
    asked = {"seeds": 1, "episodes": 30}
    both = {"opt-ac.alpha": "0.5", "candidates": "64"}
    comparison = prepared_comparison(*LOCK, ["opt-ac", "epsilon-greedy"], settings=both, **asked)
    rows = compared(comparison, tmp_path / "out", jobs=1)[0].rows
    monkeypatch.setattr("optac.sweeps.comparing.measured", None)
    lock = {"seed": 0, "actions": 2, "horizon": 3.0}
    turned = ["epsilon-greedy", "optac.algorithms.opt_ac"]
    again = prepared_comparison(LOCK[0], lock, turned, settings={"opt-ac.alpha": 5e-1}, **asked)
    assert again.id == comparison.id and again.id.startswith("compare-combination-lock-actions2-horizon3-")
    resumed = compared(again, tmp_path / "out", jobs=1)[0].rows
    assert sorted(resumed, key=str) == sorted(rows, key=str)
    other = prepared_comparison(*LOCK, turned, settings=both, epsilon=0.2, **asked)
    assert other.id != comparison.id


def test_folder_of_another_comparison_is_refused(tmp_path) -> None:
    run_study(tmp_path / "out", {"kind": "compare", "seeds": 5}, [])
    with pytest.raises(InvalidInput, match="holds another run: it differs in seeds"):
        run_study(tmp_path / "out", {"kind": "compare", "seeds": 6}, [])


def test_failing_cell_leaves_the_rows_before_it(tmp_path) -> None:
    good = Cell("good", "optac.provenance:versions")
    bad = Cell("bad", "optac.mdp:make_problem", {"name": "no-such-problem"})
    with pytest.raises(InvalidInput, match="unknown problem"):
        run_study(tmp_path / "out", {}, [good, bad])
    assert json.loads((tmp_path / "out" / "status.json").read_text())["state"] == "failed"
    rows = (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(row)["cell"] for row in rows] == ["good"]


def test_users_own_arrays_are_compared_and_solved(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    optac.make_problem("random-simplex", states=4, actions=2, horizon=2, rank=2).save("mine.npz")
    assert main(["compare", "mine.npz", "--seeds", "1", "--episodes", "40", "--jobs", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["rows"]) == 9 and len(answer["table"]) == 9
    out = Path(answer["out"])
    assert {"table.md", "gaps.png", "gaps.svg", "config.json"} <= {path.name for path in out.iterdir()}
    assert main(["solve", "mine.npz", "--algorithm", "raffle", "--iterations", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problem"] == "random-simplex"  # its name is in the file
    before = prepared_comparison("mine.npz").id
    optac.make_problem("random-simplex", states=4, actions=2, horizon=2, rank=2, seed=1).save("mine.npz")
    assert prepared_comparison("mine.npz").id != before


def test_algorithm_that_refuses_the_problem_is_left_out_unless_asked_for() -> None:
    unreachable = {"horizon": 6, "rank": 6}
    everyone = prepared_comparison("lower-bound", unreachable)
    assert "moffle" not in everyone.solves and "η_min" in everyone.left_out["moffle"]
    with pytest.raises(InvalidInput, match="η_min"):
        prepared_comparison("lower-bound", unreachable, ["moffle"])


def test_setting_with_an_algorithms_name_is_for_it_alone() -> None:
    shared = {"rank": "2", "rep-ucb.alpha": "0.5", "rep-ucb.rank": "1"}
    solves = prepared_comparison(*LOCK, ["opt-ac", "rep-ucb"], settings=shared).solves
    assert solves["rep-ucb"].config["settings"] == {"rank": 1, "alpha": 0.5}
    assert solves["opt-ac"].config["settings"] == {"rank": 2}
    with pytest.raises(InvalidInput, match="unknown algorithm 'rep-ubc'"):
        prepared_comparison(*LOCK, settings={"rep-ubc.alpha": "0.5"})


def test_ladder_has_one_point_a_rung_and_anytime_runs_have_curves() -> None:
    lock = optac.make_problem("combination-lock", horizon=3, actions=2)
    ladder = measured(lock, "raffle", seed=0, episodes=96, epsilon=0.1, rungs=4)
    assert ladder["ladder"] and ladder["curve"]["episodes"] == [12, 24, 48, 96]
    assert ladder["last"] == ladder["mixture"]
    curve = measured(lock, "opt-ac", seed=0, episodes=180, epsilon=0.1)
    assert not curve["ladder"] and len(curve["curve"]["gap"]) > 20
    assert curve["last"]["episodes"] <= curve["mixture"]["episodes"]


def test_early_stop_changes_nothing_up_to_epsilon() -> None:
    lock = optac.make_problem("combination-lock", horizon=3, actions=2)
    whole = measured(lock, "opt-ac", seed=0, episodes=300, epsilon=0.1)
    stopped = measured(lock, "opt-ac", seed=0, episodes=300, epsilon=0.1, stop_at="both")
    assert stopped["episodes"] < whole["episodes"] == 300
    assert stopped["mixture"]["episodes"] == whole["mixture"]["episodes"]
    assert stopped["last"]["bill"] == whole["last"]["bill"]


def test_first_iteration_within_epsilon_is_found_though_the_history_is_thinned(monkeypatch) -> None:
    """The same run under a budget of 100 rounds, of which every one is logged, and of 300, of which a third is."""
    monkeypatch.setattr("optac.algorithms.loop.accounts.LOGGED_ROWS", 100)
    lock = optac.make_problem("combination-lock", horizon=3, actions=2)
    logged, thinned = (
        measured(lock, "epsilon-greedy", seed=0, episodes=episodes, epsilon=0.3) for episodes in (300, 900)
    )
    assert logged["mixture"]["episodes"] == thinned["mixture"]["episodes"]
    assert logged["last"]["bill"] == thinned["last"]["bill"]
    rounds = thinned["mixture"]["episodes"] // 3, thinned["last"]["episodes"] // 3
    assert any(round_ % 3 for round_ in rounds)


def test_rows_and_the_config_say_which_commit_made_them_and_another_one_may_go_on(
    tmp_path, monkeypatch
) -> None:
    cells = [Cell(name, "optac.provenance:versions") for name in ("one", "two")]
    monkeypatch.setattr("optac.sweeps.cells.source_commit", lambda: "aaaa")
    run_study(tmp_path / "out", {"kind": "compare"}, cells[:1])
    monkeypatch.setattr("optac.sweeps.cells.source_commit", lambda: "bbbb-dirty")
    rows = run_study(tmp_path / "out", {"kind": "compare"}, cells)
    assert [row["commit"] for row in rows] == ["aaaa", "bbbb-dirty"]
    assert json.loads((tmp_path / "out" / "config.json").read_text())["commit"] == "aaaa"


def test_commit_is_that_of_the_package_and_marked_when_its_files_differ(tmp_path) -> None:
    def git(*arguments: str) -> str:
        settings = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        command = ["git", "-C", str(tmp_path), *settings, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    assert source_commit(package) is None
    git("init")
    (tmp_path / "notes.txt").write_text("results")
    git("add", "notes.txt")
    git("commit", "-m", "notes")
    assert source_commit(package) is None
    git("add", ".")
    git("commit", "-m", "package")
    head = git("rev-parse", "--short=12", "HEAD")
    (tmp_path / "notes.txt").unlink()
    assert source_commit(package) == head
    (package / "new.py").write_text("")
    assert source_commit(package) == f"{head}-dirty"


def test_censored_runs_are_marked() -> None:
    assert cell([10.0, 20.0, 30.0, 40.0, 50.0]) == "30 [20–40]"
    assert cell([10.0, 20.0, 30.0, 40.0, inf], limit=100) == "30 [20–40] (4/5)"
    assert cell([10.0, inf, inf], limit=1000) == ">1,000 [10–>1,000] (1/3)"
    assert cell([0.25] * 3, digits=3) == "0.250"
    assert np.isfinite(float(cell([3.0])))


def test_a_comparison_in_python_equals_the_commands_and_leaves_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    problem = optac.make_problem("combination-lock", horizon=2, actions=2)
    said = optac.compare(problem, ["opt-ac", "raffle"], seeds=2, episodes=60)
    assert list(tmp_path.iterdir()) == []
    problem.save("lock.npz")
    words = ["compare", "lock.npz", "--algorithms", "opt-ac", "raffle", "--seeds", "2", "--episodes", "60"]
    assert main([*words, "--out", "kept", "--jobs", "1", "--quiet"]) == 0
    kept = [json.loads(line) for line in (tmp_path / "kept" / "metrics.jsonl").read_text().splitlines()]
    timeless = [
        [{name: row[name] for name in ("cell", "gap", "last_gap", "episodes", "bill")} for row in rows]
        for rows in (
            sorted(said.rows, key=lambda row: row["cell"]),
            sorted(kept, key=lambda row: row["cell"]),
        )
    ]
    assert timeless[0] == timeless[1]
    assert "combination-lock" in said.title and said.title in said.markdown()
    assert repr(said).count("\n") == 2 and said._repr_html_().count("<svg") == 1
    head, _, first, *_ = (line.strip("| ").split(" | ") for line in said.markdown().splitlines()[2:])
    calls, gap = (first[head.index(name)] for name in ("SL", "last gap"))
    shown = f"opt-ac: {first[1]} episodes, SL {calls}, last gap {gap}"
    assert shown in repr(said) and shown.removeprefix("opt-ac: ") in said._repr_html_()
    assert ", 2 seeds: episodes to ε=0.1" in repr(said)
    names = [file.name for file in said.write("paper")]
    assert names == ["table.md", "table.tex", "gaps.png", "gaps.svg"]
    table = (tmp_path / "paper" / "table.tex").read_text()
    assert "* explores, then commits" in said.markdown()
    assert table.count(r"\begin{tabular}") == 2 and "raffle * &" in table and table.isascii()
    assert (tmp_path / "kept" / "table.tex").is_file()


def test_a_kept_comparison_resumes_and_refuses_another_problem(tmp_path) -> None:
    problem = optac.make_problem("combination-lock", horizon=2, actions=2)
    first = optac.compare(problem, ["ucbvi"], seeds=1, episodes=20, out=tmp_path / "kept")
    again = optac.compare(problem, ["ucbvi"], seeds=1, episodes=20, out=tmp_path / "kept")
    assert again.rows == first.rows  # the seconds too: nothing was run again
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert "* explores" not in first.markdown()  # none of these does
    kept = (tmp_path / "kept" / "problem.npz").read_bytes()
    other = optac.make_problem("combination-lock", horizon=2, actions=2, seed=1)
    with pytest.raises(InvalidInput, match="holds another problem"):
        optac.compare(other, ["ucbvi"], seeds=1, episodes=20, out=tmp_path / "kept")
    assert (tmp_path / "kept" / "problem.npz").read_bytes() == kept


def test_a_problem_is_written_whole_and_through_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = optac.make_problem("combination-lock", horizon=2, actions=2)

    def killed(*given: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(compare, "rename", killed)
        compare._save_in(tmp_path, problem, tmp_path / "aside.npz")
    assert not (tmp_path / "problem.npz").exists()
    (tmp_path / "problem.npz").symlink_to(tmp_path / "elsewhere.npz")
    compare._save_in(tmp_path, problem, tmp_path / "aside.npz")
    assert not (tmp_path / "problem.npz").is_symlink() and not (tmp_path / "elsewhere.npz").exists()
    assert optac.LowRankMDP.load(tmp_path / "problem.npz").horizon == 2


def test_a_comparison_in_python_is_kept_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    problem = optac.make_problem("combination-lock", horizon=2, actions=2)
    optac.compare(problem, ["opt-ac"], seeds=1, episodes=20, out=tmp_path / "linked" / "x")
    assert (tmp_path / "real" / "x" / "metrics.jsonl").is_file()
