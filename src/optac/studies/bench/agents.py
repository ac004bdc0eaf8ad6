"""`optac bench agents`: steps per second of our agents beside the SAC of Stable-Baselines3 and of SBX.

Every contender is a process of its own, pinned to one core with one thread, that trains when told to and waits
otherwise. They take turns, so that whatever the machine does meanwhile it does to all of them, and every figure
that matters is a ratio within a round. Same task, batch, layers and one update per step for all; updates are
running, nothing is evaluated.

Like is held against like: our agents with the preset `plain`, which like the peers' SAC makes a step of the actor in
every update. Beside them stand our agents with their default preset, whose update is another one: the actor every
second time until `delay_ends`, which is not reached, normalised inputs and layers. What that buys is a matter of
returns, not of steps: `optac bench returns`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from optac.errors import InvalidInput, RunFailed, installing
from optac.provenance import provenance
from optac.studies.bench import spread
from optac.terminal import show_table

TASK, BATCH, WIDTH, WARM_UP = "HalfCheetah-v5", 256, 256, 2000
ROUNDS, STEPS = 7, 1000
PLAIN = ("sac", "crffsac", "crffsac-bonus")
"""the preset `plain`: the same work as the peers'"""
AS_DEFAULT = "-default"
"""ends the name of an agent with its default preset"""
AGENTS = (*PLAIN, *(name + AS_DEFAULT for name in PLAIN))
Answer = Mapping[str, Any]
PEERS = {"sb3": "Stable-Baselines3", "sbx": "SBX", "sbx-10": "SBX with ten updates per dispatch"}
_PEER_MODULES = {"sb3": "stable_baselines3", "sbx": "sbx", "sbx-10": "sbx"}
TWO_CORES = "two runs on two cores over one"
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}


NAMES = {
    "sac": "optac SAC, `plain`",
    "crffsac": "optac cRFFSAC, `plain`",
    "crffsac-bonus": "optac cRFFSAC + bonus, `plain`",
    "sac-default": "optac SAC, default preset",
    "crffsac-default": "optac cRFFSAC, default preset",
    "crffsac-bonus-default": "optac cRFFSAC + bonus, default preset",
    "sb3": "Stable-Baselines3 SAC",
    "sbx": "SBX SAC",
    "sbx-10": "SBX SAC, ten updates per dispatch",
}
AIMS = {
    "sac over Stable-Baselines3": 1.8,
    "sac over SBX": 1.2,
    "crffsac over sac, of what flops allow": 0.85,
    "crffsac-bonus over crffsac": 0.9,
    TWO_CORES: 1.8,
    "sac over sgemm's limit": 0.7,
}


@dataclass(frozen=True)
class Contender:
    """A training process that waits for its turn, and what it said of itself when it was ready."""

    name: str
    process: "subprocess.Popen[str]"
    facts: Mapping[str, Any]

    def order(self, steps: int) -> None:
        """Tell it to train; it does so while others may."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for it to be done: what it measured."""
        return _heard(self.name, self.process)

    def train(self, steps: int) -> dict[str, Any]:
        """Have it train alone: what it measured."""
        self.order(steps)
        return self.answer()


def measure(
    *,
    agents: Sequence[str] = AGENTS,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    peer_python: str | None = None,
    quiet: bool = True,
) -> dict[str, Any]:
    """All of it: each contender's steps per second in each round, the ratios, the machine's limit, two cores."""
    import optac.agents  # noqa: F401  says at once what is not installed, before a contender fails over it

    if "sac" not in agents or rounds < 1 or steps < 1:
        raise InvalidInput("the bench compares with `sac`, in at least one round of at least one step")
    peers = [name for name, module in _PEER_MODULES.items() if find_spec(module) is not None]
    with ExitStack() as stack:
        names = [*agents, *peers]
        core = min(os.sched_getaffinity(0))
        running = {name: stack.enter_context(contender(name, core=core)) for name in names}
        answers: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for turn in range(rounds):
            for name in names:
                answers[name].append(running[name].train(steps))
            if not quiet:
                now = ", ".join(f"{name} {rate(answers[name][-1]):.0f}" for name in names)
                print(f"round {turn + 1} of {rounds}, steps per second: {now}", file=sys.stderr, flush=True)
        facts = {name: dict(running[name].facts) for name in names}
        pairs = _two_cores(running["sac"], rounds, steps)
    return {
        "bench": "agents",
        "task": {"environment": TASK, "batch_size": BATCH, "width": WIDTH, "updates_per_step": 1},
        "rounds": rounds,
        "steps": steps,
        **provenance("optac bench agents"),
        "missing": [PEERS[name] for name in PEERS if name not in peers],
        "facts": facts,
        "answers": answers,
        "ratios": ratios(answers, facts)
        | ({TWO_CORES: [both / one for one, both in pairs]} if pairs else {}),
        "two_cores": pairs,
    }


