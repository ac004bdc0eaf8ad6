"""A training of the bench ends with its CPU time, is valued for nothing, and is made once."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from optac import provenance
from optac.cli import main
from optac.commands import bench
from optac.errors import InvalidInput, RunFailed
from optac.provenance import all_versions, source_hash
from optac.runs.folder import RunFolder
from optac.studies.bench import BENCHES, cpu_training, returns
from optac.studies.bench.cpu_training import Budget, Training, Watch
from optac.studies.bench.returns import CONTENDERS, Contender, fresh_environment, measure, trained
from optac.studies.bench.returns_report import by_seed, curves, draw, lines, summary, verdicts
from scripts.bench_pages import readme_returns, returns_part, returns_rows

SHORT = {"minutes": 1.0, "evaluations": 2, "episodes": 1}


def row(contender: str, seed: int, values: list[float], task: str = "Hopper-v5", **more) -> dict:
    curve = [
        {"share": i, "cpu_seconds": 60.0 * i, "steps": 100 * i, "returns": [value - 1, value + 1]}
        for i, value in enumerate(values, start=1)
    ]
    cost = {"steps": 1_000, "cpu_seconds": 50.0, "peak_rss_bytes": 300_000_000, "commit": "0123abc456"}
    what = {"cell": f"{task} {contender} seed={seed}", "contender": contender, "task": task, "seed": seed}
    return {**what, "curve": curve, "load_average": [0.5, 2.0], "processor": "P 1", **cost, **more}


ROWS = [
    row("sbx-sac", 0, [10, 30]),
    row("crffsac", 0, [20, 40]),
    row("crffsac", 1, [10, 60], peak_rss_bytes=500_000_000),
    row("crffsac", 2, [30, 50]),
    row("sbx-sac", 1, [10, 20]),
    row("sbx-sac", 2, [10, 45]),
    *(row("sbx-sac", seed, [10, 300], task="HalfCheetah-v5") for seed in range(3)),
    *(row("crffsac", seed, [10, 200], task="HalfCheetah-v5") for seed in range(3)),
]


class Machine:
    """A clock that training and playing move on by what they cost."""

    def __init__(self, monkeypatch, *, playing: float) -> None:
        self.time, self.played = 0.0, []

        def play(act, task, seeds):
            self.time += playing
            self.played.append(seeds)
            return [float(act(seed)) for seed in seeds]

        monkeypatch.setattr(cpu_training, "play", play)

    def trained(self, blocks, **asked) -> Watch:
        wanted = {"cpu_seconds": 10.0, "evaluations": 5, "episodes": 2} | asked
        watch = Watch(Training("sac", "Pendulum-v1", **{"seed": 0} | wanted), Budget(lambda: self.time))
        for steps, seconds in enumerate(blocks, start=1):
            self.time += seconds
            if not watch.goes_on(steps, lambda seed: 7):
                return watch
        raise AssertionError("it never ended")


def test_the_cpu_time_of_evaluations_is_not_counted(monkeypatch):
    machine = Machine(monkeypatch, playing=100.0)
    watch = machine.trained([1.0] * 1_000)
    assert [point["cpu_seconds"] for point in watch.curve] == [2, 4, 6, 8, 10]
    assert [point["steps"] for point in watch.curve] == [2, 4, 6, 8, 10]
    assert watch.budget.evaluating == 500 and watch.curve[0]["returns"] == [7, 7]


def test_what_comes_before_the_first_step_is_counted(monkeypatch):
    """Imports, and a first block that compiles for longer than three shares: it is valued once."""
    machine = Machine(monkeypatch, playing=0.5)
    machine.time = 3.0
    watch = machine.trained([4.0, *[1.0] * 100])
    assert [(point["share"], point["cpu_seconds"], point["steps"]) for point in watch.curve] == [
        (3, 7.0, 1),
        (4, 8.0, 2),
        (5, 10.0, 4),
    ]


def test_evaluations_have_seeds_of_their_own_that_are_the_same_for_every_contender(monkeypatch):
    drawn = []
    for seed, seconds in ((0, 1.0), (0, 2.0), (1, 1.0)):
        machine = Machine(monkeypatch, playing=0.0)
        machine.trained([seconds] * 100, seed=seed)
        drawn.append(machine.played)
    fast, slow, other = drawn
    assert fast == slow
    every = [seed for played in (fast, other) for seeds in played for seed in seeds]
    assert len(set(every)) == len(every) == 2 * 5 * 2 and min(every) > 1_000


def test_an_agent_of_ours_trains_in_a_process_of_its_own_until_its_cpu_time_is_used_up():
    """It never gets past its random start, so that nothing large is compiled."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"learning_starts": 10**6, "width": 8}
    made = trained("sac", "Pendulum-v1", 3, minutes=0.1, evaluations=3, episodes=2, settings=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert made["cpu_seconds"] >= 6.0 and made["evaluation_cpu_seconds"] > 0
    assert made["cpu_seconds"] + made["evaluation_cpu_seconds"] <= whole
    last = made["curve"][-1]
    assert last["share"] == 3 and last["steps"] == made["steps"] and made["steps"] % 10 == 0
    assert all(-2_000 < value < 0 for point in made["curve"] for value in point["returns"])
    assert 5e7 < made["peak_rss_bytes"] < 5e9 and len(last["returns"]) == 2
    assert made["processor"] and made["processor"] == all_versions()["processor"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CONTENDERS if CONTENDERS[name].is_installed()])
