"""The base install alone: the theory half works without JAX and MuJoCo, and an agent says what to install.

Run by `make test-base` in a fresh environment that holds the wheel without extras.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import optac
from optac.errors import InvalidInput

pytestmark = pytest.mark.base


def optac_command(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    script = Path(sys.executable).with_name("optac")
    return subprocess.run([str(script), *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_neither_jax_nor_mujoco_is_here_and_the_package_is_the_installed_wheel() -> None:
    assert [name for name in ("jax", "equinox", "optax", "mujoco", "torch") if find_spec(name)] == []
    home = Path(optac.__file__).parent
    assert "site-packages" in home.parts and (home / "py.typed").is_file()


def test_a_lock_is_opened() -> None:
    problem = optac.make_problem("combination-lock", horizon=3, actions=3)
    assert optac.solve(problem, "opt-ac", iterations=60, seed=0).last_gap < 0.05


def test_the_demo_of_the_lock_ends_in_a_page(tmp_path: Path) -> None:
    done = optac_command("demo", "--theory", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["opt-ac"]["last_gap"] < 0.05 < said["epsilon-greedy"]["last_gap"]
    assert (tmp_path / said["page"]).stat().st_size > 10_000


def test_everything_is_listed(tmp_path: Path) -> None:
    done = optac_command("list", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "crffsac" in json.loads(done.stdout)["agents"]


@pytest.mark.parametrize("words", [("train", "Pendulum-v1", "--steps", "10"), ("bench", "agents")])
def test_an_agent_says_in_one_line_what_to_install(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = optac_command(*words, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("optac: error:") and "pip install 'optac[agents]'" in line


def test_in_python_too() -> None:
    with pytest.raises(InvalidInput, match=r"optac\[agents\]"):
        optac.SAC("Pendulum-v1")