def rate(answer: Answer) -> float:
    """Steps per second."""
    return float(answer["steps"] / answer["seconds"])


def ratios(
    answers: Mapping[str, Sequence[Answer]], facts: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[float]]:
    """The bench's figures in each round, every one a ratio of two speeds of that round."""
    rates = {name: [rate(answer) for answer in given] for name, given in answers.items()}

    def over(one: str, other: str) -> list[float]:
        return [a / b for a, b in zip(rates[one], rates[other], strict=True)]

    found = {f"sac over {PEERS[peer]}": over("sac", peer) for peer in PEERS if peer in rates}
    for agent in (name for name in PLAIN if name in rates and name + AS_DEFAULT in rates):
        found[f"{agent}, default over plain"] = over(agent + AS_DEFAULT, agent)
    if "crffsac" in rates:
        allowed = facts["sac"]["flops_per_update"] / facts["crffsac"]["flops_per_update"]
        found["crffsac over sac"] = over("crffsac", "sac")
        found["crffsac over sac, of what flops allow"] = [
            share / allowed for share in found["crffsac over sac"]
        ]
    if "crffsac" in rates and "crffsac-bonus" in rates:
        found["crffsac-bonus over crffsac"] = over("crffsac-bonus", "crffsac")
    for name in (name for name in AGENTS if name in rates):
        flops = facts[name]["flops_per_update"]
        limits = [answer["sgemm_flops_per_second"] / flops for answer in answers[name]]
        found[f"{name} over sgemm's limit"] = [
            speed / limit for speed, limit in zip(rates[name], limits, strict=True)
        ]
    return found


@contextmanager
def contender(name: str, core: int) -> Iterator[Contender]:
    """The named contender, warmed up and waiting on `core`; it ends with the context."""
    arguments = [TASK, str(core), str(WARM_UP)]
    if name in PEERS:
        command = [sys.executable, str(Path(__file__).parent / "peers" / "sb3_sac.py"), name, *arguments]
    else:
        command = [sys.executable, "-m", "optac.studies.bench.contender", name, *arguments]
    # A folder of its own: MuJoCo leaves its log in the working directory of a peer that loads HalfCheetah's file.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            env=os.environ | ONE_THREAD,
        )
        try:
            yield Contender(name, process, _heard(name, process))
        except RunFailed as failure:
            errors.seek(0)
            raise RunFailed(f"{failure}\n{errors.read()[-2000:]}") from None
        finally:
            _end(process)


def _two_cores(alone: Contender, rounds: int, steps: int) -> list[tuple[float, float]]:
    """Steps per second of one run and, together, of two on two cores, in each round; none on a single core."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return []
    measured = []
    with contender("sac", core=cores[1]) as other:
        for _ in range(rounds):
            single = rate(alone.train(steps))
            for one in (alone, other):
                one.order(steps)
            measured.append((single, sum(rate(one.answer()) for one in (alone, other))))
    return measured


def _heard(name: str, process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RunFailed(f"the contender {name} ended with exit code {process.wait()} before it was done")
    said: dict[str, Any] = json.loads(line)
    return said


def _end(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def show(measured: dict[str, Any]) -> None:
    """Print the results of `bench agents`."""
    task = measured["task"]
    title = (
        f"{task['environment']}, batch {task['batch_size']}, two hidden layers of {task['width']}, one update per "
        f"step, one core, {measured['rounds']} rounds of {measured['steps']} steps, in turn"
    )
    speeds = [[NAMES[name], spread(list(map(rate, said)), 1)] for name, said in measured["answers"].items()]
    show_table(title, ["", "steps per second (median, least–most)"], speeds)
    print()
    figures = [
        [name, spread(values, digits=2), f"≥ {AIMS[name]}" if name in AIMS else ""]
        for name, values in measured["ratios"].items()
    ]
    show_table("Ratios within a round", ["", "median (least–most)", "aim"], figures)
    for name in measured["missing"]:
        print(f"{name} was left out: {installing('bench')} installs it")
