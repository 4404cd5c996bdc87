"""Every landscape against its formula, written out arm by arm and fed from the same generator."""

import math

import numpy as np
import pytest

from windfall.problems import arm_sets, landscapes

X3 = np.random.default_rng(0).uniform(size=(60, 3))
X2 = X3[:, :2]
MENU = arm_sets.categories(np.random.default_rng(1), 4, 12, 2)
LEVELS = arm_sets.levels(np.random.default_rng(1), (3, 3, 3))


def bump(x, centre, width):
    return math.exp(-sum((a - c) ** 2 for a, c in zip(x, centre, strict=True)) / (2 * width**2))


def hill(rng, x):
    centre, logs = rng.uniform(0.2, 0.8, 3), rng.uniform(np.log(0.3), np.log(1.0), 3)
    return [math.prod(bump([p[j]], [centre[j]], math.exp(logs[j])) for j in range(3)) for p in x]


def needle(rng, x):
    centre = x[rng.integers(len(x))]
    return [bump(point, centre, 0.1) for point in x]


def spikes(rng, x):
    chosen = rng.choice(len(x), 3, replace=False)
    widths = rng.uniform(0.6, 1.4, 3)
    return [
        max(h * bump(point, x[c], 0.1 * w)
            for h, c, w in zip((1.0, 0.7, 0.4), chosen, widths, strict=True))
        for point in x
    ]  # fmt: skip


def decoy(rng, x):
    summit = rng.uniform(0.15, 0.85, 2)
    distances = [math.dist(point, summit) for point in x]
    far = [p for p, d in zip(x, distances, strict=True) if d >= 0.6 * max(distances)]
    spike = far[rng.integers(len(far))]
    return [max(0.6 * bump(point, summit, 0.25), bump(point, spike, 0.05)) for point in x]


def plateaus(rng, x):
    centres = x[rng.choice(len(x), 5, replace=False)]
    levels = [(k / 4) ** 4 for k in range(5)]
    return [levels[min(range(5), key=lambda k: math.dist(point, centres[k]))] for point in x]


def waves(rng, x, frequency=0.7, octaves=3):
    total = [0.0] * len(x)
    for octave in range(octaves):
        directions, phases = rng.normal(size=(x.shape[1], 64)), rng.uniform(0.0, 2 * np.pi, 64)
        for i, point in enumerate(x):
            for k in range(64):
                turns = 2**octave * frequency * sum(point * directions[:, k])
                total[i] += 0.6**octave * math.cos(2 * math.pi * turns + phases[k])
    return total


def terraces(rng, x):
    smooth = waves(rng, x, 0.7, 1)
    share = [(s - min(smooth)) / (max(smooth) - min(smooth)) for s in smooth]
    return [float(sum(s >= k / 4 for k in (1, 2, 3))) for s in share]


def ripples(rng, x):
    centre = rng.uniform(0.2, 0.8, 3)
    return [
        -sum(4 * z**2 + 0.3 - 0.3 * math.cos(2 * math.pi * 2.5 * z) for z in point - centre)
        for point in x
    ]


def ridge(rng, x):
    phases = rng.uniform(0.0, 2 * np.pi, 2)
    top = rng.uniform(0.1, 0.9, 1)[0]
    return [
        (0.4 + 0.6 * bump([a], [top], 0.15))
        * bump([b, c], [0.5 + 0.25 * math.sin(math.pi * a + p) for p in phases], 0.2)
        for a, b, c in x
    ]


def valley(rng, x):
    kept = rng.random(2) < 0.5
    a = rng.uniform(0.3, 1.3)
    values = []
    for p, q in x:
        u = 3 * (p if kept[0] else 1 - p) - 1.5
        v = 3 * (q if kept[1] else 1 - q) - 0.75
        values.append(-((a - u) ** 2) - 20 * (v - u * u) ** 2)
    return values


def menu(rng, x):
    centres, heights = rng.uniform(size=(4, 2)), rng.permutation(np.linspace(0.3, 1.0, 4))
    return [heights[int(k)] * bump(rest, centres[int(k)], 0.25) for k, *rest in x]


def factors(rng, x):
    single, pair = rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3, 3))
    values = []
    for a, b, c in x.astype(int):
        alone = single[0, a] + single[1, b] + single[2, c]
        together = pair[0, 1, a, b] + pair[0, 2, a, c] + pair[1, 2, b, c]
        values.append(math.exp(0.5 * alone + 0.25 * together))
    return values


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("naive", "points", "settings"),
    [
        (hill, X3, {}),
        (needle, X2, {"width": 0.1}),
        (spikes, X2, {"count": 3, "width": 0.1}),
        (decoy, X2, {"width": 0.05}),
        (plateaus, X3, {"cells": 5}),
        (waves, X3, {"frequency": 0.7, "octaves": 3}),
        (terraces, X2, {"steps": 4, "frequency": 0.7}),
        (ripples, X3, {"frequency": 2.5}),
        (ridge, X3, {"width": 0.2}),
        (valley, X2, {}),
        (menu, MENU, {}),
        (factors, LEVELS, {}),
    ],
)
def test_the_formula(naive, points, settings, seed):
    landscape = getattr(landscapes, naive.__name__)
    values = landscape(np.random.default_rng(seed), points, **settings)
    expected = naive(np.random.default_rng(seed), points)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_peaks_stand_on_arms(seed):
    for name, settings in (
        ("needle", {"width": 0.05}),
        ("spikes", {"count": 6, "width": 0.05}),
        ("decoy", {"width": 0.05}),
    ):
        values = getattr(landscapes, name)(np.random.default_rng(seed), X2, **settings)
        assert values.max() == 1.0
        assert (values == 1.0).sum() == 1


def test_waves_of_one_octave_have_the_covariance_of_a_squared_exponential():
    """Over 400 landscapes a correlation has a deviation of at most 0.05; five are allowed."""
    x = np.array([[0.0], [0.1], [0.3], [0.8]])
    draws = [landscapes.waves(np.random.default_rng(s), x, frequency=0.5) for s in range(400)]
    lengthscale = 1 / (2 * np.pi * 0.5)
    expected = np.exp(-0.5 * ((x - x.T) / lengthscale) ** 2)
    np.testing.assert_allclose(np.corrcoef(np.array(draws).T), expected, atol=0.25)
    np.testing.assert_allclose(np.var(draws, axis=0), 32.0, rtol=0.36)  # deviation 7 %


def test_heavy_tails_have_the_tail_they_are_named_for():
    """Shares of 100,000 draws beyond a bound, within five binomial deviations."""
    points = np.zeros((100_000, 1))
    pareto = landscapes.pareto(np.random.default_rng(0), points, tail=1.5)
    student = landscapes.student(np.random.default_rng(0), points, freedom=2.0)
    for bound in (1.0, 5.0, 20.0):
        for values, tail in (
            (pareto, (1 + bound) ** -1.5),
            # Student's t with 2 degrees of freedom has this distribution function in closed form.
            (student, 0.5 * (1 - bound / math.sqrt(2 + bound**2))),
            (-student, 0.5 * (1 - bound / math.sqrt(2 + bound**2))),
        ):
            allowed = 5 * math.sqrt(tail * (1 - tail) / len(points))
            assert abs((values > bound).mean() - tail) < allowed
