"""What changes from round to round, against loops and identities."""

import numpy as np
import pytest
from scipy import stats

from windfall.errors import InputError
from windfall.problems.changing import abrupt, hidden, slow, wheel_payoffs, wheel_rounds
from windfall.problems.halides import halide_contexts, halide_rounds, read_halides
from windfall.problems.synthetic import cosine

AXIS = np.linspace(0.0, 1.0, 9)
GRID = np.stack(np.meshgrid(AXIS, AXIS, indexing="ij"), axis=-1).reshape(-1, 2)
ROUNDS = 60


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def defined(x: float, y: float, rho: float) -> list[float]:
    """The wheel of Riquelme et al., in so many words."""
    pays = [1.0, 1.0, 1.0, 1.0, 1.2]
    if x**2 + y**2 > rho**2:
        right, upper = x > 0, y > 0
        if right and upper:
            pays[0] = 50.0
        elif right:
            pays[1] = 50.0
        elif upper:
            pays[2] = 50.0
        else:
            pays[3] = 50.0
    return pays


@pytest.mark.parametrize("rho", [0.5, 0.95])
def test_the_wheel_pays_what_its_definition_says(rho):
    drawn = wheel_rounds(rng(), 300, rho)
    assert drawn.contexts is not None
    expected = [defined(x, y, rho) for x, y in drawn.contexts]
    np.testing.assert_array_equal(drawn.payoffs, expected)
    np.testing.assert_array_equal(drawn.payoffs, wheel_payoffs(drawn.contexts, rho))
    assert {int(arm) for arm in drawn.payoffs.argmax(axis=1)} == {0, 1, 2, 3, 4}


def test_contexts_of_the_wheel_fill_the_disk_evenly():
    """The squared radius and the angle of a uniform point are uniform."""
    contexts = wheel_rounds(rng(), 2000, 0.5).contexts
    assert contexts is not None
    radius, angle = np.sum(contexts**2, axis=1), np.arctan2(contexts[:, 1], contexts[:, 0])
    for uniform in (radius, (angle + np.pi) / (2 * np.pi)):
        assert stats.kstest(uniform, "uniform").pvalue > 1e-3


def test_an_abrupt_change_comes_once_and_both_landscapes_are_the_one():
    turns = set()
    for seed in range(20):
        payoffs = abrupt(rng(seed), ROUNDS, GRID, cosine).payoffs
        changes = np.flatnonzero(np.any(payoffs[1:] != payoffs[:-1], axis=1)) + 1
        assert len(changes) <= 1  # sometimes it is turned to where it was
        assert all(20 <= change <= 40 for change in changes)
        for row in (payoffs[0], payoffs[-1]):
            np.testing.assert_allclose(np.sort(row), np.sort(cosine(GRID)), rtol=1e-12)
            turns.add(int(np.argmax(row)))
    assert len(turns) == 4  # the best corner is any of the four


def test_a_slow_drift_goes_as_far_as_it_is_told_and_stays_in_the_box():
    seen = []

    def watched(x):
        seen.append(x)
        return cosine(x)

    payoffs = slow(rng(), ROUNDS, GRID, watched, path=0.4).payoffs
    assert payoffs.shape == (ROUNDS, len(GRID))
    points = np.stack(seen)
    assert points.min() >= 0.0
    assert points.max() <= 1.0
    # Folding shortens no step of a point that does not meet the border.
    steps = np.linalg.norm(np.diff(points, axis=0), axis=2)
    assert steps.max() == pytest.approx(0.4 / (ROUNDS - 1), rel=1e-9)
    free = np.all((points > 0.01) & (points < 0.99), axis=(0, 2))
    whole = np.linalg.norm(points[-1] - points[0], axis=1)
    assert whole.max() == pytest.approx(0.4, rel=1e-9)
    assert free.any()
    np.testing.assert_allclose(np.sort(payoffs[0]), np.sort(cosine(GRID)), rtol=1e-12)


def test_the_best_arm_is_hidden_in_half_of_the_rounds_and_no_other():
    drawn = hidden(rng(), ROUNDS, cosine(GRID))
    best = int(np.argmax(cosine(GRID)))
    assert drawn.available is not None
    gone = ~drawn.available
    assert gone[:, best].sum() == 30
    assert gone.sum() == 30
    assert not np.array_equal(np.sort(gone[:, best]), gone[:, best])
    np.testing.assert_array_equal(drawn.payoffs, np.tile(cosine(GRID), (ROUNDS, 1)))


NINE = [
    f"{halogen}{ring}"
    for ring in ("c1ccccn1", "c1cccnc1", "c1ccc(C)cc1")
    for halogen in ("Br", "Cl", "I")
]


def test_a_halide_is_a_halogen_and_a_ring():
    options, contexts = halide_contexts(NINE)
    assert options["halogen"] == ["Br", "Cl", "I"]
    assert len(np.unique(contexts, axis=0)) == 9
    for formula, (halogen, ring) in zip(NINE, contexts, strict=True):
        assert options["ring"][ring].replace("X", options["halogen"][halogen]) == formula
    with pytest.raises(InputError, match="halide is 'c1ccccc1'; expected one with Br, Cl, I"):
        halide_contexts(["c1ccccc1"])


def test_a_new_halide_comes_last_and_only_there():
    payoffs, (_, contexts) = rng().normal(size=(9, 4)), halide_contexts(NINE)
    drawn = halide_rounds(rng(), payoffs, contexts, new=2, pulls=26, last=10)
    order = [int(np.flatnonzero((payoffs == row).all(axis=1))[0]) for row in drawn.payoffs]
    assert order[16:] == [2] * 10
    assert sorted(order[:16]) == sorted([0, 1, 3, 4, 5, 6, 7, 8] * 2)
    assert all(a == b for a, b in zip(order[:16:2], order[1:16:2], strict=True))  # in blocks
    np.testing.assert_array_equal(drawn.contexts, contexts[order])


def test_a_file_without_halides_says_so(tmp_path):
    (tmp_path / "names.json").write_text('{"snapshots": ["Brc1ccccn1"]}')
    assert read_halides(tmp_path / "names.json") == ["Brc1ccccn1"]
    for text in ("{}", "[", "[1]"):
        (tmp_path / "names.json").write_text(text)
        with pytest.raises(InputError, match=r"names\.json cannot be read; expected a JSON file"):
            read_halides(tmp_path / "names.json")
