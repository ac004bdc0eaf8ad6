"""One of our agents as a contender in `optac bench agents`, a process of its own.

`python -m optac.studies.bench.contender AGENT ENVIRONMENT CORE WARM_UP` speaks as peers/sb3_sac.py does: it
says {"ready": …} after WARM_UP steps, then trains for every number of steps it reads and says the seconds. AGENT has
the preset `plain`, or its default one where -default ends its name.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from optac.errors import require_known
from optac.studies.bench.agents import AGENTS, AS_DEFAULT, BATCH, WIDTH

UPDATES_BEFORE_TIMING = 200


def compete(name: str, environment: str, warm_up: int) -> None:
    """Warm up, then train on demand until standard input ends."""
    agent = _agent(name, environment, warm_up)
    agent.learn(warm_up)
    learner = agent._learner
    _say(
        ready=True,
        flops_per_update=flops_per_update(learner),
        replay_bytes=sum(column.nbytes for column in learner.replay.rows),
        updates_per_dispatch=learner.chosen.settings.updates_per_dispatch,
        preset=learner.chosen.settings.preset,
        actor_every=learner.chosen.settings.actor_every,
    )
    for line in sys.stdin:
        steps = int(line)
        started = time.perf_counter()
        agent.learn(steps)
        seconds = time.perf_counter() - started
        _say(steps=steps, seconds=seconds, sgemm_flops_per_second=sgemm_flops_per_second())


def _agent(name: str, environment: str, warm_up: int) -> Any:
    from optac.agents import Agent

    require_known("agent", [name], AGENTS)
    agent = name.removesuffix(AS_DEFAULT)
    return Agent(
        environment,
        agent=agent,
        preset="plain" if name == agent else "default",
        learning_starts=warm_up - UPDATES_BEFORE_TIMING,
        batch_size=BATCH,
        width=WIDTH,
        eval_every=0,
    )


def flops_per_update(learner: Any) -> int:
    """Floating-point operations of the matrix products in one update, the mean over a round of `actor_every`."""
    from optac.agents.parts.transitions import Transitions

    settings = learner.chosen.settings
    every = settings.actor_every
    shape = (1, every, learner.chosen.record.batches(settings), settings.batch_size)
    batches = Transitions.drawn(learner.replay, shape, settings, generator=np.random.default_rng(0))
    one_round = matmul_flops(learner.chosen.updates, learner.state, batches, learner.statistics(), 1)
    return one_round // every


def matmul_flops(function: Callable[..., Any], *arguments: Any) -> int:
    """Floating-point operations of the matrix products in one call of a JAX function, 2·m·n·k each.

    A loop whose length is known counts its body as often; one that ends on a condition counts it once. Of a
    choice the dearest branch counts. Everything else (activations, Adam, random numbers) is left out.
    """
    import jax

    return _flops(jax.make_jaxpr(function)(*arguments).jaxpr)


def sgemm_flops_per_second(size: int = 256, seconds: float = 0.25) -> float:
    """Single-precision operations per second of numpy's product of two size × size matrices: the best of ten spells."""
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, size, size), dtype=np.float32)
    out = np.empty_like(a)
    spell, best = seconds / 10, 0.0
    for _ in range(10):
        count, started = 0, time.perf_counter()
        while (taken := time.perf_counter() - started) < spell:
            np.matmul(a, b, out=out)
            count += 1
        best = max(best, 2 * size**3 * count / taken)
    return best


def _flops(jaxpr: Any) -> int:
    return sum(_flops_of(equation) for equation in jaxpr.eqns)


def _flops_of(equation: Any) -> int:
    name = equation.primitive.name
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        left, product = equation.invars[0].aval.shape, equation.outvars[0].aval.shape
        return 2 * math.prod(product) * math.prod(left[axis] for axis in contracted)
    if name == "cond":
        return max(_flops(branch.jaxpr) for branch in equation.params["branches"])
    times = equation.params["length"] if name == "scan" else 1
    return times * sum(_flops(inner) for inner in _inner(equation.params))


def _inner(parameters: dict[str, Any]) -> Iterator[Any]:
    for value in parameters.values():
        if hasattr(value, "eqns"):
            yield value
        elif hasattr(getattr(value, "jaxpr", None), "eqns"):
            yield value.jaxpr


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[3])})
    compete(sys.argv[1], sys.argv[2], int(sys.argv[4]))