def test_every_contender_that_is_installed_learns_within_its_cpu_time(name):
    made = trained(name, "Pendulum-v1", 0, minutes=0.4, evaluations=2, episodes=2)
    assert made["cpu_seconds"] >= 24 and made["curve"][-1]["share"] == 2
    assert set(made["packages"]) == set(CONTENDERS[name].packages)


def test_a_training_ends_when_the_process_that_started_it_is_gone():
    asked = Training("sac", "Pendulum-v1", 0, 60.0, 1, 1, parent=os.getpid() + 1)
    command = [sys.executable, "-m", "optac.studies.bench.cpu_training"]
    done = subprocess.run(
        command, input=json.dumps(asdict(asked)), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr


def test_a_row_of_other_code_is_refused() -> None:
    settings = {"learning_starts": 10**6, "width": 8}
    how = {"minutes": 0.05, "evaluations": 1, "episodes": 1, "settings": settings}
    with pytest.raises(RunFailed, match="the code changed while sac was trained on Pendulum-v1, seed 0"):
        trained("sac", "Pendulum-v1", 0, **how, code=source_hash(Path(__file__).parent))


def test_a_training_that_fails_is_reported_with_its_last_words(monkeypatch):
    monkeypatch.setitem(CONTENDERS, "nobody", Contender("Nobody", module="optac.nobody"))
    with pytest.raises(
        RunFailed, match=r"(?s)nobody on Hopper-v5, seed 2, ended.*No module named 'optac.nobody'"
    ):
        trained("nobody", "Hopper-v5", 2, **SHORT)


def test_a_peer_finds_tasks_of_ours(tmp_path, monkeypatch):
    (tmp_path / "peer.py").write_text(
        "import gymnasium\n"
        "def learn(training, goes_on):\n"
        "    action, step = gymnasium.make(training.task).action_space.sample(), 0\n"
        "    while goes_on(step, lambda obs: action):\n"
        "        step += 1\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(CONTENDERS, "peer", Contender("Peer", module="peer"))
    made = trained("peer", "optac/Pendulum-v0", 0, minutes=0.001, evaluations=1, episodes=1)
    assert made["curve"][-1]["share"] == 1


def test_no_training_finds_what_another_compiled(monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/somewhere")
    monkeypatch.setenv("OPTAC_COMPILATION_CACHE", "/elsewhere")
    given = fresh_environment()
    assert not [name for name in given if name.startswith("JAX_") and name != "JAX_PLATFORMS"]
    assert given["OPTAC_COMPILATION_CACHE"] == "off" and given["OMP_NUM_THREADS"] == "1"


@pytest.fixture
def made(monkeypatch) -> list[str]:
    """Trainings cost nothing, and are listed as they are made."""
    done: list[str] = []

    def instead(contender, task, seed, **how):
        done.append(f"{task} {contender} {seed}")
        made = row(contender, seed, [1.0, float(len(done))], task=task, processor=returns.processor())
        del made["cell"]  # which whoever asks for it adds
        return made

    instead.__module__, instead.__name__ = returns.__name__, "trained"
    monkeypatch.setattr(returns, "trained", instead)
    return done


OURS = {"tasks": ["Hopper-v5", "Pendulum-v1"], "contenders": ["crffsac", "sac"], **SHORT}


def test_a_finished_training_is_not_made_again(tmp_path: Path, made: list[str]) -> None:
    measure(out=tmp_path, seeds=1, **OURS)
    first = (tmp_path / "returns" / "metrics.jsonl").read_bytes()
    assert made == ["Hopper-v5 crffsac 0", "Hopper-v5 sac 0", "Pendulum-v1 crffsac 0", "Pendulum-v1 sac 0"]
    found = measure(out=tmp_path, seeds=2, **OURS)
    assert [name[-1] for name in made] == list("00001111")
    assert (tmp_path / "returns" / "metrics.jsonl").read_bytes().startswith(first)
    assert found["rows"] == 8 and found["tasks"]["Pendulum-v1"]["sac"]["return"] == [4, 8]


def test_a_bench_that_was_stopped_goes_on_with_what_has_no_row(tmp_path: Path, made: list[str], monkeypatch):
    whole = returns.trained

    def stopped(**asked):
        if len(made) == 3:
            raise KeyboardInterrupt
        return whole(**asked)

    stopped.__module__, stopped.__name__ = returns.__name__, "trained"
    monkeypatch.setattr(returns, "trained", stopped)
    with pytest.raises(KeyboardInterrupt):
        measure(out=tmp_path, seeds=1, **OURS)
    monkeypatch.setattr(returns, "trained", whole)
    measure(out=tmp_path, seeds=1, **OURS)
    assert len(made) == len(set(made)) == 4


def test_what_is_named_twice_is_trained_once(tmp_path: Path, made: list[str]) -> None:
    measure(out=tmp_path, seeds=1, tasks=["Hopper-v5"] * 2, contenders=["sac", "sac"], **SHORT)
    assert made == ["Hopper-v5 sac 0"]


def test_trainings_of_another_length_have_another_folder(tmp_path: Path, made: list[str]) -> None:
    measure(out=tmp_path, seeds=1, **OURS)
    with pytest.raises(InvalidInput, match="differs in minutes"):
        measure(out=tmp_path, seeds=1, **OURS | {"minutes": 2.0})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"minutes": 0.0}, "minutes"),
        ({"seeds": 0}, "seeds"),
        ({"tasks": ["Hoper-v5"]}, "Hoper-v5"),
        ({"contenders": ["sb3"]}, "unknown contender"),
        ({"contenders": ["absent"]}, "absent is there: pip install"),
    ],
)
def test_what_no_training_can_be_made_of_is_refused(tmp_path, made, wrong, said, monkeypatch):
    monkeypatch.setitem(CONTENDERS, "absent", Contender("Absent", needs="no_such_library"))
    with pytest.raises(InvalidInput, match=said):
        measure(out=tmp_path, **{"seeds": 1, **OURS, **wrong})
    assert made == [] and not (tmp_path / "returns").exists()


