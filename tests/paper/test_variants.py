"""Each variant changes the one thing that it says."""

import jax
import numpy as np
import pytest
from acquisition.fakes import fake, situation, tried_at
from hypothesis import given
from hypothesis import strategies as st
from models.gp.naive import observed, pulls
from scipy.stats import norm

from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.models.gp.model import GP
from windfall.models.gp.observations import natural_scale
from windfall.paper.plan import BASELINES, paper
from windfall.paper.variants import AuthorsEI, PullsGP, QuadrantLWUCB
from windfall.problems import load
from windfall.space import Arms


@given(st.integers(0, 40))
def test_scale_over_pulls_is_that_of_the_list_of_rewards(seed):
    with jax.enable_x64(True):
        x, y = pulls(repeats=True, seed=seed)
        scale = PullsGP().scale(observed(x, y))
        assert float(scale.location) == pytest.approx(np.mean(y), rel=1e-12)
        assert float(scale.spread) == pytest.approx(np.std(y), rel=1e-12)


def test_without_repeats_pulls_and_arms_are_the_same():
    with jax.enable_x64(True):
        observations = observed(*pulls(repeats=False))
        over_pulls, over_arms = PullsGP().scale(observations), natural_scale(observations)
        assert float(over_pulls.location) == pytest.approx(float(over_arms.location), rel=1e-12)
        assert float(over_pulls.spread) == pytest.approx(float(over_arms.spread), rel=1e-12)
        again = observed(*pulls(repeats=True))
        assert float(PullsGP().scale(again).location) != float(GP().scale(again).location)


def improvement(acquisition, mean: float, deviation: float, best: float) -> float:
    arms = np.zeros((1, 2))
    belief = fake(
        lambda x: 0 * x[:, 0] + mean,
        lambda x: 0 * x[:, 0] + deviation,
        tried=tried_at(arms, [best]),
    )
    score = acquisition.focus(jax.random.key(0), belief, situation(arms), None)
    return float(score(arms)[0])


def test_authors_ei_one_deviation_below_the_best():
    with jax.enable_x64(True):
        theirs = improvement(AuthorsEI(), 1.0, 0.5, 1.5)
        assert theirs == pytest.approx(0.5 * norm.pdf(1.0), rel=1e-12)
        assert theirs / 0.5 == pytest.approx(0.242, abs=5e-4)
        # The library's score is the logarithm of the closed form.
        assert np.exp(improvement(EI(), 1.0, 0.5, 1.5)) / 0.5 == pytest.approx(0.083, abs=5e-4)


def test_authors_ei_is_ei_above_the_best():
    with jax.enable_x64(True):
        theirs = improvement(AuthorsEI(), 2.0, 0.5, 1.5)
        assert theirs == pytest.approx(0.5 * (norm.pdf(1.0) + norm.cdf(1.0)), rel=1e-12)
        assert theirs == pytest.approx(np.exp(improvement(EI(), 2.0, 0.5, 1.5)), rel=1e-9)


def test_quadrant_domain_lies_in_the_jackpot_s_quadrant():
    wheel = load("wheel-0.5")
    space = Arms(wheel.arms, box=wheel.box)
    survey = QuadrantLWUCB(2.0, 4).setup(space)
    natural = space.natural(np.asarray(survey.domain.points))
    assert natural.min() >= 0.0
    assert natural.max() <= 1.0
    assert np.ptp(natural, axis=0) == pytest.approx([1, 1], abs=0.01)  # and fills it
    assert survey.prior is None  # uniform
    jackpot = wheel.arms[wheel.payoffs(0) == wheel.optimum(0)]
    assert jackpot.min() >= 0.0
    everywhere = LWUCB(2.0, 4).setup(space).domain.points
    assert space.natural(np.asarray(everywhere)).min() < -0.9


def test_the_plan_has_the_paper_s_runs_and_names_every_variant(data_dir):
    for experiment in paper("full", data_dir=str(data_dir)):
        labels = [run.label for run in experiment.all_runs]
        assert len(set(labels)) == len(labels)
        assert labels[:5] == ["lw-ucb", *BASELINES]
        assert all(run.variant == "" for run in (*experiment.runs, *experiment.sensitivity))
        assert all(run.variant and run.reference for run in experiment.variants)
        assert len({repr(run.policy) for run in experiment.all_runs}) == len(labels)
        quadrant = any("quadrant" in label for label in labels)
        assert quadrant == experiment.name.startswith("wheel")
        components = {run.policy.acquisition.components for run in
                      (experiment.runs[0], *experiment.sensitivity)}  # fmt: skip
        synthetic = experiment.name in ("cosine", "michalewicz", "modified-michalewicz")
        assert (components == {2, 4, 6}) == synthetic
