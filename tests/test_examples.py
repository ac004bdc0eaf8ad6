"""The examples run, and show what they say."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
PACKAGES = sorted(file.parent for file in EXAMPLES.glob("*/pyproject.toml"))
COMMAND = [sys.executable, "-c", "import sys; from optac.cli import main; sys.exit(main(sys.argv[1:]))"]
SMALL_AGENT = {"width": 8, "batch_size": 8, "learning_starts": 20, "actor_every": 1, "eval_every": 0}
BY_LOCATION = {
    "algorithms": ["optimistic_q", "opt-ac"],
    "problems": ["inventory:inventory capacity=2 horizon=3"],
    "model_class": "homogeneous:HomogeneousClass",
}
BY_NAME = {
    "algorithms": ["optimistic-q", "opt-ac"],
    "problems": ["inventory capacity=2 horizon=3"],
    "model_class": "homogeneous",
}


def optac(*words: str, folder: Path, path: str = "") -> "subprocess.CompletedProcess[str]":
    """The command in a folder of its own, with `path` on Python's path as an installed package's folder is."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=environment, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A path with every package and its entry points, as `pip install -e` leaves them."""
    places = []
    for package in PACKAGES:
        place = tmp_path_factory.mktemp("installed") / package.name
        shutil.copytree(package, place)
        build = [sys.executable, "-W", "ignore", "-c", "import setuptools; setuptools.setup()", "egg_info"]
        subprocess.run(build, cwd=place, check=True, capture_output=True)
        places.append(str(place))
    return os.pathsep.join(places)


def test_fourier_example_recovers_a_density_and_comes_within_five_percent(tmp_path) -> None:
    figure = tmp_path / "figure.png"
    command = [sys.executable, str(EXAMPLES / "fourier_features.py"), str(figure)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    errors = [float(error) for error in re.findall(r"W = 2: (\d\.\d+)", said)]
    assert len(errors) == 3 and errors[0] > errors[1] > errors[2] < 0.1
    assert "mixture: " in said and "not within" not in said
    assert figure.stat().st_size > 10_000


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_an_example_package_is_short_and_passes_its_own_tests(package: Path) -> None:
    parts = [file for file in package.glob("*.py") if not file.name.startswith("test_")]
    assert sum(len(part.read_text().splitlines()) for part in parts) < 80
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "."]
    done = subprocess.run(command, cwd=package, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_examples_run_by_location_from_the_folders_that_path_names(tmp_path: Path) -> None:
    words = [
        "solve",
        "inventory:inventory",
        "capacity=2",
        "--algorithm",
        "optimistic_q",
        "--iterations",
        "5",
        "--json",
    ]
    refused = optac(*words, folder=tmp_path)
    assert (
        refused.returncode == 2 and "no module inventory" in refused.stderr and "--path DIR" in refused.stderr
    )
    folders = [word for name in ("inventory", "optimistic_q") for word in ("--path", str(EXAMPLES / name))]
    done = optac(*words, *folders, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["algorithm"] == "optimistic_q" and said["problem"] == "inventory" and said["bill"]["SL"] == 0
    config = json.loads((tmp_path / said["out"] / "config.json").read_text())
    assert config["path"] == [str(EXAMPLES / "inventory"), str(EXAMPLES / "optimistic_q")]


def test_examples_run_by_the_names_their_packages_register(tmp_path: Path, installed: str) -> None:
    listed = json.loads(optac("list", "--json", folder=tmp_path, path=installed).stdout)
    assert listed["problems"]["inventory"].endswith("(from optac-inventory 1.0)")
    assert listed["model classes"]["homogeneous"].endswith("(from optac-homogeneous 1.0)")
    assert listed["algorithms"]["optimistic-q"].endswith("(from optac-optimistic-q 1.0)")
    words = ["solve", "inventory", "--algorithm", "optimistic-q", "--iterations", "5", "--json"]
    done = optac(*words, folder=tmp_path, path=installed)
    assert json.loads(done.stdout)["algorithm"] == "optimistic-q", done.stderr


def test_the_example_agent_trains_by_the_name_its_package_registers(tmp_path: Path, installed: str) -> None:
    listed = json.loads(optac("list", "--json", folder=tmp_path, path=installed).stdout)
    assert listed["agents"]["scaled-sac"].endswith("(from optac-scaled-sac 1.0)")
    settings = [word for name, value in SMALL_AGENT.items() for word in ("--set", f"{name}={value}")]
    words = ["train", "Pendulum-v1", "--agent", "scaled-sac", "--steps", "30", "--json", *settings]
    done = optac(*words, folder=tmp_path, path=installed)
    assert done.returncode == 0 and json.loads(done.stdout)["agent"] == "scaled-sac", done.stderr


def test_the_example_agent_trains_in_a_sweep_with_two_workers_and_is_resumed(tmp_path: Path) -> None:
    place = str(EXAMPLES / "scaled_sac")
    lines = [
        "[sweep]",
        'agents = ["scaled_sac"]',
        'environments = ["Pendulum-v1"]',
        "seeds = 2",
        "steps = 30",
    ]
    lines += [f"path = {json.dumps([place])}", "[settings]", *(f"{k} = {v}" for k, v in SMALL_AGENT.items())]
    (tmp_path / "mine.toml").write_text("\n".join(lines))
    done = optac("sweep", "mine.toml", "--jobs", "2", "--out", "swept", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert {run["state"] for run in runs} == {"finished"} and len(runs) == 2
    words = [
        "resume",
        str(next((tmp_path / "swept").glob("*/config.json")).parent),
        "--json",
        "--path",
        place,
        "--trust",
    ]
    resumed = optac(*words, folder=tmp_path)
    assert resumed.returncode == 0 and json.loads(resumed.stdout)["steps"] == 30, resumed.stderr


@pytest.mark.parametrize("names", [BY_LOCATION, BY_NAME], ids=["location", "name"])
def test_examples_run_in_a_sweep_with_two_workers(
    names: dict[str, object], tmp_path: Path, installed: str
) -> None:
    path = sorted(str(package) for package in PACKAGES) if names is BY_LOCATION else []
    lines = [f"{axis} = {json.dumps(names[axis])}" for axis in ("algorithms", "problems")]
    lines = ["[sweep]", *lines, "iterations = 5", f"path = {json.dumps(path)}" if path else ""]
    lines += ["[settings.opt-ac]", f"model_class = {json.dumps(names['model_class'])}"]
    (tmp_path / "mine.toml").write_text("\n".join(lines))
    words = ["sweep", "mine.toml", "--jobs", "2", "--json"]
    done = optac(*words, folder=tmp_path, path="" if path else installed)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {run["state"] for run in said["runs"]} == {"finished"} and len(said["runs"]) == 2
