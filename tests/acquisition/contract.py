"""What every acquisition promises, on a belief with known moments.

A new acquisition is put through all of it by one line in ``EVERYWHERE`` (or in ``ON_ARMS``, if it
makes no sense without arms).
"""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from acquisition.fakes import fake, tried_at
from models.gp.believing import believing
from models.gp.naive import observed, pulls
from models.gp.test_bayes import HYPERS, SCALE, ensemble

from windfall.acquisition.average import focus
from windfall.acquisition.base import Acquisition, Situation
from windfall.acquisition.ei import EI
from windfall.acquisition.lw import LWUCB
from windfall.acquisition.prospect import Prospect
from windfall.acquisition.thompson import TS
from windfall.acquisition.ucb import GPUCB, VUCB, Mean
from windfall.acquisition.windfall import Windfall
from windfall.attention.prior import gaussian
from windfall.errors import InputError
from windfall.models.gp.belief import GPBelief
from windfall.space import Arms, Box, Space

EVERYWHERE: list[Acquisition] = [
    EI(),
    EI(xi=0.1),
    TS(features=32),
    VUCB(),
    GPUCB(),
    GPUCB.scaled(),
    LWUCB(points=64),
    LWUCB(components=0, points=64),
    LWUCB(components=0, points=64, prior=gaussian([0.4, 0.6], 0.3)),
    Mean(),
    Prospect(),
    Windfall(),
]
ON_ARMS: list[Acquisition] = [
    LWUCB(components=2, domain="arms"),
    LWUCB(prior=np.arange(1.0, 51.0)),
    LWUCB(components=0, prior=np.arange(1.0, 51.0)),
]
ACQUISITIONS = EVERYWHERE + ON_ARMS
#: Those whose ratio is not 1 everywhere.
ATTENTIVE = (LWUCB, Windfall)

POINTS = np.random.default_rng(0).random((50, 2))
LIST = Arms(POINTS, box=[[0.0, 0.0], [1.0, 1.0]])
BOX = Box([0.0, 0.0], [1.0, 1.0])
BELIEF = fake(tried=tried_at(POINTS[:4], [0.3, -0.2, 0.9, 0.1]))
KEY = jax.random.key(0)


def situation(space: Space, round: int = 1) -> Situation:
    return Situation(np.int32(round), space.size, space.anchors(8))


@eqx.filter_jit
def scores(acquisition, key, belief, around, setup, x):
    """Scores and ratios; what ``setup`` gave is an argument of the program, as in a study."""
    score = acquisition.focus(key, belief, around, setup)
    return score(x), score.ratio(x)


def evaluated(acquisition, space, key=KEY, x=POINTS):
    setup = acquisition.setup(space)
    answers = scores(acquisition, key, BELIEF, situation(space), setup, x)
    return jax.tree.map(np.asarray, answers)


def spaces(acquisition) -> list[Space]:
    """Where it can be used; one that needs arms refuses a box."""
    if any(acquisition is one for one in ON_ARMS):
        with pytest.raises(InputError, match="a box has no arms"):
            acquisition.setup(BOX)
        return [LIST]
    return [LIST, BOX]


def scores_are_finite_numbers_one_for_each_point(acquisition):
    for space in spaces(acquisition):
        values, ratio = evaluated(acquisition, space)
        assert values.shape == ratio.shape == (50,)
        assert values.dtype == ratio.dtype == np.float64
        assert np.all(np.isfinite(values))
        assert np.ptp(values) > 0
        assert np.all(ratio >= 0)
        assert isinstance(acquisition, ATTENTIVE) or np.all(ratio == 1.0)


def the_same_key_gives_the_same_scores(acquisition):
    for space in spaces(acquisition):
        first, again = (evaluated(acquisition, space)[0] for _ in range(2))
        np.testing.assert_array_equal(first, again)


def one_point_at_a_time_scores_the_same(acquisition):
    """A score is a function of points: it does not depend on which others are asked about."""
    together, ratio = evaluated(acquisition, LIST)
    for i in (0, 17, 49):
        alone, its_ratio = evaluated(acquisition, LIST, x=POINTS[i : i + 1])
        np.testing.assert_allclose(alone, together[i : i + 1], rtol=1e-9)
        np.testing.assert_allclose(its_ratio, ratio[i : i + 1], rtol=1e-9)


