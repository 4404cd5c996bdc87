"""windfall's own BFGS against Optimistix's solvers and SciPy's L-BFGS-B on the same evidence.

Run it with ``python -m benchmarks.optimisers``.

A fit is what a round asks for: the evidence of some pulls of a Michalewicz landscape, maximised
from one warm start and three random ones. Every optimiser sees the same objective (coordinates, box
and all), the same starts and the same data sets. The first three search inside one compiled
program, start after start; SciPy is driven from the host around one compiled value and gradient of
all starts, which it takes for one function of them all, as BoTorch does.

Seconds are those of the processor, tracing included: what else runs on the machine matters less.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from rich.console import Console
from rich.table import Table

from windfall.models.gp.bfgs import minimise
from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import Observations, natural_scale
from windfall.runtime.cache import CPU_OPTIONS

#: Distinct inputs, and the room that a study on a list gives them.
SIZES = {8: 16, 30: 32, 60: 64}
STARTS, DATA_SETS, REPEATS, STEPS = 4, 30, 3, 100
#: Rounds that a program serves until the next size is needed.
ROUNDS = 16
LOW = np.log([5e-3, 5e-3, 1e-3, 1e-8])  # lengthscales, variance, noise
HIGH = np.log([2e1, 2e1, 1e3, 1e0])
#: A fit: starts and observations to the best value and the evaluations (or steps) spent.
Fit = Callable[[np.ndarray, Observations], tuple[Any, Any]]


def pulls(seed: int, count: int) -> Observations:
    """Distinct arms of a 50×50 grid and their rewards, half of them near the optimum."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 50)] * 2), -1).reshape(-1, 2)
    payoff = np.sin(np.pi * grid[:, 0]) * np.sin(np.pi * grid[:, 0] ** 2) ** 20
    payoff += np.sin(np.pi * grid[:, 1]) * np.sin(2 * np.pi * grid[:, 1] ** 2) ** 20
    good = np.argsort(-payoff)[:250]
    half = count // 2
    chosen = rng.choice(good, half, replace=False)
    others = rng.choice(np.setdiff1d(np.arange(len(grid)), chosen), count - half, replace=False)
    arms = np.concatenate([chosen, others])
    rewards = payoff[arms] + 1e-4 * rng.standard_normal(count)
    capacity = SIZES[count]
    room = capacity - count
    return Observations(
        np.pad(grid[arms], ((0, room), (0, 0))),
        np.pad(np.ones(count), (0, room)),
        np.pad(rewards, (0, room)),
        np.zeros(capacity),
        np.zeros(capacity),
        np.int32(count),
    )


def starts(seed: int) -> np.ndarray:
    """One warm start and three random ones, in the coordinates of the search."""
    rng = np.random.default_rng(1000 + seed)
    warm = np.log([0.3, 0.3, 1.0, 1e-4])
    low, high = np.log([5e-2, 5e-2, 3e-1, 1e-6]), np.log([1e0, 1e0, 1e1, 1e-2])
    logs = np.vstack([warm, rng.uniform(low, high, (STARTS - 1, 4))])
    fraction = (logs - LOW) / (HIGH - LOW)
    return np.log(fraction / (1 - fraction))


def loss(u, observations):
    theta = jnp.exp(LOW + (HIGH - LOW) * jax.nn.sigmoid(u))
    return -log_evidence(Hyper(SquaredExponential(theta[:2], theta[2]), theta[3]), observations)


def own(u, observations):
    slope = jax.value_and_grad(lambda v: loss(v, observations))
    solution = minimise(slope, u, evaluations=STEPS)
    return solution.value, solution.evaluations


def theirs(solver):
    def search(u, observations):
        solution = optimistix.minimise(
            loss, solver, u, args=observations, max_steps=STEPS, throw=False
        )
        value = loss(solution.value, observations)
        return jnp.where(jnp.isfinite(value), value, jnp.inf), solution.stats["num_steps"]

    return search


def inside(search) -> Callable[[int], Fit]:
    """All searches in one compiled program."""

    def made(count: int) -> Fit:
        def fit(points, observations):
            scaled = natural_scale(observations).apply(observations)
            values, steps = jax.lax.map(lambda u: search(u, scaled), points)
            return jnp.min(values), jnp.sum(steps)

        return compiled(fit, starts(0), pulls(0, count))

    return made


