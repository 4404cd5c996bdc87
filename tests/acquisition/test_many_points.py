"""Every acquisition's score over twenty thousand arms (see ``many_points``)."""

import jax
import numpy as np
import pytest
from acquisition.fakes import situation
from many_points import assert_all_points_count, uniform
from models.gp.believing import believing
from models.gp.naive import observed, pulls
from policies import ALL, small

from windfall.acquisition.lw import LWUCB
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.space import Arms

ARMS = uniform(3)


@pytest.mark.parametrize("name", [*ALL, "direct"])
def test_scores_and_ratios_of_many_arms(name):
    hyper = Hyper(Matern52(0.5), np.float64(0.05))
    belief = believing(hyper, observed(*pulls(repeats=True, dimension=3)))
    acquisition = direct() if name == "direct" else small(name)
    setup = acquisition.setup(Arms(ARMS, box=[[0.0] * 3, [1.0] * 3]))
    score = acquisition.focus(jax.random.key(0), belief, situation(ARMS[:500], round=5), setup)
    assert_all_points_count(lambda x: (score(x), score.ratio(x)), ARMS)


def direct() -> LWUCB:
    """Without a mixture, and with a weight for each arm that is looked up."""
    return LWUCB(components=0, prior=np.random.default_rng(2).uniform(0.5, 1.5, len(ARMS)))
