"""What is compiled is kept and used again; nothing that is damaged is, and no result depends on it."""

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from optac.agents import crffsac, sac
from optac.agents.parts.programs import program
from optac.agents.training import compilation_cache
from optac.agents.training.compilation_cache import remove_unsound, seal, use_compilation_cache
from optac.agents.training.compiled import compiled
from optac.studies.bench import start

SMALL = {"learning_starts": 20, "eval_every": 0, "width": 4, "batch_size": 2}


def entries(folder: Path) -> set[str]:
    return {file.name for file in folder.glob("*-cache")}


def test_only_what_is_as_it_was_sealed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sound", "flipped", "torn", "lost"):
        (tmp_path / f"{name}-cache").write_bytes(name.encode() * 100)
    os.mkfifo(tmp_path / "pipe-cache")  # which would be waited for
    seal(tmp_path, set())
    (tmp_path / "unsealed-cache").write_bytes(b"written by a process that was killed")
    for name in ("unsealed", "lost"):
        os.utime(tmp_path / f"{name}-cache", (1e9, 1e9))
    (tmp_path / "young-cache").write_bytes(b"being written by a process that runs")
    content = bytearray((tmp_path / "flipped-cache").read_bytes())
    content[50] ^= 1
    (tmp_path / "flipped-cache").write_bytes(content)
    (tmp_path / "torn-cache").write_bytes(b"torn")
    (tmp_path / "lost-cache.sha256").unlink()
    remove_unsound(tmp_path)
    (tmp_path / "pipe-cache").unlink()
    assert entries(tmp_path) == {"sound-cache", "young-cache"}
    (tmp_path / "young-cache").unlink()
    (tmp_path / "newer-cache").write_bytes(b"x" * 450)
    seal(tmp_path, set())
    os.utime(tmp_path / "newer-cache", (2e9, 2e9))
    monkeypatch.setattr(compilation_cache, "MOST_BYTES", 500)
    remove_unsound(tmp_path)
    assert entries(tmp_path) == {"newer-cache"}


def test_an_entry_is_sealed_when_it_is_compiled_not_when_its_process_ends(tmp_path: Path) -> None:
    """A run takes hours, may be killed, and others start meanwhile."""
    code = """
import optac.agents.training.compilation_cache as cache, jax, os
folder = cache.use_compilation_cache()
jax.jit(lambda x: x + 1)(1.0)
entries = list(folder.glob("*-cache"))
print(len(entries), [(folder / (entry.name + ".sha256")).exists() for entry in entries].count(True), flush=True)
os._exit(0)
"""
    kept = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    told = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"OPTAC_COMPILATION_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled, sealed = map(int, told.stdout.split())
    assert compiled == sealed > 0


def test_what_another_process_left_half_written_is_not_sealed(tmp_path: Path) -> None:
    """One that was killed, and was resumed at once: JAX keeps to the file that is there, whatever it holds."""
    (tmp_path / "torn-cache").write_bytes(b"half of it")
    seen = {"torn-cache"}
    (tmp_path / "own-cache").write_bytes(b"whole")
    seal(tmp_path, seen)
    assert (tmp_path / "own-cache.sha256").exists() and not (tmp_path / "torn-cache.sha256").exists()
    os.utime(tmp_path / "torn-cache", (1e9, 1e9))
    remove_unsound(tmp_path)
    assert entries(tmp_path) == {"own-cache"}


@pytest.mark.parametrize(("said", "expected"), [("off", None), ("OFF", None), ("", "home"), ("mine", "mine")])
def test_the_user_chooses_the_folder(
    said: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPTAC_COMPILATION_CACHE", said)
    monkeypatch.setenv("XDG_CACHE_HOME", "home")
    folder = compilation_cache._chosen_folder()
    assert folder is None if expected is None else str(folder).startswith(expected)
    # These tests give JAX a cache of their own, which stays.
    assert use_compilation_cache.__wrapped__() is None and not any(tmp_path.iterdir())


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("OPTAC_COMPILATION_CACHE", raising=False)
    monkeypatch.setattr(Path, "expanduser", unknown)
    assert compilation_cache._chosen_folder() is None


def test_settings_that_no_formula_reads_cost_no_second_compilation() -> None:
    one, other = sac.Settings(), sac.Settings(log_every=7, eval_every=0, checkpoint_every=3, step_timeout=1.0)
    assert compiled(sac.AGENT, one).updates is compiled(sac.AGENT, other).updates
    assert compiled(sac.AGENT, sac.Settings(width=8)).updates is not compiled(sac.AGENT, one).updates


@pytest.mark.slow
def test_starts_from_an_empty_a_full_and_a_damaged_cache_learn_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[set[str]] = []
    run = start._cpu_seconds

    def damage_between(words: Any, cache: Path) -> float:
        seconds = run(words, cache)
        (folder,) = cache.iterdir()
        folders.append(entries(folder))
        for file in folder.glob("jit_updates*-cache"):
            if len(folders) == 2:  # the second start has used it; the third finds it damaged
                file.write_bytes(file.read_bytes()[:-1] + b"x")
        return seconds

    monkeypatch.setattr(start, "_cpu_seconds", damage_between)
    measured = start.measure(task="optac/Pendulum-v0", agents=["sac"], steps=30, rounds=1, settings=SMALL)
    assert measured["same_parameters"] == {"sac": True}
    assert len(folders[0]) >= 2 and folders[0] == folders[1] == folders[2]


def test_programs_of_settings_long_gone_are_let_go() -> None:
    """Linux gives a process 65,530 memory mappings; XLA crashes where there is no more."""
    first = weakref.ref(compiled(sac.AGENT, sac.Settings(width=1)).updates)
    assert first() is compiled(sac.AGENT, sac.Settings(width=1)).updates
    for width in range(2, 60):
        compiled(sac.AGENT, sac.Settings(width=width))
    gc.collect()
    assert first() is None


def test_so_are_programs_of_other_functions() -> None:
    """cRFFSAC fits φ to the random start by a program of its own, builds Λ by one, and rows of metrics have one."""
    for learnt in (crffsac.learn_features_alone, crffsac.examine, crffsac.features_of):
        assert not hasattr(learnt, "lower")  # compiled by itself, it would be kept for good
        first = weakref.ref(program(learnt, crffsac.Settings(width=1)))
        assert first() is program(learnt, crffsac.Settings(width=1))
        for width in range(2, 70):
            program(learnt, crffsac.Settings(width=width))
        gc.collect()
        assert first() is None
