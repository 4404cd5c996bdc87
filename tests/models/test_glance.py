"""A pass over items: the same sums and maxima one after the other and all at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from windfall.models import glance
from windfall.models.glance import pass_over

ITEMS, POINTS = (np.random.default_rng(i).normal(size=n) for i, n in enumerate((7, 5)))


@pytest.mark.parametrize("accelerator", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 4, 7])
def test_sums_and_maxima_of_the_first_items(monkeypatch, accelerator, rows):
    monkeypatch.setattr(glance, "on_accelerator", lambda: accelerator)

    def look(item, factor):
        return factor * jnp.sin(item * POINTS), item - jnp.asarray(POINTS, jnp.float32)

    passed = jax.jit(lambda rows: pass_over(look, (jnp.asarray(ITEMS), -jnp.asarray(ITEMS)), rows))
    total, most = passed(rows)
    items = ITEMS[:rows, None]
    np.testing.assert_allclose(total, np.sum(-items * np.sin(items * POINTS), axis=0), rtol=1e-12)
    expected = np.max(items - POINTS, axis=0, initial=0.0)
    np.testing.assert_allclose(most, expected, rtol=1e-6)
    alone = pass_over(lambda item: (item * POINTS, None), (jnp.asarray(ITEMS),), rows)
    np.testing.assert_allclose(alone[0], np.sum(items, axis=0) * POINTS, rtol=1e-12)
    assert alone[1] is None
