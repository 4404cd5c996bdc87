"""Every acquisition's score over twenty thousand arms (see ``many_points``)."""

import jax
import numpy as np
import pytest
from acquisition.fakes import situation
from many_points import assert_all_points_count, uniform
from models.gp.naive import observed, pulls
from policies import ALL, DIRECT, small

from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.models.gp.posterior import condition

ARMS = uniform(3)
PRIOR = np.random.default_rng(2).uniform(0.5, 1.5, len(ARMS))


@pytest.mark.parametrize("name", [*ALL, "direct"])
def test_scores_and_ratios_of_many_arms(name):
    posterior = condition(
        Hyper(Matern52(0.5), np.float64(0.05)), observed(*pulls(repeats=True, dimension=3))
    )
    around = situation(ARMS[:500], round=5, best=4.0)
    acquisition = DIRECT if name == "direct" else small(name)
    score = acquisition.focus(jax.random.key(0), posterior, around)
    assert_all_points_count(lambda x, p: (score(x, p), score.ratio(x, p)), ARMS, PRIOR)
