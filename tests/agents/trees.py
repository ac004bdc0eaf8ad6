"""What tests of one update need of JAX without the price of a program for every operation and every shape."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from optac.agents.parts.transitions import Transitions

jitted = eqx.filter_jit
"""a function of an agent as one program, which compiles in a tenth of the time of its operations one by one"""


def same(one: Any, other: Any) -> bool:
    """Whether two pytrees are equal to the bit."""
    assert jax.tree.structure(one) == jax.tree.structure(other)
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(_on_the_host(a), _on_the_host(b)) for a, b in pairs)


def close(one: Any, other: Any, *, rtol: float, atol: float) -> bool:
    """Whether two pytrees are equal to a tolerance."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.allclose(_on_the_host(a), _on_the_host(b), rtol=rtol, atol=atol) for a, b in pairs)


def random_batches(obs: int, act: int, batch: int, *, count: int = 1, seed: int = 0) -> Transitions:
    """Transitions as an update is given them, none of them the last."""
    draw = np.random.default_rng(seed)
    return Transitions(
        *(
            jax.numpy.asarray(rows, np.float32)
            for rows in (
                draw.normal(size=(count, batch, obs)),
                np.tanh(draw.normal(size=(count, batch, act))),
                draw.normal(size=(count, batch)),
                draw.normal(size=(count, batch, obs)),
                np.zeros((count, batch)),
            )
        )
    )


def _on_the_host(leaf: Any) -> np.ndarray:
    key = isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if key else leaf)
