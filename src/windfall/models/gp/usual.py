"""The models that our own policies use unless they are told otherwise."""

from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import Jumps, MainEffects, Matern52, Trend
from windfall.models.gp.model import GP
from windfall.models.gp.priors import DimensionPrior

__all__ = ["earning_model", "finding_model", "similarity_model", "usual_model"]

_PRIOR = {"lengthscale": (0.3, 1.0), "variance": (1.0, 0.3), "noise": (1e-4, 2.0)}


def usual_model() -> GP:
    """A Matérn 5/2 kernel, which does not take smoothness for granted, and weak priors.

    Without priors a handful of rewards gives absurd fits. That of the length scales knows how many
    features there are; with it the default policy loses a tenth less on real candidate lists
    (``docs/decisions/0008-find-and-earn.md``).

    What an option of a choice is worth by itself counts as much as everything else: few tries show
    it, and combinations of good options are what is tried next.
    """
    return GP(kernel=Matern52(0.5), fit=Fit(prior=DimensionPrior(**_PRIOR)), effects=1.0)


def earning_model() -> GP:
    """The same beside what each feature does by itself, on top of a plane.

    A few rewards settle which way payoffs rise, and what a feature does whatever the others are,
    long before they show a hill (``docs/decisions/0015-main-effects.md``).

    In lists of few arms that lie far apart features do not tell everything: every arm has something
    by itself (``docs/decisions/0018-few-arms.md``).

    Where contexts differ and arms are mere names, each has a plane in the context for itself, and
    what is rough above it (``docs/decisions/0009-contexts.md``).
    """
    prior = DimensionPrior(**_PRIOR, slope=(0.3, 1.0), effect=(0.6, 1.0))
    apiece = Jumps(0.3) + Trend(1.0)
    kernel = MainEffects(Matern52(0.5), effect=0.6) + Trend(0.3)
    return GP(kernel=kernel, fit=Fit(prior=prior, lean=True), apiece=apiece, own=0.1)


def finding_model() -> GP:
    """For whoever looks for the one best thing: how bad the bad ones are tells nothing.

    Rewards below the median count by their powers of ten. Beside the kernel there is what each
    feature does by itself; what an option of a choice is worth counts as much as everything else
    together (``docs/decisions/0016-how-bad-is-bad.md``).
    """
    prior = DimensionPrior(**_PRIOR, effect=(0.6, 1.0))
    kernel = MainEffects(Matern52(0.5), effect=0.6)
    return GP(kernel=kernel, fit=Fit(prior=prior), effects=1.0, compress=True)


def similarity_model() -> GP:
    """For arms that are known by their similarities (``windfall.space.similarity``): K itself.

    Beside contexts, K times a Matérn 5/2 kernel of these: a plane over the columns of both would
    move the payoffs of all arms alike, so that every context had the same best arm.
    """
    return GP(kernel=Trend(1.0), fit=Fit(prior=DimensionPrior(**_PRIOR)), contexts=Matern52(0.5))
