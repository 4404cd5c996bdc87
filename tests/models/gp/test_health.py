"""A model that cannot predict says why, whatever the study; a good one is left alone."""

import dataclasses
import re

import jax.numpy as jnp
import numpy as np
import pytest
from models.gp.believing import believing
from models.gp.naive import observed

import windfall as wf
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Kernel, as_kernel

LINE = np.linspace(0.0, 1.0, 9)[:, None]
BOX = wf.Box([0.0, -1.0], [2.0, 1.0])
POINTS = np.random.default_rng(4).uniform(size=(8, 2))
QUICK = wf.Fit(restarts=0, iterations=5)


def minus_distance(a, b):
    return -jnp.sum(jnp.abs(a - b))


def sine(a, b):
    return 1.0 + jnp.sin(3.0 * jnp.sum(a - b) ** 2)  # symmetric, 1 on the diagonal, indefinite


def lopsided(a, b):
    return jnp.exp(-jnp.sum(jnp.abs(a - b))) * (1.0 + 0.1 * a[0])


def hole(a, b):
    return jnp.log(jnp.sum((a - b) ** 2))  # −∞ on the diagonal


class Cone(Kernel):
    def __call__(self, x1, x2):
        return 1.0 - 3.0 * jnp.sqrt(jnp.sum((x1 - x2) ** 2) + 1e-12)


def brownian(a, b):
    return 0.2 + jnp.sum(jnp.minimum(a, b))


def study(kernel, space, rewards=8, **settings):
    gp = wf.GP(kernel, fit=QUICK, **settings)
    bandit = wf.Bandit(space, wf.Policy(wf.VUCB(), gp), seed=0, initial=rewards)
    for i in range(rewards):
        bandit.tell(bandit.ask(), float(np.sin(i)))
    return bandit


def believed(kernel):
    """What a model with this kernel makes of eight rewards, without a search."""
    hyper = Hyper(as_kernel(kernel), np.float64(1e-2))
    return believing(hyper, observed(POINTS, np.sin(np.arange(8.0))))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (minus_distance, r"Custom\(minus_distance\) is not positive definite: .* eigenvalue -"),
        (sine, r"Custom\(sine\) is not positive definite"),
        (Cone(), r"Cone\(\) is not positive definite"),
        (0.5 * wf.kernels.Matern52(0.3) + Cone(), r"\+ Cone\(\) is not positive definite"),
        (lopsided, r"Custom\(lopsided\) is not symmetric"),
        (hole, r"Custom\(hole\) is not finite on the 8 input\(s\) told so far; use another kernel"),
    ],
    ids=["distance", "sine", "class", "sum", "lopsided", "hole"],
)
def test_a_kernel_that_is_none_is_named(kernel, text):
    said = believed(kernel).trouble() or ""
    assert re.match(f"kernel .*{text}", said)
    assert "\n" not in said


def test_a_study_with_such_a_kernel_says_so():
    bandit = study(minus_distance, BOX)
    with pytest.raises(wf.NumericalError, match=r"^kernel .*minus_distance\) is not positive"):
        bandit.ask()


def test_noise_does_not_hide_it():
    """With two inputs K + σ² is positive definite for a noise that the fit may choose."""
    bandit = study(minus_distance, LINE[[0, 4, 8]], rewards=2, noise=0.99)
    with pytest.raises(wf.NumericalError, match="not positive definite"):
        bandit.posterior()


@pytest.mark.parametrize(
    "kernel", [brownian, brownian * wf.kernels.Matern32(0.5)], ids=["own", "product"]
)
def test_a_good_kernel_of_the_users_is_left_alone(kernel):
    belief = believed(kernel)
    assert belief.trouble() is None
    assert np.all(np.isfinite(belief.moments(POINTS)))


def test_a_mean_function_without_a_value_is_named():
    def logarithm(features):
        return jnp.log(features[:, 0] - 0.2)

    bandit = study(wf.kernels.Matern52(0.3), LINE, mean=logarithm)
    with pytest.raises(wf.NumericalError, match=r"^mean function .*logarithm is not finite"):
        bandit.ask()


def test_anything_else_is_reported_with_the_kernel():
    observations = observed(LINE, np.sin(9.0 * LINE[:, 0]))
    belief = believing(Hyper(wf.kernels.Matern52(0.3), np.float64(1e-4)), observations)
    assert belief.trouble() is None
    broken = dataclasses.replace(
        belief, posterior=dataclasses.replace(belief.posterior, healthy=np.bool_(False))
    )
    assert re.match(r"kernel Matern52\(.* no Cholesky factor", broken.trouble() or "")
