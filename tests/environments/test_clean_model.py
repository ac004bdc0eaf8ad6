"""HalfCheetah's model is read without a warning and is the same model."""

import subprocess
import sys
from pathlib import Path

import gymnasium.envs.mujoco
import mujoco
import numpy as np
import pytest

from optac.environments import make
from optac.environments.clean_model import clean_model

FILE = Path(gymnasium.envs.mujoco.__file__).parent / "assets" / "half_cheetah.xml"


@pytest.fixture
def as_mujoco_reads_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves its log here
    return mujoco.MjModel.from_xml_path(str(FILE))


def arrays(model):
    values = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def test_every_array_of_the_model_is_bit_equal(as_mujoco_reads_it):
    theirs, ours = arrays(as_mujoco_reads_it), arrays(clean_model(str(FILE)))
    assert ours.keys() == theirs.keys() and {"body_mass", "body_inertia", "dof_M0"} <= ours.keys()
    assert [name for name in theirs if ours[name].tobytes() != theirs[name].tobytes()] == []


def test_the_file_still_asks_for_a_total_mass_of_fourteen(as_mujoco_reads_it):
    assert 'settotalmass="14"' in FILE.read_text()
    assert clean_model(str(FILE)).body_mass.sum() == pytest.approx(14.0, rel=1e-12)


@pytest.mark.parametrize("name", ["HalfCheetah-v4", "HalfCheetah-v5"])
@pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")
def test_trajectories_equal_gymnasiums(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours, theirs = make(name), gymnasium.make(name)
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    ours.action_space.seed(5)
    for _ in range(200):
        action = ours.action_space.sample()
        (s, r, *_), (other, other_r, *_) = ours.step(action), theirs.step(action)
        assert s.tobytes() == other.tobytes() and r == other_r


@pytest.mark.parametrize("name", ["Hopper-v5", "optac/Hopper-v0"])
def test_an_unstable_simulation_is_said_and_leaves_no_file(name, tmp_path):
    program = (
        "import numpy as np; from optac.environments import make\n"
        f"e = make({name!r}); e.reset(seed=0); e.unwrapped.data.qvel[:] = 1e9; e.step(np.zeros(3, np.float32))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "The simulation is unstable" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["HalfCheetah-v5", "optac/HalfCheetah-v0"])
def test_nothing_is_printed_and_no_file_is_left(name, tmp_path):
    program = f"from optac.environments import make; e = make({name!r}); e.reset(seed=0); e.close()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
