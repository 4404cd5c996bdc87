"""Problems whose rounds differ, by name: contexts, drift, an arm that hides.

Every trial draws its own: a function of the problem's name and the number of the trial.
"""

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from windfall.problems import changing
from windfall.problems.changing import Rounds
from windfall.problems.datafolder import data_folder, missing_data
from windfall.problems.halides import halide_contexts, halide_rounds, read_halides
from windfall.problems.lists import from_folder
from windfall.problems.problem import Problem, Protocol
from windfall.problems.sensors import sensors
from windfall.problems.synthetic import FUNCTIONS, standardise
from windfall.space import Categorical, Parameters

__all__ = ["VARYING", "Varying", "varying"]

#: Of a reward, in deviations of the payoffs.
NOISE = 0.05
RHOS = (0.5, 0.7, 0.9, 0.95, 0.99)
#: A coarser grid than the paper's: policies that know nothing of neighbours shall have a chance.
GRID = 16
#: Pulls of the halide that is new, after those of all others.
LAST = 30


@dataclass(frozen=True)
class Varying:
    """What is known of such a problem before it is made.

    Attributes:
        description: One line for tables.
        arms: How many.
        features: How many.
        noise: Of a reward.
        rounds: T.
        trials: How many.
        make: The rest of it, from the data folder.
        needs_data: Whether it looks there.
    """

    description: str
    arms: int
    features: int
    noise: float
    rounds: int
    trials: int
    make: Callable[[Any, str], dict[str, Any]]
    needs_data: bool = False

    @property
    def protocol(self) -> Protocol:
        """The settings of the experiment."""
        return Protocol(rounds=self.rounds, trials=self.trials, kappa=1.0, components=2)


def varying(name: str, data_dir: str | os.PathLike[str] | None = None) -> Problem:
    """The problem of that name.

    >>> problem = varying("contextual-wheel-0.9")
    >>> problem.size, problem.context.names, problem.drawn(0, 7).payoffs.shape
    (5, ('x', 'y'), (7, 5))
    """
    known = VARYING[name]
    return Problem(
        noise=known.noise,
        name=name,
        protocol=known.protocol,
        description=known.description,
        **known.make(data_dir, name),
    )


def _generator(name: str, trial: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(name.encode()), trial])


def _wheel(folder: Any, name: str, rho: float) -> dict[str, Any]:
    def rounds(trial: int, pulls: int) -> Rounds:
        return changing.wheel_rounds(_generator(name, trial), pulls, rho)

    names = [f"quarter {i}" for i in range(1, 5)]
    context = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
    return {
        "arms": np.eye(5), "feature_names": [*names, "safe"], "rounds": rounds, "context": context,
    }  # fmt: skip


def _grid() -> np.ndarray:
    axis = np.linspace(0.0, 1.0, GRID)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def _drifting(
    folder: Any, name: str, function: str, drift: Callable[..., Rounds]
) -> dict[str, Any]:
    arms, f = _grid(), FUNCTIONS[function][0]
    shift, scale = f(arms).mean(), f(arms).std()

    def rounds(trial: int, pulls: int) -> Rounds:
        return drift(_generator(name, trial), pulls, arms, lambda x: (f(x) - shift) / scale)

    return {"arms": arms, "rounds": rounds, "box": [[0.0, 0.0], [1.0, 1.0]]}


def _hiding(folder: Any, name: str, function: str) -> dict[str, Any]:
    arms = _grid()
    payoffs = standardise(FUNCTIONS[function][0](arms))

    def rounds(trial: int, pulls: int) -> Rounds:
        return changing.hidden(_generator(name, trial), pulls, payoffs)

    return {"arms": arms, "rounds": rounds, "box": [[0.0, 0.0], [1.0, 1.0]]}


def _hours(folder: Any, name: str, known: bool) -> dict[str, Any]:
    """Snapshots come every ten minutes; a round an hour later than the one before."""
    still = sensors("temperature", folder)

    def rounds(trial: int, pulls: int) -> Rounds:
        first = int(_generator(name, trial).integers(still.snapshots))
        numbers = changing.successive(still.payoff, first, pulls, 6)
        hours = (numbers[:, None] / 6.0) % 24.0
        return Rounds(still.payoff[numbers], hours if known else None)

    context = {"hour": (0.0, 24.0)} if known else None
    names = still.feature_names
    return {"arms": still.arms, "feature_names": names, "rounds": rounds, "context": context}


def _halides(folder: Any, name: str) -> dict[str, Any]:
    home = Path(data_folder(folder)) / "buchwald_hartwig"
    if not home.is_dir():
        raise missing_data(name, "a folder buchwald_hartwig", data_folder(folder))
    still = from_folder(home)
    options, contexts = halide_contexts(read_halides(home / "names.json"))

    def rounds(trial: int, pulls: int) -> Rounds:
        new = trial % still.snapshots
        return halide_rounds(_generator(name, trial), still.payoff, contexts, new, pulls, LAST)

    context = Parameters({part: Categorical(each) for part, each in options.items()})
    names = still.feature_names
    return {"arms": still.arms, "feature_names": names, "rounds": rounds, "context": context}


#: How a landscape changes: in words, and what makes it so.
_CHANGES: dict[str, tuple[str, Callable[..., dict[str, Any]]]] = {
    "abrupt": (
        "turned over, once, at a time that nobody knows",
        partial(_drifting, drift=changing.abrupt),
    ),
    "slow": ("moving across the square", partial(_drifting, drift=changing.slow)),
    "hidden": ("where the best arm hides in half of the rounds", _hiding),
}

VARYING: dict[str, Varying] = {
    **{
        f"contextual-wheel-{rho}": Varying(
            f"five arms, contexts in the disk; outside radius {rho} one pays the jackpot",
            5, 5, 0.01, 2000, 10, partial(_wheel, rho=rho),
        )
        for rho in RHOS
    },
    **{
        f"{function}-{kind}": Varying(
            f"{function} on a coarse grid, {words}", GRID**2, 2, NOISE, 300, 20,
            partial(make, function=function),
        )
        for function in FUNCTIONS
        for kind, (words, make) in _CHANGES.items()
    },
    "temperature-hours": Varying(
        "temperature in the Intel Berkeley lab, hour by hour, the hour as context",
        46, 2, 1e-4, 100, 50, partial(_hours, known=True), True,
    ),
    "temperature-drift": Varying(
        "temperature in the Intel Berkeley lab, hour by hour",
        46, 2, 1e-4, 100, 50, partial(_hours, known=False), True,
    ),
    "buchwald-hartwig-halides": Varying(
        "yields with fourteen aryl halides, then with another; the halide as context",
        260, 29, NOISE, 14 * 20 + LAST - 2, 15, _halides, True,
    ),
}  # fmt: skip
