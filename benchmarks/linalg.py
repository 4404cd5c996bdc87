"""``triangular_inverse`` against a triangular solve with the identity, inside a compiled loop.

A loop is where the evidence needs it: XLA then calls the BLAS from a compiled program, without
Python in between. Every pass changes the factor a little, so that no pass can be left out.
"""

import windfall.runtime.execution  # noqa: F401  first, so that the BLAS has one thread, as in a trial

# isort: split
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from benchmarks import part
from windfall.models.gp.linalg import triangular_inverse

SIZES, PASSES, REPEATS = (16, 32, 64, 128), 300, 15


def by_solve(factor: jax.Array) -> jax.Array:
    return solve_triangular(factor, jnp.eye(len(factor), dtype=factor.dtype), lower=True)


def loop(invert, factor: np.ndarray, passes: int):
    """A compiled program that inverts so many factors, each depending on the inverse before."""

    def step(_, inverse):
        return invert(factor + 1e-12 * jnp.tril(inverse))

    return jax.jit(lambda: jax.lax.fori_loop(0, passes, step, jnp.zeros_like(factor)))


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del folder
    passes, repeats = (5, 2) if quick else (PASSES, REPEATS)
    report = {}
    with jax.enable_x64(True):
        for size in SIZES:
            rng = np.random.default_rng(size)
            square = rng.standard_normal((size, size))
            factor = np.linalg.cholesky(square @ square.T / size + np.eye(size))
            programs = [loop(f, factor, passes) for f in (triangular_inverse, by_solve)]
            own, solve = (np.asarray(program()) for program in programs)
            np.testing.assert_allclose(own, solve, rtol=1e-9, atol=1e-9)
            seconds = np.empty((repeats, 2))
            for repeat in range(repeats):
                for i, program in enumerate(programs):
                    begin = time.perf_counter()
                    program().block_until_ready()
                    seconds[repeat, i] = time.perf_counter() - begin
            best = 1e6 * seconds.min(axis=0) / passes
            report[size] = {"own_us": best[0], "solve_us": best[1], "ratio": best[1] / best[0]}
    return report


if __name__ == "__main__":
    part.main(measure)
