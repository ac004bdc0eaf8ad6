"""The command: what it prints, where it writes, how it refuses."""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from optac.algorithms.protocol import load_algorithm
from optac.cli import build_parser, main
from optac.meanings import meanings
from optac.runs.solve_snapshots import unpacked
from tests.random_problems import random_problem


def run(*words: str) -> int:
    try:
        return main(list(words))
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_solve_prints_one_json_object_and_nothing_else(capsys) -> None:
    assert run("solve", "combination-lock", "horizon=3", "actions=2", "--iterations", "20", "--json") == 0
    output = capsys.readouterr()
    said = json.loads(output.out)
    results = {"episodes", "optimal_value", "value", "gap", "last_gap", "certificate", "bill", "seconds"}
    wanted = {"problem", "algorithm", "seed"} | results
    assert wanted <= set(said)
    assert said["bill"]["SL"] == 40 and said["episodes"] == 60 and said["optimal_value"] == 1.0
    assert output.err == ""


def test_solve_fills_a_runs_folder(capsys) -> None:
    words = [
        "solve",
        "combination-lock",
        "horizon=3",
        "actions=2",
        "--iterations",
        "20",
        "--seed",
        "4",
        "--out",
        "mine",
    ]
    assert run(*words, "--set", "alpha=0.5") == 0
    folder = Path("mine")
    config = json.loads((folder / "config.json").read_text())
    assert config["settings"] == {"alpha": 0.5} and config["seed"] == 4 and "numpy" in config["versions"]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert len(rows) == 20 and rows[-1]["episodes"] == 60
    assert not any("second" in key and not key.startswith("time/") for key in rows[0])
    assert json.loads((folder / "status.json").read_text())["state"] == "finished"
    assert json.loads((folder / "result.json").read_text())["settings"]["alpha"] == 0.5
    with np.load(folder / "policy.npz", allow_pickle=False) as stored:
        assert stored["probabilities"].shape == (3, 3, 2)
    shown = capsys.readouterr().out
    assert "alpha=0.5" in shown and "bill" in shown and "SL 40, PE 20, PP 0, CP 0" in shown
    assert run(*words) == 2
    assert "already holds a run" in capsys.readouterr().err


def test_the_same_command_twice_writes_two_folders(capsys) -> None:
    for _ in range(2):
        assert run("solve", "river-swim", "horizon=3", "--iterations", "2", "--quiet") == 0
    names = sorted(path.name for path in Path("runs").iterdir())
    assert len(names) == 2 and names[1] == f"{names[0]}-2" and names[0].startswith("opt-ac-river-swim")


def test_solve_takes_a_users_own_arrays(capsys) -> None:
    random_problem(0).save("mine.npz")
    assert run("solve", "mine.npz", "--iterations", "5", "--json", "--set", "rank=3") == 0
    assert json.loads(capsys.readouterr().out)["problem"] == "mine.npz"


def test_solve_takes_a_toy_text_environment(capsys) -> None:
    assert run("solve", "FrozenLake-v1", "horizon=5", "is_slippery=false", "--iterations", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["problem"] == "FrozenLake-v1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solv"], "unknown command 'solv'; known, nearest first: solve"),
        ([], "the following arguments are required: COMMAND"),
        (
            ["solve", "combination-lok"],
            "unknown problem 'combination-lok'; known, nearest first: combination-lock",
        ),
        (["solve", "combination-lock", "horizn=3"], "unknown parameter of combination-lock 'horizn'"),
        (["solve", "combination-lock", "horizon"], "'horizon' is not a parameter; write it as name=value"),
        (["solve", "combination-lock", "horizon=2", "horizon=3"], "horizon is given twice: 2 and 3"),
        (["solve", "combination-lock", "horizon=0"], "horizon=0 is too small"),
        (["solve", "combination-lock", "--algorithm", "optca"], "unknown algorithm 'optca'"),
        (["solve", "combination-lock", "--algorithm", "optac"], "Did you mean opt-ac?"),
        (["solve"], "the following arguments are required: PROBLEM"),
        (["solve", "combination-lock", "--iterations", "0"], "iterations=0 is not valid"),
        (
            ["solve", "combination-lock", "--iterations", "many"],
            "argument --iterations: 'many' is not a whole number",
        ),
        (
            ["solve", "combination-lock", "--set", "alfa=1"],
            "unknown setting 'alfa'; known, nearest first: alpha",
        ),
        (["solve", "combination-lock", "--set", "alpha"], "'alpha' is not a setting; write it as name=value"),
        (["solve", "combination-lock", "--set", "rank=31"], "rank=31 is out of range"),
        (
            ["solve", "combination-lock", "--set", "rank=big"],
            "rank=big is not valid; rank must be a whole number",
        ),
        (["solve", "combination-lock", "--set", "keep_members=2"], "keep_members must be true or false"),
        (["solve", "combination-lock", "--set", "seed=2"], "set seed with --seed, not with --set"),
        (["solve", "combination-lock", "--preset", "practicle"], "unknown preset 'practicle'"),
        (["solve", "combination-lock", "--out", "/proc/none"], "cannot write to /proc/none"),
        (["solve", "none.npz"], "no such file: none.npz"),
        (["solve", "FrozenLake-v1"], "FrozenLake-v1 needs a horizon"),
        (
            ["solve", "FrozenLake-v1", "horizon=abc"],
            "horizon=abc is not valid; horizon must be a whole number",
        ),
        (["solve", "my-values"], "unknown problem 'my-values'"),
        (
            ["solve", "combination-lock", "seed=-1"],
            "seed=-1 is not valid; seed must be a whole number, at least 0",
        ),
        (["solve", "combination-lock", "--set", "lam=0"], "lam must be above 0"),
        (["solve", "combination-lock", "--set", "rho=uniform"], "set rho with the Python keyword"),
        (["solve", "combination-lock", "--set", "problem=1"], "set problem with the first argument"),
        (["solve", "combination-lock", "--iterations", "5", "--episodes", "3"], "less than one round"),
        (["solve", "CartPole-v1", "horizon=3"], "has no transition table"),
        (["bench", "theories"], "unknown bench 'theories'; known, nearest first: theory"),
    ],
)
def test_bad_input_exits_two_with_one_line_and_leaves_nothing(words: list[str], message: str, capsys) -> None:
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    last = error.strip().splitlines()[-1]
    assert last.startswith("optac: error: ") and message in last
    assert list(Path().iterdir()) == []


