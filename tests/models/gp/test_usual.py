"""The models that windfall's own policies use: which kernel stands beside a context."""

import pytest

from windfall.models.gp.kernels import Jumps, Matern52, Part, Trend
from windfall.models.gp.model import GP
from windfall.models.gp.usual import similarity_model
from windfall.space import Apart

ARMS, SIMILAR = Part(Matern52(0.3), 0, 4), Part(Trend(1.0), 0, 4)


@pytest.mark.parametrize(
    ("model", "apart", "kernel"),
    [
        (GP(Matern52(0.3)), Apart(4, False), Matern52(0.3)),
        (GP(Matern52(0.3)), Apart(4, True), ARMS + Part(Matern52(0.3), 4, 6)),
        (GP(Matern52(0.3), contexts=Jumps(0.5)), Apart(4, False), ARMS * Part(Jumps(0.5), 4, 6)),
        (GP(Matern52(0.3), contexts=Jumps(0.5)), Apart(4, True), ARMS + Part(Jumps(0.5), 4, 6)),
        (similarity_model(), Apart(4, False), SIMILAR * Part(Matern52(0.5), 4, 6)),
        (similarity_model(), Apart(4, True), SIMILAR + Part(Matern52(0.5), 4, 6)),
        (similarity_model(), None, Trend(1.0)),
    ],
    ids=["one", "sum", "own", "own sum", "similar", "similar sum", "similar, no context"],
)
def test_the_kernel_of_arms_and_that_of_contexts(model, apart, kernel):
    assert repr(model.over(6, apart)) == repr(kernel)
