"""How unusual a context is: against the naive way, which leaves each context out in turn."""

import numpy as np
import pytest

from windfall.models.gp.kernels import Matern52
from windfall.models.unusual import unusual

ROOM = 24


def variance(kernel, past, z):
    """Of a Gaussian process at z that knows the past."""
    gram = np.asarray(kernel.gram(past, past)) + 1e-3 * np.eye(len(past))
    cross = np.asarray(kernel.gram(past, z[None]))[:, 0]
    return 1.0 - cross @ np.linalg.solve(gram, cross)


def naively(past, z):
    kernel = Matern52(0.35 * np.sqrt(past.shape[1]))
    now = variance(kernel, past, z)
    before = [variance(kernel, np.delete(past, i, axis=0), past[i]) for i in range(len(past))]
    return np.mean(np.array(before) >= now)


@pytest.mark.parametrize("count", [2, 9, ROOM])
def test_as_if_each_were_left_out(count):
    rng = np.random.default_rng(count)
    past = np.zeros((ROOM, 2))
    past[:count] = rng.uniform(size=(count, 2))
    live = np.arange(ROOM) < count
    for z in rng.uniform(size=(5, 2)):
        assert float(unusual(past, live, z)) == pytest.approx(naively(past[:count], z))


def test_the_outskirts_are_unusual_and_a_context_that_came_before_is_not():
    rng = np.random.default_rng(0)
    past, live = rng.normal(0.5, 0.1, (ROOM, 2)), np.full(ROOM, True)
    assert float(unusual(past, live, np.array([1.0, 0.0]))) == 0.0
    # As certain as what came twice: hardly any other context is.
    assert float(unusual(past, live, past[3])) > 0.5


def test_a_share_of_contexts_that_come_in_no_order_is_below_that_share():
    """Exchangeable ones are: over all orders exactly, here over who comes last."""
    rng = np.random.default_rng(1)
    every = rng.uniform(size=(ROOM + 1, 2)) ** 2
    live = np.full(ROOM, True)
    shares = [
        float(unusual(np.delete(every, last, axis=0), live, every[last]))
        for last in range(ROOM + 1)
    ]
    # The past of each lacks another context, so that ranks are not quite those of one list.
    assert 0.1 < np.mean(np.array(shares) < 0.3) < 0.5


def test_before_any_context_nothing_is_known():
    assert float(unusual(np.zeros((4, 1)), np.full(4, False), np.zeros(1))) == 0.0
