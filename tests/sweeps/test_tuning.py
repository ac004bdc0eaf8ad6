"""A search has the same trials wherever it was killed; pruned runs say so, and its page shows what it found."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import probe_environments  # noqa: F401  registers probe/Drifting-v0
import pytest

from optac.cli import main
from optac.errors import InvalidInput, MissingExtra, RunFailed
from optac.report.files import write_report
from optac.report.tuning_section import RecordedTuning, history_panels
from optac.runs.folder import RunFolder
from optac.runs.json_files import write_sealed
from optac.sweeps.standing import run_standing
from optac.sweeps.tuning import Trial, Tuned, _bars, _next_trials, read_tuned, tune
from optac.sweeps.tuning_file import Searched, tuning_of
from optac.sweeps.worker import Outcome, Task, attempt

ENV = "probe/Drifting-v0"
SETTINGS = {
    "width": 4,
    "batch_size": 4,
    "actor_every": 1,  # compiles in half the time
    "eval_every": 20,
    "eval_episodes": 1,
    "log_every": 50,
    "checkpoint_every": 20,
}
SEARCH = {"uniform_probability": {"low": 0.0, "high": 1.0}, "learning_starts": [2, 6, 10]}


def given(**changed: Any) -> dict[str, Any]:
    keys = {"agent": "sac", "environment": ENV, "steps": 60, "trials": 10, "together": 5, **changed}
    return {"tune": keys, "search": SEARCH, "settings": SETTINGS}


class Here:
    """Makes attempts in this process, and is interrupted after so many."""

    def __init__(self, most: float = math.inf) -> None:
        self.left, self.outcomes = most, list[Outcome]()

    def free(self) -> int:
        return 1

    def start(self, task: Task) -> None:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.outcomes.append(attempt(task))

    def ended(self, seconds: float) -> Sequence[Outcome]:
        ended, self.outcomes = self.outcomes, []
        return ended

    def stop(self) -> Sequence[Outcome]:
        return self.ended(0)

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    return tune(tuning_of("search", given()), tmp_path_factory.mktemp("tuned") / "whole", Here)


def test_a_search_that_is_killed_and_continued_has_the_same_trials(whole: Tuned, tmp_path: Path) -> None:
    search, path = tuning_of("search", given()), tmp_path / "killed"
    for most in (2, 4):  # in the first round, then in the second
        with pytest.raises(KeyboardInterrupt):
            tune(search, path, lambda most=most: Here(most))
    assert tune(search, path, Here).trials == whole.trials
    assert read_tuned(path).trials == whole.trials


def test_trials_raised_later_are_those_of_a_search_that_was_asked_for_as_many_at_once(
    whole: Tuned, tmp_path: Path
) -> None:
    few = tune(tuning_of("search", given(trials=7)), tmp_path / "raised", Here)
    assert few.trials == whole.trials[:7]
    assert tune(tuning_of("search", given()), few.path, Here).trials == whole.trials


def test_trials_are_runs_of_a_sweep_and_the_best_is_the_best(whole: Tuned) -> None:
    assert [trial.number for trial in whole.trials] == list(range(10))
    ids = json.loads((whole.path / "sweep.json").read_text())["runs"]
    assert set(ids) == {name for trial in whole.trials for name in trial.runs}
    assert whole.best is not None
    finished = [trial.score for trial in whole.trials if trial.state == "finished"]
    assert whole.best.score == max(finished)
    for trial in whole.trials:
        rows = RunFolder.open(whole.path / trial.runs[0]).rows()
        scores = {
            str(r["time/total_timesteps"]): r["eval/mean_reward"] for r in rows if "eval/mean_reward" in r
        }
        assert scores == trial.curve and trial.score == list(scores.values())[-1]


def test_pruned_runs_stop_where_their_best_is_below_the_median_and_say_so(whole: Tuned) -> None:
    first, second = whole.trials[:5], whole.trials[5:]
    assert all(trial.state == "finished" and not trial.bars for trial in first)
    bars = _bars(first)
    assert list(bars) == ["20", "40", "60"] and bars["20"] == sorted(t.curve["20"] for t in first)[2]
    assert bars["40"] == sorted(max(t.curve["20"], t.curve["40"]) for t in first)[2]
    assert any(trial.state == "pruned" for trial in second)
    for trial in second:
        assert trial.bars == bars
        below, best = None, -math.inf
        for step, value in trial.curve.items():
            best = max(best, value)
            below = step if below is None and best < bars[step] else below
        pruned_early = below is not None and below != "60"  # at its last step there is nothing left to stop
        assert (trial.state == "pruned") == pruned_early
        shown = run_standing(whole.path / trial.runs[0])
        assert shown.state == "finished" and (shown.why is not None) == pruned_early
        if pruned_early:
            assert list(trial.curve)[-1] == below and f"pruned at step {below}" in str(shown.why)


def test_the_page_has_the_history_the_importances_and_every_trial(whole: Tuned) -> None:
    out = whole.path.parent / "page.html"
    write_report([whole.path], out)
    text = out.read_text()
    tables = [(out.with_suffix("") / name).read_text() for name in ("trials.md", "trials.tex")]
    assert f"| {whole.best.number} |" in tables[0] and tables[1].count(r"\begin{tabular}") == 2
    section = text.partition('<section id="tuning">')[2].partition("</section>")[0]
    assert section.count("<tr>") >= 10 and "best so far" in section and "pruned at step" in section
    assert "each finished trial" in section and f"trial {whole.best.number}, the best" in section
    others = text.replace(section, "")
    assert "uniform_probability" not in others.partition('<section id="commands">')[0], (
        "no names of their own"
    )
    assert '<section id="curves">' not in text and "10 trials of 1 search." in text
    for trial in whole.trials:
        assert f"<strong>search, trial {trial.number}</strong>" in others, "each with its command"
    assert set(whole.importances) == set(SEARCH) and sum(whole.importances.values()) == pytest.approx(1)
    for name, share in whole.importances.items():
        assert f"{name}</th><td>{share:.0%}</td>" in section
    (whole.path / "tune.json").rename(whole.path / "kept.json")
    kept = (whole.path / "kept.json").read_text()
    for damaged in (
        '{"trials": [{}]}',
        kept.replace('"number": 0', '"number": Infinity'),
        kept.replace('"number": 0', f'"number": {10**400}'),
    ):
        assert damaged != kept
        said = {name: value for name, value in json.loads(damaged).items() if name != "sha256"}
        write_sealed(whole.path / "tune.json", said)
        notes = write_report([whole.path], out).notes
        assert any("tune.json is damaged" in note and "sha256" not in note for note in notes)
    (whole.path / "kept.json").rename(whole.path / "tune.json")


def test_a_return_of_zero_may_be_the_best() -> None:
    scores = {0: -3.0, 1: 0.0, 2: -1.0, 3: None}
    trials = [
        {"number": number, "state": "finished", "score": score, "curve": ((20.0,), (score or 0.0,))}
        for number, score in scores.items()
    ]
    panels = history_panels([RecordedTuning(Path(), "search", tuple(trials), {})])
    assert [series.label for panel in panels for series in panel.series][-1] == "trial 1, the best"


def test_a_changed_digit_is_refused_and_without_the_file_the_same_trials_are_chosen(whole: Tuned) -> None:
    file = whole.path / "tune.json"
    kept = file.read_text()
    file.write_text(kept.replace('"score": -', '"score": -9', 1))
    assert file.read_text() != kept
    with pytest.raises(RunFailed, match=r"not what its sha256 says; delete it and give the same command"):
        tune(tuning_of("search", given()), whole.path, lambda: Here(0))
    page = write_report([whole.path], whole.path.parent / "page.html")
    assert any("tune.json is damaged" in note for note in page.notes)
    file.unlink()
    again = tune(tuning_of("search", given()), whole.path, lambda: Here(0))
    assert again.trials == whole.trials and file.read_text() == kept


def test_a_finished_search_is_left_alone_and_another_search_is_refused(whole: Tuned) -> None:
    with pytest.raises(InvalidInput, match="holds another search"):
        tune(tuning_of("search", given(seed=1)), whole.path, Here)
    again = tune(tuning_of("search", given()), whole.path, lambda: Here(0))
    assert again.trials == whole.trials


def test_choices_learn_from_what_came_before_and_settings_are_never_run_twice() -> None:
    search = tuning_of("search", given(trials=40))
    known = [
        Trial(
            i,
            {"uniform_probability": (i % 10) / 10, "learning_starts": 6},
            (f"r{i}",),
            {},
            "finished",
            -(i % 10),
        )
        for i in range(30)
    ]
    chosen = _next_trials(search, known, 5)
    assert chosen == _next_trials(search, known, 5)
    low = [trial.settings["uniform_probability"] for trial in chosen]
    assert sum(low) / len(low) < 0.4, "near 0, where the score is best"
    tight = tuning_of("search", given() | {"search": {"learning_starts": [6]}})
    one, two = _next_trials(tight, [], 2)
    assert two == Trial(1, one.settings, one.runs)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"tune": {**given()["tune"], "agents": ["sac"]}},
            "unknown key of \\[tune\\] 'agents'.*nearest first: agent",
        ),
        ({"search": {}}, r"\[search\] names no setting"),
        ({"search": {"lr": [1e-3]}}, "unknown setting 'lr'; known, nearest first: learning_rate"),
        ({"search": {"width": 8}}, "is no search"),
        ({"search": {"width": {"low": 0, "high": 8}}}, "width=0.0 is not valid"),
        ({"search": {"learning_rate": {"low": 0.0, "high": 1.0, "log": True}}}, "is no range"),
        ({"search": {"width": {"low": 1, "high": 8, "steps": 2}}}, "unknown part of width 'steps'"),
        ({"search": {"eval_every": [1, 2]}}, "both in"),
    ],
)
def test_a_file_that_cannot_be_searched_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        tuning_of("search", given() | {"settings": {"eval_every": 20}} | changed)


def test_ranges_are_whole_where_the_setting_is() -> None:
    search = {"width": {"low": 8, "high": 64, "step": 8}, "discount": {"low": 0.9, "high": 0.99}}
    found = tuning_of("search", given() | {"search": search, "settings": {}}).search
    assert found["width"] == Searched(None, 8, 64, False, 8, whole=True)
    assert found["discount"] == Searched(None, 0.9, 0.99, False, None, whole=False)


def test_the_command_says_what_is_missing_and_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(
        f'[tune]\nagent = "sac"\nenvironment = "{ENV}"\nsteps = 20\ntrials = 2\ntogether = 1\n'
        "[search]\nlearning_starts = [10, 30]\n"
        "[settings]\neval_every = 20\neval_episodes = 1\nwidth = 4\nbatch_size = 4\n"
    )
    monkeypatch.setattr("optac.commands.tune.executor_of", lambda arguments: Here())
    assert main(["tune", str(file), "--out", str(tmp_path / "out"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["trials"]) == 2 and said["best"]["state"] == "finished"
    assert main(["tune", str(file), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "the best again: optac train probe/Drifting-v0 --agent sac --steps 20" in shown
    monkeypatch.setattr("optac.errors.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"optac\[tune\]"):
        tune(tuning_of("search", given()), tmp_path / "other", Here)


def test_values_that_are_refused_together_are_a_failed_trial_and_the_search_goes_on(tmp_path: Path) -> None:
    search = {"actor_every": [1, 2], "delay_ends": {"low": 10, "high": 50}}
    asked = given(trials=6, steps=20) | {"search": search}
    asked["settings"] = {name: value for name, value in SETTINGS.items() if name != "actor_every"}
    found = tune(tuning_of("search", asked), tmp_path / "a", Here)
    refused = [one for one in found.trials if one.settings["actor_every"] == 1]
    assert 0 < len(refused) < 6 == len(found.trials)
    assert all(one.state == "failed" and "would change nothing" in str(one.why) for one in refused)
    assert all(one.state in ("finished", "pruned") for one in found.trials if one not in refused)
    again = tune(tuning_of("search", asked), tmp_path / "a", Here)
    assert again.trials == found.trials


@pytest.mark.parametrize("step", [2.5, 0.5])
def test_a_step_between_whole_numbers_is_refused(step: float) -> None:
    search = {"width": {"low": 8, "high": 64, "step": step}}
    with pytest.raises(InvalidInput, match=r"width\.step"):
        tuning_of("search", given() | {"search": search, "settings": {}})
