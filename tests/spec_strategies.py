"""Random things that can stand in a spec, for property tests."""

import functools
import random
from collections.abc import Callable

import own_parts
from hypothesis import strategies as st

import windfall as wf
from windfall.models.gp import kernels, means
from windfall.space import Arms

positive = st.floats(1e-300, 1e300)
finite = st.floats(-1e300, 1e300)
settings = st.floats(0.0, 1e300)
per_feature = st.one_of(positive, st.lists(positive, min_size=1, max_size=3))
names = st.one_of(st.sampled_from(["type", "function", "local", "x"]), st.text(min_size=1))


def quietly(make: Callable) -> Callable:
    """The same function, without a trace in Python's random state.

    The type checker of the tests picks by chance which entries of a sequence it looks at; examples
    must not depend on it, and hypothesis insists.
    """

    @functools.wraps(make)
    def made(*arguments, **named):
        state = random.getstate()
        try:
            return make(*arguments, **named)
        finally:
            random.setstate(state)

    return made


gaussian, independent = quietly(wf.gaussian), quietly(wf.independent)
box, space, lw_ucb = quietly(wf.Box), quietly(wf.Parameters), quietly(wf.LWUCB)
arms = quietly(Arms)


def named(values, **sizes):
    return st.dictionaries(names, values, **sizes)


simple_kernels = st.one_of(
    st.builds(kernels.SquaredExponential, per_feature, positive),
    st.builds(kernels.Jumps, per_feature),
    st.builds(kernels.Matern12, per_feature, positive),
    st.builds(kernels.Matern32, per_feature, positive),
    st.builds(kernels.Matern52, per_feature, positive),
    st.builds(kernels.RationalQuadratic, per_feature, positive, positive),
    st.builds(kernels.Periodic, positive, per_feature, positive),
    st.builds(kernels.Linear, per_feature),
    st.builds(kernels.Trend, positive),
    st.builds(
        kernels.MainEffects,
        st.builds(kernels.Matern52, per_feature, positive),
        positive,
        st.sampled_from([(), ((0, 2), (3, 4))]),
    ),
    st.builds(kernels.Constant, positive),
    st.builds(kernels.White, positive),
    st.builds(kernels.Own, positive),
    st.builds(own_parts.Tent, per_feature),
    st.just(kernels.Custom(own_parts.brownian)),
    st.builds(
        lambda w, h: kernels.Custom(own_parts.triangle, width=w, height=h), per_feature, positive
    ),
)
all_kernels = st.recursive(
    simple_kernels,
    lambda inner: st.one_of(
        st.builds(kernels.Sum, inner, inner), st.builds(kernels.Product, inner, inner)
    ),
    max_leaves=6,
)
all_means = st.one_of(
    st.just(means.Zero()),
    st.builds(means.Constant, positive),
    st.builds(means.Linear, positive),
    st.builds(own_parts.Level, finite),
    st.just(means.Function(own_parts.slope)),
)
terms = named(st.tuples(positive, positive), max_size=3)
hyper_priors = st.one_of(
    st.none(),
    st.builds(lambda t: wf.LogNormalPrior(**t), terms),
    st.builds(lambda t: wf.GammaPrior(**t), terms),
    st.just(own_parts.short_lengths),
)
fits = st.one_of(
    st.builds(
        wf.Fit,
        restarts=st.integers(0, 9),
        iterations=st.integers(1, 99),
        prior=hyper_priors,
    ),
    st.builds(
        wf.Bayes,
        samples=st.integers(1, 99),
        warmup=st.integers(20, 999),
        thinning=st.integers(1, 9),
        prior=hyper_priors,
    ),
)
models = st.builds(
    wf.GP,
    kernel=all_kernels,
    noise=positive,
    mean=all_means,
    fit=fits,
    refit_every=st.integers(1, 9),
    ard=st.booleans(),
)

