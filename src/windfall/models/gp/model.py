"""The model of the payoffs as a user configures it, and how it learns from rewards."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from windfall.checks import number, true_or_false, whole_number
from windfall.errors import InputError
from windfall.models.base import FitInfo, Model
from windfall.models.gp.alone import NEARLY_ALL, crowd
from windfall.models.gp.bayes import Bayes
from windfall.models.gp.belief import GPBelief
from windfall.models.gp.compressed import Compressed
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.fit import Fit
from windfall.models.gp.grown import LATEST
from windfall.models.gp.inducing import carriers_among, some
from windfall.models.gp.kernels import (
    Effects,
    Kernel,
    Own,
    Part,
    SquaredExponential,
    White,
    as_kernel,
)
from windfall.models.gp.layout import Layout
from windfall.models.gp.means import Mean, Zero, as_mean
from windfall.models.gp.news import UNKNOWN
from windfall.models.gp.observations import LEAST_NOISE, Observations, Scale, natural_scale
from windfall.models.gp.parameters import named
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.priors import Prior
from windfall.models.gp.room import Sparsity
from windfall.models.gp.sparse import Sparse
from windfall.models.gp.ties import Ties, choices_of, one_hot
from windfall.runtime.arrays import Array
from windfall.space import Apart, Inputs

__all__ = ["GP"]

#: Where nothing is known of a list.
_UNKNOWN = Layout()
#: Up to so many inputs everything is exact. Beyond, some carry the model, and hyper-parameters
#: rest on so many (docs/decisions/0012-many-pulls.md).
USUAL, FITTED = Sparsity(exact=1024, size=640, grown=2048), 768


def _told_apart(space: Inputs, apart: Apart | None) -> bool:
    """Whether arms are mere names, and few: predictions cost no more than the latest inputs do.

    An arm is then a function of the context by itself, which all inputs of the others say nothing
    of: what carries a sparse model has to be shared among them.
    """
    return apart is not None and apart.names and space.length <= LATEST


def _variance(name: str) -> Callable[[Any], float]:
    checked = number(name, 0.0)
    return lambda given: float(checked(given))


def _kernel_or_none(kernel: Any) -> Kernel | None:
    return None if kernel is None else as_kernel(kernel)


class GP(Model[GPBelief]):
    """The model of the payoffs: kernel, first guess of the noise, and how to fit them.

    Exact up to 1,024 distinct inputs, or 2,048 where few arms are mere names beside contexts;
    beyond, up to 640 carry it (see ``SparseGP``), unless hyper-parameters are sampled.

    Attributes:
        kernel: A kernel, or a function ``k(x1, x2)``; it sees features in the unit box.
        noise: First guess of the noise variance, relative to the variance of the rewards.
        mean: What payoffs are expected to be far from every reward: one of ``windfall.means``, or
            a function of an (m, d) array of features in the user's units.
        fit: How hyper-parameters are found: ``Fit`` searches the best, ``Bayes`` samples them.
        refit_every: Fit on every so many rewards and keep the hyper-parameters in between.
        ard: One lengthscale per feature; one for all columns of a choice.
        contexts: The kernel of a context's columns, times which that of the arms is taken, or to
            which it is added where contexts are additive; None: one kernel over the columns of
            both, or for additive contexts one like the arms'.
        apiece: The kernel of contexts where arms are mere names, as the rows of ``numpy.eye`` are:
            each arm has a function of the context for itself. None: as other arms.
        effects: The variance of what every option of a choice is worth whatever stands beside it
            (``Effects``), where there are no contexts; 0: options are worth something together.
        compress: Whether rewards below the median count by their powers of ten, where there are no
            contexts and the model is exact: for whoever looks for the best (``Compressed``).
        own: The variance of what every arm has by itself and shares with none (``Own``), in lists
            of few arms that lie far apart (``windfall.models.gp.layout``), where there are no
            contexts; 0: none.

    Example:
        >>> from windfall.models.gp.kernels import Matern52
        >>> GP(kernel=Matern52(lengthscale=0.2)).kernel
        Matern52(lengthscale=0.2, variance=1.0)
    """

    kernel: Kernel = eqx.field(converter=as_kernel, default=SquaredExponential(0.3))
    noise: Float[Array, ""] = eqx.field(converter=number("noise", 0.0, strict=True), default=1e-4)
    mean: Mean = eqx.field(converter=as_mean, default=Zero())
    fit: Any = eqx.field(default=Fit())  # checked
    refit_every: int = eqx.field(static=True, converter=whole_number("refit_every", 1), default=1)
    ard: bool = eqx.field(static=True, converter=true_or_false("ard"), default=True)
    contexts: Any = eqx.field(converter=_kernel_or_none, default=None)
    apiece: Any = eqx.field(converter=_kernel_or_none, default=None)
    effects: float = eqx.field(static=True, converter=_variance("effects"), default=0.0)
    compress: bool = eqx.field(static=True, converter=true_or_false("compress"), default=False)
    own: float = eqx.field(static=True, converter=_variance("own"), default=0.0)

    def __check_init__(self):
        if self.compress and not isinstance(self.mean, Zero):
            raise InputError(
                f"compress is True with mean={self.mean!r}; expected no mean function, or "
                "compress=False: what a mean function leaves has no median that means anything"
            )
        if not isinstance(self.fit, Fit | Bayes):
            raise InputError(f"fit is {self.fit!r}; expected Fit(...) or Bayes(...)")

    def __repr__(self) -> str:
        """Everything that decides, as text that is the same in every process."""
        mean = "" if isinstance(self.mean, Zero) else f"mean={self.mean!r}, "
        own = {"contexts": self.contexts, "apiece": self.apiece}
        others = "".join(f", {name}={k!r}" for name, k in own.items() if k is not None)
        fixed = {"effects": self.effects, "own": self.own}
        others += "".join(f", {name}={v}" for name, v in fixed.items() if v > 0)
        others += ", compress=True" if self.compress else ""
        return (
            f"{type(self).__name__}(kernel={self.kernel!r}, noise={float(self.noise)}, {mean}"
            f"fit={self.fit!r}, refit_every={self.refit_every}, ard={self.ard}{others})"
        )

    def hyper(
        self,
        dimension: int,
        apart: Apart | None = None,
        ties: Ties = None,
        layout: Layout = _UNKNOWN,
    ) -> Hyper:
        """Where the first search starts."""
        kernel = self.over(dimension, apart, ties, layout)
        return Hyper(kernel.expanded(dimension) if self.ard else kernel, self.noise)

    def over(
        self,
        dimension: int,
        apart: Apart | None,
        ties: Ties = None,
        layout: Layout = _UNKNOWN,
    ) -> Kernel:
        """The kernel over so many columns; one for each part, where there are two.

        What it says of single features and arms depends on the layout, and is left out beside
        contexts.
        """
        if apart is None and layout.singly:
            kernel = self.kernel.choosing(choices_of(ties))
        else:
            kernel = self.kernel.together()
        if apart is None:
            options = one_hot(ties) if self.effects > 0 else ()
            kernel = kernel + Effects(options, self.effects) if options else kernel
            return kernel + Own(self.own) if layout.scarce and self.own > 0 else kernel
        arms, rest = Part(kernel, 0, apart.columns), (apart.columns, dimension)
        if apart.additive:
            return arms + Part(kernel if self.contexts is None else self.contexts, *rest)
        if apart.names and self.apiece is not None:
            return Part(White(1.0), 0, apart.columns) * Part(self.apiece, *rest)
        return kernel if self.contexts is None else arms * Part(self.contexts, *rest)

    def ignorance(
        self,
        observations: Observations,
        apart: Apart | None = None,
        ties: Ties = None,
        layout: Layout = _UNKNOWN,
    ) -> Hyper:
        """Hyper-parameters for standardised rewards that are all equal: n inputs, nothing learned.

        The first guess, but no input speaks for more than its share of the box, n^(−1/d) across,
        and the noise is what repeated pulls show. Whatever was not tried stays uncertain.
        """
        dimension = observations.features.shape[1]
        spacing = jnp.maximum(observations.used, 1) ** (-1.0 / dimension)
        known = {
            "lengthscale": lambda guess: jnp.minimum(guess, spacing),
            "noise": lambda _: jnp.maximum(observations.within(), LEAST_NOISE),
        }
        # One number may stand for all features.
        guess = Hyper(self.over(dimension, apart, ties, layout), self.noise)
        values = [known.get(name, jnp.asarray)(value) for name, value in named(guess)]
        return jax.tree.unflatten(jax.tree.structure(guess), values)

    def begin(self, space: Inputs, capacity: int) -> GPBelief:
        """What is believed before any reward, as host arrays."""
        if isinstance(self.fit.prior, Prior):
            kernels = (self.kernel, self.contexts, self.apiece)
            self.fit.prior.check(*(Hyper(k, self.noise) for k in kernels if k is not None))
        nothing, layout = Observations.empty(1, space.dimension), Layout.of(space)
        scale = Scale(np.float64(0.0), np.float64(1.0))
        if self.compress and space.apart is None:
            scale = Compressed.plain(scale)
        prior = Posterior(
            self.hyper(space.dimension, space.apart, space.ties, layout),
            nothing,
            scale,
            np.eye(1),
            np.bool_(True),
            self.mean.bound(space),
        )
        first, never = self.fit.begin(prior), np.int32(0)
        apart = space.apart
        if apart is not None and self.apiece is None:
            apart = apart._replace(names=False)  # to this model they are arms like others
        sparsity = self.sparsity
        if sparsity is not None and not _told_apart(space, apart):
            sparsity = dataclasses.replace(sparsity, grown=0)
        belief = GPBelief(nothing, first, never, UNKNOWN, space.ties, apart, sparsity, layout)
        return jax.tree.map(np.asarray, belief.resized(capacity))

    @property
    def sparsity(self) -> Sparsity | None:
        """When the model becomes sparse: not if its hyper-parameters are sampled."""
        return USUAL if isinstance(self.fit, Fit) else None

    def scale(self, observations: Observations) -> Scale:
        """The units in which the model sees the rewards (less what the mean function knows)."""
        return natural_scale(observations)

    def search(self, key: PRNGKeyArray, belief: GPBelief) -> tuple[GPBelief, FitInfo]:
        """Fit the hyper-parameters to the rewards, from the previous ones on.

        Equal rewards say nothing about scale or smoothness, while their evidence is the higher the
        more certain the model: there is then nothing to fit. Nor is there where arms are mere names
        and nearly all rewards are equal: a Gaussian takes the others for noise, or for spikes.
        """
        previous = belief.posterior
        residual = previous.trend.residual(belief.rewards)
        scaled = previous.units(residual, self.scale).apply(residual)
        many = previous.cumulative
        data = some(scaled, min(FITTED, scaled.capacity))[0] if many else scaled

        def infer():
            return self.fit.infer(key, data, previous, belief.behind, belief.ties)

        nothing = residual.alike
        if belief.apart is None or not belief.apart.names:
            fitted, info = infer()
        else:
            nothing |= crowd(scaled) > NEARLY_ALL
            like = jax.eval_shape(infer)
            idle = partial(jax.tree.map, lambda a: jnp.ones(a.shape, a.dtype), like)
            fitted, info = jax.lax.cond(nothing, idle, infer)  # a search is dear
        hyper = jax.tree.map(
            lambda guess, best: jnp.where(nothing, guess, best),
            self.ignorance(scaled, belief.apart, belief.ties, belief.layout),
            fitted,
        )
        posterior = dataclasses.replace(previous, hyper=hyper).forgetting()
        if isinstance(posterior, Sparse):
            over = Hyper(posterior.kernel, hyper.noise)
            chosen = carriers_among(over, scaled, len(posterior.chosen))
            posterior = dataclasses.replace(posterior, chosen=chosen)
        found = dataclasses.replace(
            belief, posterior=posterior, behind=belief.rewards.used, misfit=jnp.asarray(UNKNOWN)
        )
        # With many inputs conditioning, which is dear and has to be done anyway, will say that.
        if found.thrifty and not many:
            misfit = self.condition(found).rated().misfit
            found = dataclasses.replace(found, misfit=misfit)
        return found, info

    def condition(self, belief: GPBelief) -> GPBelief:
        """The posterior with the belief's hyper-parameters on its rewards."""
        previous = belief.posterior
        scale = previous.units(previous.trend.residual(belief.rewards), self.scale)
        posterior = previous.anew(previous.hyper, belief.rewards, scale)
        belief = dataclasses.replace(belief, posterior=posterior)
        return belief.rated() if posterior.cumulative and belief.thrifty else belief