def setup_is_host_arrays_made_once_per_study(acquisition):
    for space in spaces(acquisition):
        setup = acquisition.setup(space)
        for leaf in jax.tree.leaves(setup):
            assert isinstance(leaf, np.ndarray | np.generic)
        again = acquisition.setup(space)
        for one, other in zip(*map(jax.tree.leaves, (setup, again)), strict=True):
            np.testing.assert_array_equal(one, other)


def rounds_run_in_a_loop_of_a_compiled_program(acquisition):
    """``focus`` needs nothing of the space but its setup: trials on a list are such loops."""

    @eqx.filter_jit
    def looped(setup):
        def body(i, _):
            around = Situation(i, LIST.size, LIST.anchors(8))
            score = acquisition.focus(jax.random.fold_in(KEY, i), BELIEF, around, setup)
            return score(POINTS)

        return jax.lax.fori_loop(1, 4, body, jnp.zeros(50))

    setup, key = acquisition.setup(LIST), jax.random.fold_in(KEY, 3)
    alone, _ = scores(acquisition, key, BELIEF, situation(LIST, 3), setup, POINTS)
    np.testing.assert_allclose(looped(setup), alone, rtol=1e-9, atol=1e-12)


def a_score_has_a_gradient_on_a_box(acquisition):
    """Against central differences; a list needs none."""
    if BOX not in spaces(acquisition):
        return

    @eqx.filter_jit
    def run(setup, x):
        score = acquisition.focus(KEY, BELIEF, situation(BOX), setup)
        slopes = jax.vmap(jax.grad(lambda x: score(x[None])[0]))(x)
        moves = 1e-6 * jnp.eye(2)
        up, down = (score((x[:, None] + s * moves).reshape(-1, 2)) for s in (1, -1))
        return slopes, ((up - down) / 2e-6).reshape(-1, 2)

    exact, differences = run(acquisition.setup(BOX), POINTS[:5])
    # Rounding of a score of size s makes differences wrong by about s·10⁻¹⁶/10⁻⁶.
    size = 1.0 + np.abs(evaluated(acquisition, BOX)[0]).max()
    np.testing.assert_allclose(exact, differences, rtol=1e-5, atol=1e-8 * size)
    assert np.abs(exact).max() > 1e-3


@functools.cache
def probable() -> tuple[GPBelief, list[GPBelief]]:
    """A belief of several equally probable ones, and these."""
    data = observed(*pulls(repeats=True))
    member = eqx.filter_jit(believing)
    return GPBelief(data, ensemble(data), np.int32(0)), [member(h, data, SCALE) for h in HYPERS]


@eqx.filter_jit
def averaged(acquisition, key, belief, around, setup):
    score = focus(acquisition, key, belief, around, setup)
    return score(POINTS), score.ratio(POINTS)


@eqx.filter_jit
def average(acquisition, key, belief, around, setup, values):
    return acquisition.focus(key, belief, around, setup).average(values)


def equally_probable_beliefs_are_averaged_or_drawn_from(acquisition):
    """Whatever the average of its scores is; if ``averages`` is False, the whole belief's score."""
    whole, members = probable()
    setup, around = acquisition.setup(LIST), situation(LIST)
    if not acquisition.averages:
        expected = scores(acquisition, KEY, whole, around, setup, POINTS)
    else:
        keys = jax.random.split(KEY, len(members))
        alone = [
            scores(acquisition, key, member, around, setup, POINTS)
            for key, member in zip(keys, members, strict=True)
        ]
        values, ratios = map(np.stack, zip(*alone, strict=True))
        value = average(acquisition, KEY, members[0], around, setup, values)
        expected = value, ratios.mean(axis=0)
    ours = averaged(acquisition, KEY, whole, around, setup)
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8)


def its_model_can_be_begun(acquisition):
    assert acquisition.model().begin(LIST, 16).prior_deviation(POINTS).shape == (50,)


CHECKS: list[Callable[[Acquisition], None]] = [
    scores_are_finite_numbers_one_for_each_point,
    the_same_key_gives_the_same_scores,
    one_point_at_a_time_scores_the_same,
    setup_is_host_arrays_made_once_per_study,
    rounds_run_in_a_loop_of_a_compiled_program,
    a_score_has_a_gradient_on_a_box,
    equally_probable_beliefs_are_averaged_or_drawn_from,
    its_model_can_be_begun,
]
EACH = pytest.mark.parametrize(
    "acquisition", ACQUISITIONS, ids=[f"{type(a).__name__}{i}" for i, a in enumerate(ACQUISITIONS)]
)