def around(count: int) -> Fit:
    """SciPy's L-BFGS-B around one compiled program, with the tolerances of our own."""
    from scipy.optimize import minimize  # after windfall, which sees to the threads of its BLAS

    def slopes(points, observations):
        scaled = natural_scale(observations).apply(observations)
        return jax.lax.map(jax.value_and_grad(lambda u: loss(u, scaled)), points)

    program = compiled(slopes, starts(0), pulls(0, count))

    def fit(points, observations):
        best = np.inf

        def downhill(flat):
            nonlocal best
            values, gradients = program(flat.reshape(points.shape), observations)
            # Where there is no Cholesky factor, a wall.
            values = np.nan_to_num(np.asarray(values), nan=1e10, posinf=1e10)
            best = min(best, values.min())
            return values.sum(), np.nan_to_num(np.asarray(gradients)).ravel()

        options = {"maxfun": STEPS, "ftol": 1e-7, "gtol": 1e-4}
        end = minimize(downhill, points.ravel(), jac=True, method="L-BFGS-B", options=options)
        return best, STARTS * end.nfev

    return fit


def compiled(function, *arguments):
    """As windfall compiles its programs."""
    return jax.jit(function).lower(*arguments).compile(compiler_options=CPU_OPTIONS)


OPTIMISERS: dict[str, Callable[[int], Fit]] = {
    "windfall.models.gp.bfgs": inside(own),
    "optimistix.BFGS 1e-3": inside(theirs(optimistix.BFGS(rtol=1e-3, atol=1e-3))),
    "optimistix.LBFGS 1e-3": inside(theirs(optimistix.LBFGS(rtol=1e-3, atol=1e-3))),
    "scipy L-BFGS-B, stacked": around,
}


def measured(count: int) -> Table:
    """One table for one number of pulls."""
    fits, compiling = {}, {}
    for name, make in OPTIMISERS.items():
        begin = time.process_time()
        fits[name] = make(count)
        compiling[name] = time.process_time() - begin
    seconds = {name: np.full((DATA_SETS, REPEATS), np.inf) for name in fits}
    values = {name: np.zeros(DATA_SETS) for name in fits}
    steps = {name: np.zeros(DATA_SETS) for name in fits}
    for seed in range(DATA_SETS):
        points, observations = starts(seed), pulls(seed, count)
        for repeat in range(REPEATS):  # interleaved: a busy machine slows all alike
            for name, fit in fits.items():
                begin = time.process_time()
                value, spent = jax.block_until_ready(fit(points, observations))
                seconds[name][seed, repeat] = time.process_time() - begin
                values[name][seed], steps[name][seed] = value, spent
    best = np.min(list(values.values()), axis=0)
    per_fit = {name: np.median(times.min(axis=1)) for name, times in seconds.items()}
    table = Table(title=f"{count} pulls, room for {SIZES[count]}, {DATA_SETS} data sets")
    table.add_column("optimiser")
    for column in (
        "compile s",
        "ms a fit",
        f"compile + {ROUNDS} fits, s",
        "steps",
        "gap",
        "misses",
    ):
        table.add_column(column, justify="right")
    for name in fits:
        gap = values[name] - best
        table.add_row(
            name,
            f"{compiling[name]:.2f}",
            f"{1e3 * per_fit[name]:.2f}",
            f"{compiling[name] + ROUNDS * per_fit[name]:.2f}",
            f"{np.mean(steps[name]):.0f}",
            f"{np.median(gap):.1e}",
            f"{np.sum(gap > 0.1)}",
        )
    return table


def main() -> None:
    console = Console()
    with jax.enable_x64(True):
        for count in SIZES:
            console.print(measured(count))
    console.print(
        f"ms: of the processor, median over data sets of the fastest of {REPEATS} runs. steps: sum "
        "over the starts (of scipy, evaluations of any). gap: median distance to the best value "
        "that any optimiser found, in nats. misses: data sets where it is more than 0.1."
    )


if __name__ == "__main__":
    main()
