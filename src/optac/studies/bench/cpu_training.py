"""One training of `optac bench returns`, a process of its own: until its CPU time is used up, valued on the way.

`python -m optac.studies.bench.cpu_training` reads what to train from standard input, as JSON, and says in one line
what became of it. The clock is the process's user and system time from its first instruction on, its threads' and its
children's included: imports and compilation are in it, for a user pays them. What evaluations take is not. One clock
and one evaluation serve every contender.
"""

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

from optac.provenance import source_hash
from optac.sweeps.launcher_watch import end_with

MOST_STEPS: Final = 10**9
"""more than any budget pays for"""
_FIRST_EVALUATION_SEED: Final = 1_000_000
"""far from the seeds of trainings"""
Act = Callable[[Any], Any]
GoesOn = Callable[[int, Act], bool]
"""told the steps so far and the deterministic policy, whether there is CPU time left"""


@dataclass(frozen=True)
class Training:
    """What is trained, for how long, and how it is valued."""

    contender: str
    task: str
    seed: int
    cpu_seconds: float
    evaluations: int
    episodes: int
    settings: dict[str, Any] = field(default_factory=dict)
    """of an agent of ours, beyond its defaults"""
    module: str = ""
    """of a peer: where its `learn` is"""
    packages: Sequence[str] = ()
    """whose versions the row has"""
    parent: int = 0
    """the process that this one ends with"""
    core: int = 0


def cpu_seconds() -> float:
    """User and system time of this process since it began, with that of children it has waited for."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


@dataclass
class Budget:
    """A training's CPU time: used while it trains, not while it is valued."""

    now: Callable[[], float] = cpu_seconds
    evaluating: float = 0.0
    """the seconds that evaluations took"""

    def used(self) -> float:
        """The seconds that the training took so far."""
        return self.now() - self.evaluating

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """What is done meanwhile takes nothing from it."""
        before = self.now()
        yield
        self.evaluating += self.now() - before


@dataclass
class Watch:
    """Values the policy each time a further share of the budget is used up, and says when all of it is."""

    training: Training
    budget: Budget = field(default_factory=Budget)
    curve: list[dict[str, Any]] = field(default_factory=list)

    def goes_on(self, steps: int, act: Act) -> bool:
        """Whether there is CPU time left after so many steps; `act` is then valued where a share has just been used.

        A block may use several shares, as one that compiles does: it is valued once, for the last of them.
        """
        asked, used = self.training, self.budget.used()
        share = min(int(used * asked.evaluations / asked.cpu_seconds), asked.evaluations)
        if share > (self.curve[-1]["share"] if self.curve else 0):
            with self.budget.not_counted():
                returns = play(act, asked.task, self._seeds(share))
            self.curve.append({"share": share, "cpu_seconds": used, "steps": steps, "returns": returns})
        return share < asked.evaluations

    def _seeds(self, share: int) -> list[int]:
        """Of the episodes of one evaluation: the same for every contender."""
        asked = self.training
        first = _FIRST_EVALUATION_SEED + (asked.seed * asked.evaluations + share) * asked.episodes
        return list(range(first, first + asked.episodes))


def play(act: Act, task: str, seeds: Sequence[int]) -> list[float]:
    """The undiscounted return of an episode under each seed, in an environment of its own."""
    import gymnasium

    env, returns = gymnasium.make(task), []
    for seed in seeds:
        obs, _ = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            obs, reward, terminated, truncated, _ = env.step(act(obs))
            total += float(reward)
            ended = terminated or truncated
        returns.append(total)
    env.close()
    return returns


def train(training: Training, watch: Watch) -> dict[str, Any]:
    """Train until the budget is used up: the curve and what it cost."""
    if training.task.startswith("optac/"):
        import_module("optac.environments")  # registers it, for peers too
    learn = import_module(training.module).learn if training.module else _learn_ours
    learn(training, watch.goes_on)
    last = watch.curve[-1]
    return {
        "curve": watch.curve,
        "steps": last["steps"],
        "cpu_seconds": last["cpu_seconds"],
        "evaluation_cpu_seconds": watch.budget.evaluating,
        "peak_rss_bytes": peak_rss_bytes(),
        "packages": {name: version(name) for name in training.packages},
        "code": source_hash(),
    }


def _learn_ours(training: Training, goes_on: GoesOn) -> None:
    """One of our agents, as a user trains it."""
    from optac.agents import Agent
    from optac.agents.training.loop import train as advance
    from optac.environments import make

    settings = {"eval_every": 0, **training.settings}
    agent = Agent(training.task, agent=training.contender, seed=training.seed, **settings)
    learner, is_over = agent._learner, False

    def look(step: int) -> None:
        nonlocal is_over
        is_over = not goes_on(step, learner.policy)

    # As `learn` does it, rows of metrics included, but asked after every block, not at every row.
    advance(
        learner,
        MOST_STEPS,
        make_env=lambda: make(training.task),
        on_row=lambda row: None,
        on_block=look,
        should_stop=lambda: is_over,
    )


def peak_rss_bytes() -> int:
    """The most memory that this program has held; getrusage's figure would begin with what its parent held."""
    with open("/proc/self/status", encoding="utf-8") as status:
        lines = dict(line.split(":", 1) for line in status)
    return 1024 * int(lines["VmHWM"].split()[0])


def main() -> None:
    """Train what standard input names and print what became of it."""
    # The answer alone goes to standard output, whatever a library may print there.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    training = Training(**json.load(sys.stdin))
    end_with(training.parent)
    os.sched_setaffinity(0, {training.core})
    print(json.dumps(train(training, Watch(training))), file=answer, flush=True)


if __name__ == "__main__":
    main()