def test_the_table_has_medians_and_ranges_of_seeds():
    found = summary(ROWS)
    assert list(found["Hopper-v5"]) == ["crffsac", "sbx-sac"]
    assert lines(found["Hopper-v5"]) == [
        ["optac cRFFSAC", "3", "50 (40–60)", "1,000", "20", "300"],
        ["SBX SAC", "3", "30 (20–45)", "1,000", "20", "300"],
    ]
    assert lines(found["HalfCheetah-v5"])[0][0] == "SBX SAC"
    assert verdicts(found) == [
        "On Hopper-v5 cRFFSAC's median return was reached by nobody else. "
        "Its seeds' range overlaps with SBX SAC's.",
        "On HalfCheetah-v5 cRFFSAC's median return was reached by SBX SAC. "
        "Its seeds' range overlaps with nobody else's.",
    ]
    own = {"Hopper-v5": {**found["Hopper-v5"], "sac": {"return": [70, 80, 60]}}}
    assert verdicts(own)[0].startswith("On Hopper-v5 cRFFSAC's median return was reached by optac SAC. ")


def test_contenders_are_compared_by_the_seeds_that_all_of_them_have():
    """Stopped midway: SAC, the better on the seed that both have, has not the other, on which all do well."""
    early = [row("crffsac", 0, [0, 100]), row("sac", 0, [0, 500]), row("crffsac", 1, [0, 1_000])]
    found = summary(early)
    assert [line[:3] for line in lines(found["Hopper-v5"])] == [
        ["optac SAC", "1", "500 (500–500)"],
        ["optac cRFFSAC", "1", "100 (100–100)"],
    ]
    assert verdicts(found) == ["On Hopper-v5 fewer than 3 seeds are in: too few to tell who is ahead."]
    assert "| Hopper-v5, 1 seed |" in readme_returns(early)