gaussians = st.integers(1, 3).flatmap(
    lambda d: st.builds(
        gaussian,
        st.lists(finite, min_size=d, max_size=d),
        st.lists(positive, min_size=d, max_size=d),
    )
)
marginals = st.one_of(
    st.none(),
    st.builds(gaussian, finite, positive),
    st.just(own_parts.half),
    st.lists(positive, min_size=2, max_size=4),
)
densities = st.one_of(
    gaussians,
    st.builds(independent, st.lists(marginals, min_size=1, max_size=3)),
    st.just(wf.LogDensity(own_parts.log_bump)),
    st.just(own_parts.log_bump),
)
acquisitions = st.one_of(
    st.builds(wf.EI, settings),
    st.builds(wf.TS, st.integers(1, 2**20)),
    st.builds(wf.VUCB, settings),
    st.builds(wf.GPUCB, st.floats(1e-300, 1.0), settings, positive),
    st.builds(
        lw_ucb,
        kappa=settings,
        components=st.integers(0, 64),
        domain=st.sampled_from(["box", "arms"]),
        points=st.integers(16, 2**20),
        bandwidth=st.one_of(st.sampled_from(["scott", "silverman"]), positive),
        prior=st.one_of(st.none(), densities, st.lists(positive, min_size=2, max_size=5)),
    ),
    st.just(wf.Mean()),
    st.just(wf.Prospect()),
    st.builds(wf.Windfall, positive, settings),
    st.builds(own_parts.Greedy, finite, st.text()),
)
policies = st.builds(
    wf.Policy,
    acquisitions,
    st.one_of(st.none(), models),
    repeats=st.sampled_from([None, True, False]),
    budget=st.none() | st.integers(1, 2**40),
)

_bounds = st.tuples(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
_high = st.tuples(st.floats(1e-9, 1e9), st.floats(1.5, 1e9))
reals = st.one_of(
    _bounds.map(lambda b: wf.Real(b[0], b[0] + b[1])),
    _high.map(lambda b: wf.Real(b[0], b[0] * b[1], log=True)),
)
integers = st.one_of(
    st.builds(lambda a, b: wf.Integer(a, a + b), st.integers(-(2**40), 2**40), st.integers(1, 99)),
    st.builds(lambda a, b: wf.Integer(a, a + b, log=True), st.integers(1, 99), st.integers(1, 99)),
)
choices = st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text())
categoricals = st.lists(
    choices.filter(lambda c: not isinstance(c, int) or abs(c) < 2**1000),
    min_size=2,
    max_size=4,
    unique=True,
).map(wf.Categorical)
parameters = st.one_of(reals, integers, categoricals)
boxes = named(reals, min_size=1, max_size=3).map(
    lambda by_name: box(
        [p.low for p in by_name.values()], [p.high for p in by_name.values()], list(by_name)
    )
)


@st.composite
def constrained(draw):
    """A space of all kinds of parameters with linear constraints, and one of a user's own."""
    by_name = draw(named(parameters, max_size=3)) | {"x": wf.Real(-3.0, 3.0)}
    numeric = [n for n, p in by_name.items() if not isinstance(p, wf.Categorical)]
    coefficients = st.dictionaries(
        st.sampled_from(numeric), finite.filter(bool), min_size=1, max_size=len(numeric)
    )
    linear = draw(st.lists(st.builds(wf.AtMost, coefficients, finite), max_size=2))
    return space(by_name, [*linear, own_parts.near])


@st.composite
def lists_of_arms(draw):
    """A few arms, with names and a box of their own or without."""
    size, width = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    row = st.lists(st.floats(-1e6, 1e6), min_size=width, max_size=width)
    features = draw(st.lists(row, min_size=size, max_size=size))
    names = draw(st.none() | st.lists(st.text(), min_size=width, max_size=width))
    box = draw(st.none() | st.just([[-1e6] * width, [1e6] * width]))
    return arms(features, names, box)


spaces = st.one_of(
    boxes,
    st.builds(space, named(parameters, min_size=1, max_size=4)),
    constrained(),
    lists_of_arms(),
)
everything = st.one_of(
    all_kernels, all_means, hyper_priors, fits, models, densities, acquisitions, policies, spaces
)

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
