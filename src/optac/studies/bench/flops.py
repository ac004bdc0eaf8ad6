"""The cost of an update in matrix products, and this machine's speed at them."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


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
