"""The suite ``extremes``: nineteen problems unlike the paper's, on which a policy must not fail.

Every problem has one set of arms and another landscape in every trial: its peaks, ridges, steps or
factors are drawn afresh, so that nothing can be tuned to one instance. All of it is a function of
the problem's name and the number of the trial; the trials after the first ``SNAPSHOTS`` meet the
same landscapes again, with other initial arms and other noise.

Payoffs are standardised over the arms of each trial, to mean 0 and deviation 1. The noise is then
the same share of the payoffs' deviation in every trial (0.5 is 50 %), regrets of different trials
can be pooled, and heavy tails stay finite: no payoff is further than √M from 0.

The half ``tune`` is for choosing settings, the half ``report`` only for reporting what they do.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from windfall.problems import arm_sets, landscapes
from windfall.problems.problem import Problem, Protocol
from windfall.problems.synthetic import standardise

__all__ = ["EXTREMES", "SNAPSHOTS", "Extreme", "arms", "extreme"]

SNAPSHOTS = 50
TRIALS = 20
#: The generator's second number: the arms have a stream of their own, beside one per trial.
_ARMS = SNAPSHOTS


@dataclass(frozen=True)
class Extreme:
    """How to make a problem.

    Attributes:
        half: The part of the suite that it belongs to.
        landscape: What the payoffs look like, in words.
        arm_set: How the arms lie, in words.
        points: Draws the points that the landscape sees.
        payoff: Draws the payoffs of a trial over these points.
        features: What a policy sees of a point; the point itself by default.
        noise: Deviation of a reward, as a share of the payoffs' deviation.
        rounds: T.
        initial: Arms pulled before the policy decides.
    """

    half: Literal["tune", "report"]
    landscape: str
    arm_set: str
    points: Callable[[np.random.Generator], np.ndarray]
    payoff: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    noise: float
    rounds: int
    initial: int = 3
    features: Callable[[np.ndarray], np.ndarray] = lambda points: points

    @property
    def description(self) -> str:
        """One line for tables."""
        return f"{self.landscape}; {self.arm_set}"

    @property
    def protocol(self) -> Protocol:
        """The settings of the experiment; κ and n_GMM as in the paper's synthetic ones."""
        return Protocol(rounds=self.rounds, trials=TRIALS, initial=self.initial)


def _scattered(size: int, dimension: int) -> Any:
    return partial(arm_sets.scattered, size=size, dimension=dimension)