def test_a_curve_has_the_evaluations_that_every_seed_has(tmp_path: Path) -> None:
    late = row("crffsac", 3, [5, 45])
    del late["curve"][0]
    ours = [one for one in ROWS if (one["contender"], one["task"]) == ("crffsac", "Hopper-v5")]
    assert curves(ours) == {1.0: [20, 10, 30], 2.0: [40, 60, 50]}
    assert curves([*ours, late]) == {2.0: [40, 60, 50, 45]}
    draw([*ROWS, late], tmp_path / "returns.png")
    drawn = (tmp_path / "returns.svg").read_text()
    assert (tmp_path / "returns.png").stat().st_size > 10_000 and "CPU-minutes" in drawn


def test_a_seed_counts_where_one_processor_made_all_its_trainings() -> None:
    slow = row("crffsac", 0, [1, 1], processor="P 2"), row("sbx-sac", 0, [1, 1], processor="P 2")
    assert summary([*ROWS, *slow]) == summary([slow[0], *ROWS]) == summary(ROWS)
    mixed = [
        one for one in ROWS if (one["task"], one["contender"], one["seed"]) != ("Hopper-v5", "sbx-sac", 0)
    ]
    assert [len(one["return"]) for one in summary([*mixed, slow[1]])["Hopper-v5"].values()] == [2, 2]


