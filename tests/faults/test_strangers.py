"""Nothing runs by accident: not what only a stranger's file names, not what lies in the working folder."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import probe_environments  # noqa: F401  (registers its environments)
import pytest

import optac
from optac import registry
from optac.agents.training import checkpoint
from optac.cli import main
from optac.errors import OptacError
from optac.registry import Untrusted
from optac.runs import solving, training
from optac.runs.folder import RunFolder
from optac.sweeps.local_executor import Worker
from optac.sweeps.worker import Task
from tests.faults.test_configuration import SETTINGS

EVIL = "stranger_module"
TRAIN = {"kind": "train", "agent": "sac", "environment": "probe/Drifting-v0", "steps": 20, "seed": 0}
SOLVE = {
    "kind": "solve",
    "problem": "combination-lock",
    "parameters": {"horizon": 2, "actions": 2},
    "algorithm": "opt-ac",
    "iterations": 2,
    "episodes": None,
    "seed": 0,
    "preset": "practical",
    "settings": {},
}
NAMED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "an environment": (training.resume, {**TRAIN, "environment": f"{EVIL}:X-v0", "settings": SETTINGS}),
    "an agent": (training.resume, {**TRAIN, "agent": EVIL, "settings": SETTINGS}),
    "an agent in a module": (training.resume, {**TRAIN, "agent": f"{EVIL}:AGENT", "settings": SETTINGS}),
    "an algorithm": (solving.resume, {**SOLVE, "algorithm": EVIL}),
    "a problem": (solving.resume, {**SOLVE, "problem": f"{EVIL}:make"}),
    "a toy-text environment": (
        solving.resume,
        {**SOLVE, "problem": f"{EVIL}:X-v0", "parameters": {"horizon": 3}},
    ),
    "a model class": (solving.resume, {**SOLVE, "settings": {"model_class": f"{EVIL}:Fits"}}),
}


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once the stranger's module, which Python can find, has been imported."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / f"{EVIL}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.delitem(sys.modules, EVIL, raising=False)
    yield tmp_path / "ran"
    sys.modules.pop(EVIL, None)


@pytest.mark.parametrize("case", NAMED)
def test_a_run_does_not_import_what_only_its_folder_names(case: str, mark: Path, tmp_path: Path) -> None:
    resume, config = NAMED[case]
    run = RunFolder.create(tmp_path / "run", config).path
    with pytest.raises(Untrusted, match=rf"run/config.json names .*would import the module {EVIL}.*--trust"):
        resume(run)
    assert not mark.exists()
    with pytest.raises(OptacError) as caught:  # there is nothing of use in the module
        resume(run, trust=True)
    assert mark.exists() and not isinstance(caught.value, Untrusted)


@pytest.mark.parametrize("allowed", ["--trust", "imported already"])
def test_the_command_imports_what_is_allowed(allowed: str, mark: Path, tmp_path: Path) -> None:
    run = str(RunFolder.create(tmp_path / "run", NAMED["an environment"][1]).path)
    assert main(["resume", run]) == 2 and not mark.exists()
    if allowed == "--trust":
        main(["resume", run, "--trust"])
        assert mark.exists()
    else:
        __import__(EVIL)
        with pytest.raises(OptacError) as caught:
            training.resume(run)
        assert not isinstance(caught.value, Untrusted)


@pytest.mark.parametrize("part", ["env", "agent"])
def test_a_saved_agent_does_not_import_what_only_it_names(part: str, mark: Path, tmp_path: Path) -> None:
    path = tmp_path / "saved"
    optac.SAC("probe/Drifting-v0", **SETTINGS).save(path)
    found = checkpoint.load(path)
    named = f"{EVIL}:X-v0" if part == "env" else EVIL
    checkpoint.save(path, found.arrays(), {**found.meta, part: named})
    with pytest.raises(OptacError, match=f"{EVIL}.*trust=True"):
        optac.Agent.load(path)
    assert not mark.exists()
    with pytest.raises(OptacError):
        optac.Agent.load(path, trust=True)
    assert mark.exists()
    if part == "env":
        assert optac.Agent.load(path, env="probe/Drifting-v0").steps == 0


def test_a_registered_name_needs_no_trust(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", SOLVE).path
    assert solving.resume(run)["algorithm"] == "opt-ac"
    with registry.named_by("a file"):
        for kind in ("problem", "model class", "algorithm"):
            for name in registry.ours(kind):
                registry.load(kind, name)


def lay_traps(folder: Path, *names: str) -> Path:
    """Modules that say which of them was imported, in a file that is not there before."""
    for name in names:
        (folder / f"{name}.py").write_text(f"print({name!r}, file=open({str(folder / 'ran')!r}, 'a'))\n")
    return folder / "ran"


def test_a_worker_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = lay_traps(tmp_path, "difflib", "json", "numpy", "optac")
    monkeypatch.chdir(tmp_path)
    run = RunFolder.create(tmp_path / "run", SOLVE).path
    worker = Worker.start(Task(str(run), 1, "launcher", str(tmp_path)))
    worker.process.wait()
    assert worker.outcome().ending == "finished", (run / "stderr.log").read_text()
    assert not ran.exists(), ran.read_text()


def test_the_module_as_a_command_imports_nothing_from_the_working_folder(tmp_path: Path) -> None:
    ran = lay_traps(tmp_path, "difflib")
    done = subprocess.run(
        [sys.executable, "-m", "optac", "list"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "opt-ac" in done.stdout and not ran.exists()


STUDY = """
import sys
from pathlib import Path
from optac.sweeps.cells import Cell, run_study

if __name__ == "__main__":
    cells = [Cell(str(i), "builtins:dict", {"i": i}) for i in range(2)]
    print(len(run_study(Path(sys.argv[1]), {"kind": "study"}, cells, jobs=2)))
"""


def test_a_studys_workers_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "study.py").write_text(STUDY)
    ran = lay_traps(tmp_path / "here", "runpy", "pickle", "difflib")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "study.py"), str(tmp_path / "out")],
        cwd=tmp_path / "here",
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ran.exists(), ran.read_text()
    assert done.stdout == "2\n", done.stderr
