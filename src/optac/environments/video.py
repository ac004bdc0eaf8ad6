"""One episode of a policy as an mp4 file, on a machine with or without a screen."""

import itertools
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import UInt8

from optac.environments.guarded import guarded
from optac.environments.registration import make
from optac.errors import InvalidInput, RunFailed, require_extra

Frame = UInt8[np.ndarray, "height width channel"]
Act = Callable[[Any], Any]

_MOST_FRAMES_PER_SECOND = 30
_MOST_STEPS = 10_000
"""after which an episode without a time limit is cut off"""
_DEBIAN_PACKAGES = {"egl": "libegl1 libegl-mesa0 libgl1-mesa-dri", "osmesa": "libosmesa6"}


class CannotRender(RunFailed):
    """This machine cannot draw; the message names what to install."""


@dataclass(frozen=True)
class Recording:
    """A recording: the file, its frames and frames per second, and the episode's return and length."""

    file: Path
    frames: int
    frames_per_second: float
    episode_return: float
    steps: int


def record(name: str, act: Act, file: Path, *, seed: int = 0) -> Recording:
    """Play one episode of the environment `name` with `act(observation)` and write it to `file`, an mp4.

    At most 30 frames per second are drawn, in the environment's own time. The file appears whole or not at all.
    """
    _check_file(file)
    env = _drawing_environment(name)
    rate = float(env.metadata.get("render_fps", _MOST_FRAMES_PER_SECOND))
    stride = math.ceil(rate / _MOST_FRAMES_PER_SECOND)
    episode = _Episode(env, act, seed, stride)
    try:
        check_recording(file)
        frames = _write(file, iter(episode), rate / stride)
    finally:
        env.close()
    return Recording(file, frames, rate / stride, episode.total, episode.steps)


def choose_backend() -> None:
    """Have MuJoCo draw off screen through EGL where there is no display, unless MUJOCO_GL says otherwise.

    pygame, which draws the classic-control tasks, is told to need no screen and to print no greeting. Both
    read their variables when the first frame is drawn. MuJoCo reads its own on import too, and fails to
    import where that library is missing: so this is called after the environment has been made once.
    """
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("MUJOCO_GL", "egl")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


@dataclass
class _Episode:
    """The frames of one episode, and its return and length once they are drawn."""

    env: gymnasium.Env[Any, Any]
    act: Act
    seed: int
    stride: int
    total: float = 0.0
    steps: int = 0

    def __iter__(self) -> Iterator[Frame]:
        observation, _ = guarded(self.env.reset, 0, seed=self.seed)
        limit = (self.env.spec.max_episode_steps if self.env.spec else None) or _MOST_STEPS
        ended = False
        yield self._frame()
        while not ended:
            action = self.act(observation)
            observation, reward, terminated, truncated, _ = guarded(self.env.step, self.steps, action)
            self.total += float(reward)
            self.steps += 1
            ended = terminated or truncated or self.steps >= limit
            if self.steps % self.stride == 0 or ended:
                yield self._frame()

    def _frame(self) -> Frame:
        return np.asarray(self.env.render(), np.uint8)


def check_recording(file: Path) -> None:
    """InvalidInput where `file` is no name for a video, or what writes one is not installed."""
    _check_name(file)
    require_extra("video", "a video needs", "imageio_ffmpeg", "pygame")


def _check_name(file: Path) -> None:
    if file.suffix != ".mp4":
        raise InvalidInput(f"a video is written to a file that ends in .mp4, not {str(file)!r}.")


def _check_file(file: Path) -> None:
    _check_name(file)
    if not file.parent.is_dir():
        raise InvalidInput(f"the folder {str(file.parent)!r} for the video does not exist; make it first.")


def _drawing_environment(name: str) -> gymnasium.Env[Any, Any]:
    """The environment, ready to draw; its model's tracking camera, if there is one, follows a MuJoCo body."""
    env = make(name)
    modes = env.metadata.get("render_modes", [])
    env.close()
    if "rgb_array" not in modes:
        raise InvalidInput(
            f"{name} cannot draw itself: its render modes are {modes}, and rgb_array is needed."
        )
    choose_backend()
    env = make(name, render_mode="rgb_array")
    renderer = getattr(env.unwrapped, "mujoco_renderer", None)
    if renderer is not None:
        _probe_backend()
        cameras = [renderer.model.camera(index).name for index in range(renderer.model.ncam)]
        if renderer.camera_id == -1 and "track" in cameras:
            renderer.camera_id = cameras.index("track")
        _draw_planes_without_end(renderer.model)
    return env


def _draw_planes_without_end(model: Any) -> None:
    """Draw a floor wherever the body runs: a plane's physics has no end, and with size 0 its picture has none.

    A texture's repeats are per plane where it ends and per metre where it does not.
    """
    import mujoco

    for plane in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE):
        sides, material = 2 * model.geom_size[plane, :2], model.geom_matid[plane]
        if sides.all() and material >= 0 and not model.mat_texuniform[material]:
            model.mat_texrepeat[material] /= sides
        model.geom_size[plane, :2] = 0.0


def _probe_backend() -> None:
    backend = os.environ.get("MUJOCO_GL", "")
    if backend == "glfw" and not os.environ.get("DISPLAY"):
        raise CannotRender(
            "MUJOCO_GL=glfw draws on a screen, and DISPLAY is empty; unset MUJOCO_GL to use egl."
        )
    if backend not in _DEBIAN_PACKAGES:
        return
    try:
        context = import_module(f"mujoco.{backend}").GLContext(16, 16)
        context.make_current()
        context.free()
    except Exception as error:  # PyOpenGL fails in many ways where the library is missing
        raise CannotRender(
            f"MuJoCo cannot draw through {backend} ({type(error).__name__}: {error}). On Debian or Ubuntu: "
            f"apt-get install {_DEBIAN_PACKAGES[backend]}. The variable MUJOCO_GL chooses another way: "
            "egl or osmesa without a screen, glfw with one."
        ) from error


def _write(file: Path, frames: Iterator[Frame], rate: float) -> int:
    from imageio_ffmpeg import get_ffmpeg_exe

    aside = file.with_name(f".{file.stem}.{os.getpid()}.part.mp4")
    first = next(frames)
    command = [get_ffmpeg_exe(), *_ffmpeg_arguments(first, rate), str(aside)]
    count = 0
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        # Its own session: an interrupt from the keyboard is ours to handle.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said, start_new_session=True)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError):  # where ffmpeg has ended: its exit code says how
                for frame in itertools.chain([first], frames):
                    process.stdin.write(np.ascontiguousarray(frame).data)
                    count += 1
            process.communicate()
            if process.returncode != 0:
                said.seek(0)
                raise RunFailed(f"ffmpeg could not write {file}: {said.read().strip()}")
            aside.replace(file)
        finally:
            process.kill()
            process.communicate()
            aside.unlink(missing_ok=True)
    return count


def _ffmpeg_arguments(frame: Frame, rate: float) -> list[str]:
    """Raw frames from standard input to H.264; the picture is padded to even sides, which players want."""
    height, width, _ = frame.shape
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "-"]
    made = ["-an", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p"]
    return ["-v", "error", "-y", *given, *made]