def test_what_another_processor_began_is_begun_anew_and_what_it_finished_is_not(
    tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = OURS | {"tasks": ["Hopper-v5"]}
    monkeypatch.setattr(returns, "processor", lambda: "P 1")
    measure(out=tmp_path, seeds=1, **asked)
    measure(out=tmp_path, seeds=2, **asked | {"contenders": ["sac"]})
    monkeypatch.setattr(returns, "processor", lambda: "P 2")
    measure(out=tmp_path, seeds=2, **asked)
    assert [name[-1] for name in made] == list("00111") and len(
        RunFolder.open(tmp_path / "returns").rows()
    ) == 5
    measure(out=tmp_path, seeds=2, **asked)
    assert len(made) == 5


def test_pages_say_how_many_trainings_are_in_and_what_they_came_to():
    page, readme = returns_part(ROWS), readme_returns(ROWS)
    assert "12 of 30 trainings are in, at commit 0123abc, on P 1 (seed 0 of Hopper-v5, seed 1 of" in page
    moved = [
        one | {"processor": "P 2"} if (one["task"], one["seed"]) == ("Hopper-v5", 2) else one for one in ROWS
    ]
    assert "and P 2 (seed 2 of Hopper-v5). `optac bench returns" in returns_part(moved)
    assert "The machine's load average at their starts and ends was 0.5 to 2.0." in page
    assert "| optac cRFFSAC | 3 | 50 (40–60) | 1,000 | 20 | 300 |" in page
    assert "| optac cRFFSAC | 50 (40–60) | 200 (200–200) | 20 / 20 | 300 / 300 |" in readme
    assert "| Hopper-v5, 3 seeds | HalfCheetah-v5, 3 seeds | steps per CPU-second, Hopper / HalfC" in readme
    assert "**not measured yet.**" in returns_part([]) and "returns.png" not in returns_part([])


def test_seeds_stand_beside_each_other_and_what_is_missing_is_a_dash() -> None:
    columns, shown = by_seed([row("sbx-sac", 0, [10, 1030]), row("crffsac", 1, [10, -60])])
    assert columns == ["", "seed 0", "seed 1"]
    assert shown == [["optac cRFFSAC", "—", "−60"], ["SBX SAC", "1,030", "—"]]


def test_pages_are_of_twenty_minutes_alone(tmp_path: Path, made: list[str]) -> None:
    assert returns_rows(tmp_path) == []
    measure(out=tmp_path / "bench", seeds=1, **OURS)
    with pytest.raises(InvalidInput, match="trainings of 1 minutes, not of 20"):
        returns_rows(tmp_path)
    measure(out=tmp_path / "whole" / "bench", seeds=1, **OURS | {"minutes": 20.0})
    found = returns_rows(tmp_path / "whole")
    assert [one["task"] for one in found] == ["Hopper-v5"] * 2, "the table is not about Pendulum-v1"


def test_a_bench_of_ten_hours_is_measured_only_by_name(monkeypatch, capsys, tmp_path):
    asked = {}

    def module(name):
        measure = lambda **told: asked.setdefault(name.rpartition(".")[2], told)  # noqa: E731
        return SimpleNamespace(measure=measure, show=lambda measured: None)

    monkeypatch.setattr(bench, "import_module", module)
    assert main(["bench"]) == 0 and set(asked) == BENCHES.keys() - {"returns"}
    assert main(["bench", "returns", "--minutes", "2", "--seeds", "1", "--quiet"]) == 0
    assert asked["returns"] == {"minutes": 2.0, "seeds": 1, "out": None, "peer_python": None, "quiet": True}
    assert main(["bench", "agents", "--minutes", "2"]) == 2
    assert "--minutes: for `optac bench returns` alone" in capsys.readouterr().err


def test_rows_have_the_commit_that_made_them(tmp_path: Path, made: list[str]) -> None:
    measure(out=tmp_path, seeds=1, **OURS)
    folder = RunFolder.open(tmp_path / "returns")
    assert folder.config["minutes"] == 1.0 and folder.config["versions"]["processor"]
    assert all("commit" in one for one in folder.rows())


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("model name\t: AMD EPYC\ncpu family\t: 26\nmodel\t\t: 2\n", "AMD EPYC (family 26, model 2)"),
        (
            "cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\nmodel\t: 9\n",
            "AMD EPYC (family 25, model 17)",
        ),
        ("processor\t: 0\nmodel name\t: Cortex-A72\n", "Cortex-A72"),
    ],
)
def test_processors_of_one_name_are_told_apart_by_family_and_model(monkeypatch, told: str, name: str) -> None:
    monkeypatch.setattr(provenance, "_cpuinfo", told.splitlines)
    provenance.processor.cache_clear()
    try:
        assert provenance.processor() == name
    finally:
        provenance.processor.cache_clear()
