"""What tests of one update need of JAX without the price of a program for every operation and every shape."""

from typing import Any

import jax
import numpy as np

from optac.agents.parts.transitions import Transitions


def same(one: Any, other: Any) -> bool:
    """Whether two pytrees are equal to the bit."""
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in _pairs(one, other))


def close(one: Any, other: Any, *, rtol: float, atol: float) -> bool:
    """Whether two pytrees are equal to a tolerance."""
    return all(a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol) for a, b in _pairs(one, other))


def random_batches(obs: int, act: int, batch: int, *, count: int = 1, seed: int = 0) -> Transitions:
    """Transitions as an update is given them, none of them the last."""
    draw = np.random.default_rng(seed)
    columns = (
        draw.normal(size=(count, batch, obs)),
        np.tanh(draw.normal(size=(count, batch, act))),
        draw.normal(size=(count, batch)),
        draw.normal(size=(count, batch, obs)),
        np.zeros((count, batch)),
    )
    return Transitions(*(jax.numpy.asarray(column, np.float32) for column in columns))


def _pairs(one: Any, other: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    leaves = ([_on_the_host(leaf) for leaf in jax.tree.leaves(tree)] for tree in (one, other))
    return list(zip(*leaves, strict=True))


def _on_the_host(leaf: Any) -> np.ndarray:
    key = isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if key else leaf)