def test_wrong_array_shapes_and_nan_from_a_file_are_refused(capsys) -> None:
    problem = random_problem(0)
    np.savez("shapes.npz", phi=problem.phi[:, :4], mu=problem.mu, rewards=problem.rewards)
    assert run("solve", "shapes.npz") == 2
    assert "needs mu of shape (H, d, S) = (4, 2, 4)" in capsys.readouterr().err
    rewards = problem.rewards.copy()
    rewards[0, 1, 2] = np.nan
    np.savez("nan.npz", phi=problem.phi, mu=problem.mu, rewards=rewards)
    assert run("solve", "nan.npz") == 2
    assert "rewards has nan at (h, s, a) = (0, 1, 2)" in capsys.readouterr().err


def test_list_names_everything_there_is(capsys) -> None:
    assert run("list") == 0
    listed = capsys.readouterr().out
    for name in (
        "combination-lock",
        "lower-bound",
        "opt-ac",
        "epsilon-greedy",
        "optac/HalfCheetah-v0",
        "optac/SparseSwingUp-v0",
        "theory",
    ):
        assert name in listed


@pytest.mark.parametrize("words", [[], ["solve"], ["list"], ["demo"], ["bench"]])
def test_help_reads_and_exits_zero(words: list[str], capsys) -> None:
    assert run(*words, "--help") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: optac") and all(len(line) <= 120 for line in shown.splitlines())


def test_version(capsys) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("optac ")


def test_the_package_runs_as_the_command() -> None:
    ends = [
        subprocess.run([*start, "solve", "nothing"], capture_output=True, text=True, check=False)
        for start in ([sys.executable, "-m", "optac"], [str(Path(sys.executable).with_name("optac"))])
    ]
    assert ends[0].returncode == ends[1].returncode == 2
    assert ends[0].stderr == ends[1].stderr and "unknown problem 'nothing'" in ends[0].stderr


