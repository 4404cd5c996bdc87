"""Rewards to fit a model to, and the compiled fit."""

import equinox as eqx
import jax
import numpy as np
from models.gp.naive import observed, pulls, standardised

from windfall.models.gp.evidence import Hyper, log_evidence
from windfall.models.gp.fit import fit
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.observations import natural_scale

WARM = Hyper(SquaredExponential([0.3, 0.3], 1.0), np.float64(1e-2))
search = eqx.filter_jit(fit)
evidence = jax.jit(log_evidence)


@jax.jit
def scaled(observations):
    return natural_scale(observations).apply(observations)


def data(repeats=True, seed=0, capacity=16):
    x, y = pulls(repeats, seed=seed)
    return observed(x, standardised(y), capacity)
