"""Answers over more points than jaxlib 0.10.2 compiles correctly, and what they must agree with.

That version miscompiles, on the CPU and silently, a product with a small matrix that is squared and
summed over more than 16,384 points (jax issue 39103; ``runtime/test_miscompiled.py`` shows it). No
answer of windfall may depend on it: here the same function is compiled once for all points and once
for blocks that every version compiles correctly, and the tests of each room compare the two, on top
of their own naive formulas.
"""

import jax
import numpy as np

MANY = 20_000
_BLOCK = 1000


def uniform(dimension: int, seed: int = 0) -> np.ndarray:
    """Points of the unit box, too many of them."""
    return np.random.default_rng(seed).uniform(size=(MANY, dimension))


def whole_and_blocks(function, *rows):
    """A function of rows, compiled for all of them and for a thousand at a time."""
    compiled = jax.jit(function)
    parts = [compiled(*(r[i : i + _BLOCK] for r in rows)) for i in range(0, MANY, _BLOCK)]
    blocks = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
    return jax.tree.map(np.asarray, compiled(*rows)), blocks


def assert_all_points_count(function, *rows, rtol: float = 1e-9) -> None:
    """No row's answer depends on how many rows there are.

    Both are the same sums in another order, so that they differ by rounding: 1e-9 leaves room for
    the cancellation in a variance, and is nothing beside errors of a factor of a thousand.
    """
    whole, blocks = whole_and_blocks(function, *rows)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(blocks), strict=True):
        assert one.shape[0] == MANY
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(other).max())
