"""A recorded episode is a film of the environment; a machine that cannot draw is told what to install."""

import os
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from optac.environments import TASKS, make
from optac.environments.video import record
from optac.errors import InvalidInput

PROGRAM = """
from pathlib import Path
import numpy as np
from optac.environments.video import record
from optac.errors import OptacError
try:
    print(record("optac/Reacher-v0", lambda s: np.zeros(2, np.float32), Path("a.mp4")))
except OptacError as error:
    print(type(error).__name__, error)
"""


def still(size):
    return lambda observation: np.zeros(size, np.float32)


def decoded(file, side):
    """The frames in a file, by the ffmpeg that wrote them."""
    import imageio_ffmpeg

    command = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-i",
        file,
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, side, side, 3)


def outcome(tmp_path, **variables):
    """What recording prints in a process of its own, with the given variables and no display."""
    inherited = {name: v for name, v in os.environ.items() if name not in ("DISPLAY", "MUJOCO_GL")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=inherited | variables,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_graphics_library_that_does_not_load_names_the_packages(tmp_path):
    # PyOpenGL bound to another platform is how MuJoCo's EGL fails to load on a machine that has it.
    said = outcome(tmp_path, PYOPENGL_PLATFORM="osmesa")
    assert said.startswith("CannotRender MuJoCo cannot draw through egl")
    assert "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri" in said
    assert list(tmp_path.iterdir()) == []


def test_a_screen_that_is_not_there_is_said(tmp_path):
    assert "DISPLAY is empty; unset MUJOCO_GL to use egl" in outcome(tmp_path, MUJOCO_GL="glfw")


def test_a_graphics_library_nobody_knows_is_said_by_name(tmp_path):
    assert "InvalidInput MuJoCo does not load with MUJOCO_GL=paint" in outcome(tmp_path, MUJOCO_GL="paint")


@pytest.mark.parametrize("file", ["a.gif", "a", "nowhere/a.mp4"])
def test_a_file_that_cannot_hold_the_film_is_refused_before_playing(tmp_path, file):
    with pytest.raises(InvalidInput, match=r"\.mp4|does not exist"):
        record("optac/Reacher-v0", still(2), tmp_path / file)


def test_an_environment_without_pictures_is_refused(tmp_path):
    class Blind(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    gymnasium.register("optac-tests/Blind-v0", entry_point=Blind)
    with pytest.raises(InvalidInput, match="cannot draw itself"):
        record("optac-tests/Blind-v0", still(1), tmp_path / "a.mp4")
    del gymnasium.registry["optac-tests/Blind-v0"]


@pytest.mark.video
def test_reacher_film_has_every_second_frame_and_the_body_moves_in_it(tmp_path):
    made = record("optac/Reacher-v0", lambda s: np.array([1.0, -1.0], np.float32), tmp_path / "a.mp4", seed=3)
    film = decoded(made.file, 480)
    # 50 steps at 50 frames per second, drawn at 25: the start and every second step.
    assert (made.steps, made.frames, made.frames_per_second) == (50, 26, 25.0)
    assert film.shape == (26, 480, 480, 3)
    assert np.abs(film[0].astype(int) - film[-1].astype(int)).max() > 100
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.video
def test_an_episode_that_fails_leaves_no_film(tmp_path):
    def fails_later(observation, seen=[]):  # noqa: B006
        seen.append(observation)
        if len(seen) == 5:
            raise RuntimeError("out of ideas")
        return np.zeros(2, np.float32)

    with pytest.raises(RuntimeError, match="out of ideas"):
        record("optac/Reacher-v0", fails_later, tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.video
def test_the_recorded_return_is_the_episodes(tmp_path):
    made = record("optac/Pendulum-v0", still(1), tmp_path / "a.mp4", seed=5)
    env = make("optac/Pendulum-v0")
    env.reset(seed=5)
    assert made.episode_return == sum(env.step(np.zeros(1, np.float32))[1] for _ in range(200))


@pytest.mark.video
def test_the_camera_follows_the_cheetah(tmp_path):
    from optac.environments.video import _drawing_environment

    env = _drawing_environment("HalfCheetah-v5")
    env.reset(seed=0)
    body = env.unwrapped
    pictures = []
    for place in (0.0, 30.0):
        body.set_state(np.concatenate([[place], body.init_qpos[1:]]), body.init_qvel)
        pictures.append(env.render().astype(int))
    # The body stays in the middle of 480 × 480 pixels; only the floor's tiles shift.
    brown = [np.argwhere(p[..., 0] - p[..., 2] > 40).mean(axis=0) for p in pictures]
    assert brown[0] == pytest.approx(brown[1], abs=30.0)
    env.close()


@pytest.mark.video
def test_the_floor_has_no_end_and_looks_the_same_everywhere():
    from optac.environments.video import _drawing_environment

    env = _drawing_environment("optac/HalfCheetah-v0")
    env.reset(seed=0)
    body, below_the_feet = env.unwrapped, []
    for place in (0.0, 400.0):
        body.set_state(np.concatenate([[place], body.init_qpos[1:]]), body.init_qvel)
        below_the_feet.append(env.render()[430:].astype(float))
    env.close()
    near, far = below_the_feet
    assert far.std() > 50 and far.mean() == pytest.approx(near.mean(), rel=0.2)  # black and light tiles


@pytest.mark.video
@pytest.mark.filterwarnings("ignore:.*symmetric and normalized")
@pytest.mark.parametrize("name", TASKS)
def test_check_env_passes_with_pictures(name, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make(name).unwrapped
    env.metadata = env.metadata | {"render_modes": ["rgb_array"]}  # a window needs a screen
    check_env(env)


@pytest.mark.video
def test_egl_is_chosen_where_there_is_no_display(tmp_path):
    assert "frames=26" in outcome(tmp_path)
    assert [Path(path).name for path in tmp_path.iterdir()] == ["a.mp4"]
