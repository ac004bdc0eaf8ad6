"""A sweep on a two-node Ray cluster on this machine survives the death of a node, listening on loopback alone."""

import json
import os
import secrets
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from disturbed_sweep import half_done, launcher, serial_elsewhere, sweep_file, worker_pid

from optac.runs.folder import RunFolder
from optac.sweeps.plan import read_sweep
from optac.sweeps.standing import run_standing

pytestmark = [pytest.mark.ray, pytest.mark.timeout(900)]

LISTEN = "0A"
LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


@dataclass
class TwoNodes:
    """A cluster, its token's path (in the environment of each of its processes), and who listened where."""

    cluster: Any
    second: Any
    token: Path
    seen: set[str] = field(default_factory=set)

    @property
    def second_raylet(self) -> int:
        return int(self.second.all_processes["raylet"][0].process.pid)

    def look(self) -> None:
        """Note the addresses that the cluster's processes, drivers and workers listen on now."""
        self.seen |= listening(self.processes())

    def processes(self) -> list[int]:
        return [pid for pid in _all_processes() if str(self.token).encode() in _environment(pid)]


def listening(pids: Iterable[int]) -> set[str]:
    """The addresses that these processes listen on."""
    sockets = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTEN:
                sockets[words[9]] = words[1].split(":")[0]
    return {sockets[inode] for pid in pids for inode in _socket_inodes(pid) if inode in sockets}


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _socket_inodes(pid: int) -> set[str]:
    inodes = set()
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            target = os.readlink(link)
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    except OSError:
        pass
    return inodes


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        pid = _parent(pid)
    return False


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for the whole process: Ray reads it once."""
    file = tmp_path_factory.mktemp("ray") / "token"
    file.touch(mode=0o600)
    file.write_text(secrets.token_hex(32))
    return file


@pytest.fixture
def nodes(token: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoNodes]:
    for name, value in {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
    }.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    common = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(initialize_head=True, head_node_args=common)
    try:
        second = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
        yield TwoNodes(cluster, second, token)
    finally:
        cluster.shutdown()


def tree(root: int, processes: list[int]) -> list[int]:
    return [pid for pid in processes if _is_below(pid, root)]


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def watched_to_the_end(process: Any, nodes: TwoNodes) -> dict[str, Any]:
    while process.poll() is None:
        nodes.look()
        time.sleep(0.5)
    said, error = process.communicate()
    assert process.returncode == 0, error
    return json.loads(said)


def test_a_sweep_survives_the_death_of_a_whole_node(nodes: TwoNodes, tmp_path: Path) -> None:
    file, out = sweep_file(tmp_path, seeds=12), tmp_path / "out"
    sweep = read_sweep(file)
    raylet = nodes.second_raylet
    with launcher(file, out, "--ray", nodes.cluster.address) as process:
        with half_done(process, out, sweep, wanted=lambda run: _is_below(worker_pid(run), raylet)) as hit:
            nodes.look()
            kill(tree(raylet, nodes.processes()))
        answer = watched_to_the_end(process, nodes)
    assert answer["finished"] == 12
    attempts = {run["id"]: run["attempts"] for run in answer["runs"]}
    assert attempts.pop(hit.name) == 2 and set(attempts.values()) == {1}
    hashes = {run["id"]: run["parameters_sha256"] for run in answer["runs"]}
    assert hashes == serial_elsewhere(file, tmp_path / "serial")
    assert nodes.seen and nodes.seen <= LOOPBACK, nodes.seen


def test_a_late_writer_of_a_dead_node_is_fenced_off(nodes: TwoNodes, tmp_path: Path) -> None:
    """The node dies but for the run's worker, which freezes, as on a machine that the network lost, and wakes late."""
    file, out = sweep_file(tmp_path, seeds=2), tmp_path / "out"
    sweep = read_sweep(file)
    raylet = nodes.second_raylet
    with (
        launcher(file, out, "--ray", nodes.cluster.address) as process,
        half_done(process, out, sweep, wanted=lambda run: _is_below(worker_pid(run), raylet)) as hit,
    ):
        late = worker_pid(hit)
        kill([pid for pid in tree(raylet, nodes.processes()) if pid != late])
        answer = watched_to_the_end(process, nodes)
        before = {path: path.read_bytes() for path in hit.rglob("*") if _is_result(path)}
    assert {run["id"]: run["attempts"] for run in answer["runs"]}[hit.name] == 2
    while Path(f"/proc/{late}").exists():
        time.sleep(0.05)
    assert {path: path.read_bytes() for path in hit.rglob("*") if _is_result(path)} == before
    assert "attempt 1" in (hit / "stderr.log").read_text()
    assert "a newer one has begun; nothing more is written" in (hit / "stderr.log").read_text()
    hashes = {run["id"]: run["parameters_sha256"] for run in answer["runs"]}
    assert hashes == serial_elsewhere(file, tmp_path / "serial")
    assert nodes.seen and nodes.seen <= LOOPBACK, nodes.seen


def test_a_cluster_of_its_own_is_ended_by_ctrl_c_and_the_sweep_goes_on_to_the_same_end(
    tmp_path: Path,
) -> None:
    file, out = sweep_file(tmp_path, seeds=3), tmp_path / "out"
    sweep = read_sweep(file)
    with launcher(file, out, "--ray", "local", start_new_session=True) as process:
        with half_done(process, out, sweep) as hit:
            cluster = {pid for pid in _all_processes() if _is_below(pid, process.pid)}
            seen = listening(cluster)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to Ray's processes too
            wait_until_asked_to_end(worker_pid(hit))
        _, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    assert run_standing(hit).state == "waiting" and RunFolder.open(hit).status.state == "interrupted"
    assert not _still_there(cluster)
    assert len(cluster) > 3 and seen and seen <= LOOPBACK, (cluster, seen)
    with launcher(file, out, "--ray", "local") as process:
        said, error = process.communicate(timeout=600)
        assert process.returncode == 0, error
    answer = json.loads(said)
    assert answer["finished"] == 3
    hashes = {run["id"]: run["parameters_sha256"] for run in answer["runs"]}
    assert hashes == serial_elsewhere(file, tmp_path / "serial")


def test_parts_of_ones_own_are_found_on_a_node_in_the_folders_that_the_file_names(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ray_parts.py").write_text(
        "from optac.algorithms.epsilon_greedy import PRESETS, Settings, default_iterations, init, step\n"
    )
    file = tmp_path / "own.toml"
    file.write_text(
        '[sweep]\nalgorithms = ["ray_parts"]\nproblems = ["combination-lock horizon=2 actions=2"]\n'
        'iterations = 2\npath = ["parts"]\n'
    )
    with launcher(file, tmp_path / "out", "--ray", "local", "--retries", "0") as process:
        said, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert [run["state"] for run in json.loads(said)["runs"]] == ["finished"]


def wait_until_asked_to_end(frozen_process: int) -> None:
    """Until SIGTERM lies before it: what is not frozen could finish its run in the meantime."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        status = Path(f"/proc/{frozen_process}/status").read_text()
        pending = int(next(line.split()[1] for line in status.splitlines() if line.startswith("ShdPnd:")), 16)
        if pending >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.05)
    raise AssertionError("the worker was never asked to end")


def _still_there(pids: set[int]) -> set[int]:
    give_up = time.monotonic() + 30
    while pids & set(_all_processes()) and time.monotonic() < give_up:
        time.sleep(0.1)
    return pids & set(_all_processes())


def _is_result(path: Path) -> bool:
    return path.is_file() and path.name != "stderr.log" and path.parent.name != "attempts"
