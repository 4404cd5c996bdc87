"""windfall's own BFGS against Optimistix's solvers on the same evidence.

Run it with ``python -m benchmarks.optimisers``.

A fit is what a round asks for: the evidence of 30 pulls of a Michalewicz landscape, maximised from
one warm start and three random ones, one after the other, in one compiled program. Every optimiser
sees the same objective (coordinates, box and all), the same starts and the same data sets.
"""

import time

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

PULLS, CAPACITY, STARTS, DATA_SETS, REPEATS, STEPS = 30, 32, 4, 40, 5, 100
LOW = np.log([5e-3, 5e-3, 1e-3, 1e-8])  # lengthscales, variance, noise
HIGH = np.log([2e1, 2e1, 1e3, 1e0])


def pulls(seed: int) -> Observations:
    """Thirty distinct arms of a 50×50 grid and their rewards, half of them near the optimum."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 50)] * 2), -1).reshape(-1, 2)
    payoff = np.sin(np.pi * grid[:, 0]) * np.sin(np.pi * grid[:, 0] ** 2) ** 20
    payoff += np.sin(np.pi * grid[:, 1]) * np.sin(2 * np.pi * grid[:, 1] ** 2) ** 20
    good = np.argsort(-payoff)[:250]
    half = PULLS // 2
    chosen = rng.choice(good, half, replace=False)
    others = rng.choice(np.setdiff1d(np.arange(len(grid)), chosen), PULLS - half, replace=False)
    arms = np.concatenate([chosen, others])
    rewards = payoff[arms] + 1e-4 * rng.standard_normal(PULLS)
    room = CAPACITY - PULLS
    return Observations(
        np.pad(grid[arms], ((0, room), (0, 0))),
        np.pad(np.ones(PULLS), (0, room)),
        np.pad(rewards, (0, room)),
        np.zeros(CAPACITY),
        np.zeros(CAPACITY),
        np.int32(PULLS),
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


OPTIMISERS = {
    "windfall.models.gp.bfgs": own,
    "optimistix.BFGS 1e-3": theirs(optimistix.BFGS(rtol=1e-3, atol=1e-3)),
    "optimistix.BFGS 1e-5": theirs(optimistix.BFGS(rtol=1e-5, atol=1e-5)),
    "optimistix.LBFGS 1e-3": theirs(optimistix.LBFGS(rtol=1e-3, atol=1e-3)),
}


def compiled(search):
    """The best value over all starts and the steps spent, and the seconds to compile it."""

    def fit(points, observations):
        scaled = natural_scale(observations).apply(observations)
        values, steps = jax.lax.map(lambda u: search(u, scaled), points)
        return jnp.min(values), jnp.sum(steps)

    begin = time.perf_counter()
    program = jax.jit(fit).lower(starts(0), pulls(0)).compile()
    return program, time.perf_counter() - begin


def main() -> None:
    with jax.enable_x64(True):
        programs = {name: compiled(search) for name, search in OPTIMISERS.items()}
        seconds = {name: np.full((DATA_SETS, REPEATS), np.inf) for name in programs}
        values = {name: np.zeros(DATA_SETS) for name in programs}
        steps = {name: np.zeros(DATA_SETS) for name in programs}
        for seed in range(DATA_SETS):
            points, observations = starts(seed), pulls(seed)
            for repeat in range(REPEATS):  # interleaved: a busy machine slows all alike
                for name, (program, _) in programs.items():
                    begin = time.perf_counter()
                    value, count = jax.block_until_ready(program(points, observations))
                    seconds[name][seed, repeat] = time.perf_counter() - begin
                    values[name][seed], steps[name][seed] = value, count
    best = np.min(list(values.values()), axis=0)
    per_fit = {name: np.median(times.min(axis=1)) for name, times in seconds.items()}
    table = Table(title=f"{PULLS} pulls, {STARTS} starts, {DATA_SETS} data sets")
    for column in ("optimiser", "compile s", "ms", "vs own", "steps", "gap", "misses"):
        table.add_column(column, justify="left" if column == "optimiser" else "right")
    for name, (_, compile_seconds) in programs.items():
        gap = values[name] - best
        table.add_row(
            name,
            f"{compile_seconds:.2f}",
            f"{1e3 * per_fit[name]:.2f}",
            f"{per_fit[name] / per_fit['windfall.models.gp.bfgs']:.2f}",
            f"{np.mean(steps[name]):.0f}",
            f"{np.median(gap):.1e}",
            f"{np.sum(gap > 0.1)}",
        )
    console = Console()
    console.print(table)
    console.print(
        f"ms: per fit, median over data sets of the fastest of {REPEATS} runs, once compiled. "
        "steps: sum over the starts. gap: median distance to the best value that any optimiser "
        "found, in nats. misses: data sets where it is more than 0.1."
    )


if __name__ == "__main__":
    main()
