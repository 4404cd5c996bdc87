"""How good and how fast the maximiser of acquisitions is on a box.

Quality: on random posteriors in 2 to 6 dimensions, the score that windfall finds against that of
10⁵ random points and SciPy's L-BFGS-B from the best ten of them. Scores count as equal within 1e-6
of the distance between the best and the median of the random points.

Speed: one ask at 100 observations in 6 dimensions, model included. The observations are left in the
scratch folder, for the peer to work on the same.
"""

import dataclasses
import time
from pathlib import Path
from statistics import median
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import windfall as wf
from benchmarks import part
from windfall.models.gp.belief import GPBelief
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52, SquaredExponential
from windfall.models.gp.observations import Observations
from windfall.models.gp.posterior import condition
from windfall.policy import Policy, State, as_policy
from windfall.study import compiled

POSTERIORS = 50
#: Others than those on which the maximiser's settings were chosen.
FIRST_SEED = 100
DIMENSIONS = (2, 3, 4, 5, 6)
ACQUISITIONS = ("windfall", "v-ucb", "ei", "ts", "lw-ucb")
RANDOM_POINTS = 100_000
POLISHED = 10
TOLERANCE = 1e-6


def random_state(policy: Policy, dimension: int, seed: int) -> State:
    """The state of a study whose payoff is a draw from its own prior."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(10, 61))
    kind = SquaredExponential if seed % 2 else Matern52
    scales = np.sqrt(dimension) * np.exp(rng.uniform(np.log(0.1), np.log(0.6), dimension))
    hyper = Hyper(kind(scales, np.float64(1.0)), np.float64(10.0 ** rng.uniform(-6, -2)))
    x = rng.uniform(size=(count, dimension))
    gram = np.asarray(hyper.kernel.gram(x, x)) + 1e-9 * np.eye(count)
    y = np.linalg.cholesky(gram) @ rng.standard_normal(count)
    observations = jax.tree.map(jnp.asarray, Observations.empty(64, dimension))
    for point, reward in zip(x, y, strict=True):
        observations = observations.add(point, jnp.asarray(reward))
    space = wf.Box(np.zeros(dimension), np.ones(dimension))
    state = policy.begin(jax.random.key(seed), space, capacity=64)
    belief = GPBelief(observations, condition(hyper, observations), observations.used)
    return dataclasses.replace(state, belief=belief, pulls=np.int32(count))


@eqx.filter_jit
def values(policy, state, x):
    return policy.score(state)(x)


@eqx.filter_jit
def slope(policy, state, x):
    score = policy.score(state)
    return jax.value_and_grad(lambda x: score(x[None])[0])(x)


def reference(policy: Policy, state: State, dimension: int, points: int, seed: int):
    """The best score of random points and a polish, and the size of a difference that counts."""
    from scipy.optimize import minimize  # after windfall, which sees to the threads of its BLAS

    x = np.random.default_rng(seed).uniform(size=(points, dimension))
    scores = np.asarray(values(policy, state, x))
    best = scores.max()
    for i in np.argsort(scores)[-POLISHED:]:

        def downhill(x):
            value, gradient = slope(policy, state, x)
            return -float(value), -np.asarray(gradient)

        end = minimize(downhill, x[i], jac=True, method="L-BFGS-B", bounds=[(0, 1)] * dimension)
        if np.isfinite(end.fun):
            best = max(best, -end.fun)
    return best, scores.max() - np.median(scores)


def quality(quick: bool) -> list[dict[str, Any]]:
    """One entry for each posterior."""
    results = []
    with jax.enable_x64(True):
        for i in range(4 if quick else POSTERIORS):
            name = ACQUISITIONS[i % len(ACQUISITIONS)]
            dimension = DIMENSIONS[i // len(ACQUISITIONS) % len(DIMENSIONS)]
            policy = as_policy(name)
            seed = FIRST_SEED + i
            state = random_state(policy, dimension, seed)
            _, info = compiled.select(policy, state, None, np.int32(0))
            points = 1000 if quick else RANDOM_POINTS
            best, spread = reference(policy, state, dimension, points, seed)
            gap = float((best - info.score) / spread)
            results.append(
                {
                    "acquisition": name,
                    "dimension": dimension,
                    "gap": gap,
                    "gradient": float(info.search.gradient_norm / spread),
                    "won": gap <= TOLERANCE,
                }
            )
    return results


def ask_times(folder: Path, quick: bool) -> dict[str, Any]:
    """Milliseconds of one ask at 100 observations in 6 dimensions."""
    dimension, count, repeats = 6, 20 if quick else 100, 2 if quick else 9
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(count + repeats, dimension))
    y = -np.sum((x - 0.3) ** 2, axis=1) + 0.3 * np.sin(9 * x[:, 0])
    np.savez(folder / part.MAXIMISER_FILE, x=x, y=y, count=count, repeats=repeats)
    times = {}
    for name in ("v-ucb", "ei", "windfall"):
        bandit = wf.Bandit(wf.Box([0.0] * dimension, [1.0] * dimension), name, seed=0)
        for i in range(count):
            bandit.tell(x[i], y[i])
        bandit.ask()  # compiles
        whole, choice = [], []
        for i in range(count, count + repeats):
            bandit.tell(x[i], y[i])
            begin = time.perf_counter()
            bandit.ask()  # fits the model, then chooses
            middle = time.perf_counter()
            bandit._decider.choose(bandit._record, [])  # only chooses: nothing new was told
            choice.append(time.perf_counter() - middle)
            whole.append(middle - begin)
        times[name] = {"ask_ms": 1e3 * median(whole), "choice_ms": 1e3 * median(choice)}
    return times


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    results = quality(quick)
    return {
        "share": sum(r["won"] for r in results) / len(results),
        "posteriors": len(results),
        "worst_gap": max(r["gap"] for r in results),
        "lost": [r for r in results if not r["won"]],
        "times": ask_times(folder, quick),
    }


if __name__ == "__main__":
    part.main(measure)