def test_demo_tells_the_story_and_ends_in_a_page(capsys) -> None:
    assert run("demo", "--quiet", "--out", "story", "--steps", "50") == 0
    shown = capsys.readouterr().out
    assert "once in 1,000,000 episodes" in shown and "go further  optac solve" in shown
    assert "opt-ac" in shown and "epsilon-greedy" in shown
    assert Path("story/lock.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(Path("story/opt-ac/result.json").read_text())["last_gap"] < 0.05
    assert json.loads(Path("story/epsilon-greedy/result.json").read_text())["last_gap"] > 0.9
    page = Path(shown.splitlines()[-1])
    text = page.read_text()
    assert page == Path("story/report.html").resolve() and "cRFFSAC" in text and "epsilon-greedy" in text


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_are_recorded_and_tell_in_the_exit_code(name: str, code: int) -> None:
    """In the middle of a real run, in a process of its own."""
    words = ["solve", "combination-lock", "--iterations", "200000", "--out", "cut", "--quiet"]
    script = f"import sys; from optac.cli import main; sys.exit(main({words}))"
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    metrics = Path("cut/metrics.jsonl")
    while not metrics.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    assert process.wait(timeout=120) == code
    status = json.loads(Path("cut/status.json").read_text())
    assert status["state"] == "interrupted" and status["why"].startswith(
        f"interrupted by {name}; `optac resume "
    )
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    kept = unpacked(Path("cut/checkpoints/solve.npz").read_bytes())
    assert kept["row_count"] == len(rows) and kept["run"]["iteration"] >= rows[-1]["iteration"]
    assert [row["iteration"] for row in rows] == [200 * (i + 1) for i in range(len(rows))]


@pytest.mark.parametrize("algorithm", ["opt-ac", "spanrl"])
def test_help_of_solve_lists_the_settings_of_the_algorithm_named_before_it(algorithm: str, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["solve", "--algorithm", algorithm, "--help"])
    shown = capsys.readouterr().out
    said = " ".join(shown.split())
    for name, text in meanings(load_algorithm(algorithm).Settings).items():
        assert text and f"{name} {text}; " in said
    assert " model_class what SL fits" in said and all(len(line) <= 120 for line in shown.splitlines())


def test_help_of_train_lists_the_settings_of_the_agent_named_before_it(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--agent", "sac", "--help"])
    said = capsys.readouterr().out
    assert "batch_size             transitions in one update; a whole number, at least 1 [128]" in said
    assert "bonus_lambda" not in said and "  preset  " not in said


def test_who_stops_reading_ends_the_command_quietly() -> None:
    script = "import sys; from optac.cli import main; sys.exit(main(sys.argv[1:]))"
    for words in (["train", "--help"], ["list"], ["solve", "--help"]):
        command = [sys.executable, "-c", script, *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            process.stdout.close()  # before anything is printed
            said = process.stderr.read()
        assert process.returncode == 141 and said == ""


def test_several_settings_may_follow_one_option_and_a_name_after_them() -> None:
    """Wherever the environment or the problem stands."""

    def read(line: str) -> argparse.Namespace:
        return build_parser().parse_args(line.split())

    for line in (
        "train Pendulum-v1 --set a=1 b=2 --env-kwargs g=5 h=x=y",
        "train --set a=1 b=2 --env-kwargs g=5 h=x=y Pendulum-v1",
        "train --set a=1 --env-kwargs g=5 --set b=2 Pendulum-v1 --env-kwargs h=x=y",
        "train Pendulum-v1 --set a=1 b=2 --seed=3 --env-kwargs g=5 h=x=y --steps=7",
    ):
        found = read(line)
        assert (found.environment, found.settings, found.env_kwargs) == (
            "Pendulum-v1",
            ["a=1", "b=2"],
            ["g=5", "h=x=y"],
        )
    found = read("solve --set alpha=0 opt-ac.eta=1 combination-lock horizon=6 actions=2")
    assert (found.problem, found.parameters) == ("combination-lock", ["horizon=6", "actions=2"])
    assert found.settings == ["alpha=0", "opt-ac.eta=1"]
    assert read("train X --set nonsense a=1").settings == ["nonsense", "a=1"], (
        "which says what is wrong with it"
    )


def test_a_problem_is_required_and_its_parameters_are_not(capsys) -> None:
    assert run("solve") == 2
    assert capsys.readouterr().err.strip().endswith("the following arguments are required: PROBLEM")


def test_a_problem_whose_rewards_were_mapped_is_shown_in_their_own_unit_too(capsys) -> None:
    assert run("solve", "CliffWalking-v1", "horizon=15", "--algorithm", "lsvi-ucb", "--iterations", "1") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "own rewards" in line]
    assert " -13.0000, " in line  # thirteen steps along the cliff, each at −1
    assert run("solve", "combination-lock", "horizon=2", "actions=2", "--iterations", "1") == 0
    assert "own rewards" not in capsys.readouterr().out


def test_with_json_nothing_else_is_printed_there_whoever_prints(tmp_path: Path) -> None:
    """An environment that prints when it is made, in Python and past it, in a process of its own."""
    (tmp_path / "noisy.py").write_text(
        "import os\nimport gymnasium\nfrom gymnasium.envs.classic_control import PendulumEnv\n"
        "class Noisy(PendulumEnv):\n"
        "    def __init__(self, **given):\n"
        "        print('made'); os.write(1, b'made\\n'); super().__init__(**given)\n"
        "gymnasium.register('noisy/E-v0', entry_point=Noisy, max_episode_steps=20)\n"
    )
    words = ["train", "noisy:noisy/E-v0", "--path", str(tmp_path), "--steps", "20", "--json", "--out", "run"]
    words += ["--set", "learning_starts=30", "eval_every=0"]
    command = [sys.executable, "-c", f"import sys; from optac.cli import main; sys.exit(main({words}))"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 20 and "made" in done.stderr


def test_options_of_trainings_are_refused_for_a_solve(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["solve", "combination-lock", "horizon=2", "--iterations", "3", "--out", "run", "--json"]) == 0
    )
    first = json.loads(capsys.readouterr().out)
    assert main(["resume", "run", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert first["seconds"] == again["seconds"] and first["bill"] == again["bill"]
    for option in (["--stop-on-reward", "3"], ["--tensorboard"]):
        assert main(["resume", "run", *option]) == 2
        assert "is for trainings" in capsys.readouterr().err


def test_an_environments_argument_may_have_a_space_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "Ant-v5", "--env-kwargs", "xml_file=/no dir/ant.xml", "--steps", "10"]) == 2
    assert "/no dir/ant.xml" in capsys.readouterr().err