EXTREMES: dict[str, Extreme] = {
    "hill-3d": Extreme(
        "tune", "smooth, one broad hill", "random arms",
        _scattered(1000, 3), landscapes.hill, noise=0.5, rounds=50,
    ),
    "needle-2d": Extreme(
        "tune", "needle in flat land", "a grid",
        partial(arm_sets.grid, side=40, dimension=2), partial(landscapes.needle, width=0.05),
        noise=1e-3, rounds=80,
    ),
    "spikes-2d": Extreme(
        "tune", "six spikes of different height", "random arms around three holes",
        partial(arm_sets.holes, size=2000, dimension=2, count=3, radius=0.2),
        partial(landscapes.spikes, count=6, width=0.06), noise=0.01, rounds=80,
    ),
    "plateaus-4d": Extreme(
        "tune", "fifty plateaus, few of them high", "random arms",
        _scattered(3000, 4), partial(landscapes.plateaus, cells=50), noise=0.1, rounds=60,
    ),
    "ridge-5d": Extreme(
        "tune", "winding ridge", "random arms, features scaled from 0.001 to 1000",
        _scattered(5000, 5), partial(landscapes.ridge, width=0.2), noise=0.1, rounds=80,
        features=partial(arm_sets.stretched, decades=6.0),
    ),
    "rugged-1d": Extreme(
        "tune", "rugged, waves of four octaves", "random arms, crowded at one end",
        partial(arm_sets.uneven, size=200, dimension=1, power=2.0),
        partial(landscapes.waves, frequency=1.0, octaves=4), noise=0.5, rounds=60,
    ),
    "menu-7d": Extreme(
        "tune", "a smooth bump for each of five categories", "one-hot category and two numbers",
        partial(arm_sets.categories, count=5, each=40, dimension=2), landscapes.menu,
        noise=0.1, rounds=60, features=arm_sets.one_hot,
    ),
    "pareto-2d": Extreme(
        "tune", "no structure, Pareto payoffs of tail index 1.5", "random arms",
        _scattered(300, 2), partial(landscapes.pareto, tail=1.5), noise=1e-3, rounds=60,
    ),
    "hill-8d": Extreme(
        "report", "smooth, one broad hill", "random arms",
        _scattered(20_000, 8), landscapes.hill, noise=0.1, rounds=80, initial=10,
    ),
    "needle-3d": Extreme(
        "report", "needle in flat land", "random arms",
        _scattered(8000, 3), partial(landscapes.needle, width=0.12), noise=0.01, rounds=100,
    ),
    "spikes-4d": Extreme(
        "report", "eight spikes of different height", "twelve clusters",
        partial(arm_sets.clusters, count=12, each=50, dimension=4, spread=0.05),
        partial(landscapes.spikes, count=8, width=0.1), noise=0.1, rounds=60,
    ),
    "steps-1d": Extreme(
        "report", "five level steps", "a grid",
        partial(arm_sets.grid, side=100, dimension=1),
        partial(landscapes.terraces, steps=5, frequency=1.0), noise=0.1, rounds=40, initial=1,
    ),
    "valley-2d": Extreme(
        "report", "curved valley, extremely low payoffs beside it", "random arms around two holes",
        partial(arm_sets.holes, size=600, dimension=2, count=2, radius=0.15),
        landscapes.valley, noise=0.01, rounds=60,
    ),
    "rugged-6d": Extreme(
        "report", "rugged, a rippled bowl", "random arms",
        _scattered(10_000, 6), partial(landscapes.ripples, frequency=2.5), noise=0.5, rounds=80,
    ),
    "decoy-2d": Extreme(
        "report", "broad low hill and a narrow high spike far away", "random arms",
        _scattered(2500, 2), partial(landscapes.decoy, width=0.06), noise=1e-3, rounds=100,
    ),
    "recipe-5d": Extreme(
        "report", "levels of five factors and their pairs multiply", "whole numbers 0 to 3",
        partial(arm_sets.levels, counts=(4, 4, 4, 4, 4)), landscapes.factors,
        noise=0.5, rounds=80,
    ),
    "student-6d": Extreme(
        "report", "no structure, Student payoffs with 2 degrees of freedom", "random arms",
        _scattered(1000, 6), partial(landscapes.student, freedom=2.0), noise=0.1, rounds=60,
    ),
    "helix-3d": Extreme(
        "report", "five bumps of different height along a curve", "a helix of five turns",
        _scattered(400, 1), partial(landscapes.spikes, count=5, width=0.03), noise=0.1, rounds=60,
        features=partial(arm_sets.helix, turns=5.0),
    ),
    "handful-4d": Extreme(
        "report", "smooth, several hills", "twenty random arms",
        _scattered(20, 4), partial(landscapes.waves, frequency=0.4), noise=0.5, rounds=40,
        initial=2,
    ),
}  # fmt: skip


def arms(name: str) -> np.ndarray:
    """The features of a problem's arms.

    >>> arms("menu-7d").shape
    (200, 7)
    """
    return EXTREMES[name].features(_points(name))


def extreme(name: str) -> Problem:
    """The problem of that name.

    >>> problem = extreme("needle-2d")
    >>> problem.size, problem.snapshots, problem.optimal_arm(0) == problem.optimal_arm(1)
    (1600, 50, False)
    """
    known, points = EXTREMES[name], _points(name)
    trials = (_generator(name, trial) for trial in range(SNAPSHOTS))
    return Problem(
        arms=known.features(points),
        payoff=np.stack([standardise(known.payoff(rng, points)) for rng in trials]),
        noise=known.noise,
        name=name,
        protocol=known.protocol,
        description=known.description,
    )


def _points(name: str) -> np.ndarray:
    return EXTREMES[name].points(_generator(name, _ARMS))


def _generator(name: str, stream: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(name.encode()), stream])
