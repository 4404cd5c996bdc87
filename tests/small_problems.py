"""Small problems for the tests of simulation."""

import numpy as np

from windfall.problems import Problem, Protocol


def line(arms: int = 24, noise: float = 1e-3) -> Problem:
    """One feature, a narrow peak at 0.7."""
    x = np.linspace(0.0, 1.0, arms)[:, None]
    protocol = Protocol(rounds=12, trials=3, components=2)
    return Problem(
        arms=x, payoff=lambda x: np.exp(-(((x[:, 0] - 0.7) / 0.1) ** 2)), noise=noise,
        name="line", protocol=protocol,
    )  # fmt: skip


def snapshots() -> Problem:
    """A network of twelve sensors, another payoff in every trial."""
    rng = np.random.default_rng(5)
    locations = rng.uniform(size=(12, 2))
    readings = rng.normal(size=(4, 12))
    return Problem(arms=locations, payoff=readings, noise=1e-3, name="network")


def lattice() -> Problem:
    """Five by four points of the plane; each pays more than the one before."""
    axis = np.linspace(0.0, 2.0, 5)
    arms = np.stack(np.meshgrid(axis, axis[:4]), axis=-1).reshape(-1, 2)
    return Problem(arms=arms, payoff=np.arange(20.0), name="made-up")
