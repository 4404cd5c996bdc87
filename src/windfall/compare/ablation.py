"""What each ingredient of the default policy is worth: the policy, and the policy without it.

``compare_suite(suite, variants(), reference=[FULL])`` gives the table; above 1 the policy is better
as it is.
"""

from windfall.acquisition.lw import LWUCB
from windfall.acquisition.ucb import VUCB
from windfall.acquisition.windfall import Windfall
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import SquaredExponential
from windfall.models.gp.model import GP
from windfall.models.gp.priors import LogNormalPrior
from windfall.policy import Policy
from windfall.registry import DEFAULT_POLICY

__all__ = ["FULL", "variants"]

#: The label of the whole policy.
FULL = DEFAULT_POLICY


def variants() -> dict[str, Policy]:
    """The whole policy, then variants in which something is left out, doubled or replaced.

    "model only" is V-UCB with κ = 1 on the default's model: neither attention nor waning curiosity.
    "LW attention" is the paper's on that model, with κ = 1.

    >>> list(variants())[:3]
    ['windfall', 'no attention', 'model only']
    """
    whole = Policy(Windfall())
    model = whole.model
    assert isinstance(model, GP)
    terms = model.fit.prior.terms

    def with_priors(*names: str) -> GP:
        prior = LogNormalPrior(**{name: terms[name] for name in names})
        return GP(kernel=model.kernel, fit=Fit(prior=prior if names else None))

    smooth = GP(kernel=SquaredExponential(0.5), fit=model.fit)
    return {
        FULL: whole,
        "no attention": Policy(Windfall(patience=0.0)),
        "model only": Policy(VUCB(kappa=1.0), model),
        "no curiosity": Policy(Windfall(curiosity=1e-9)),
        "curiosity 2": Policy(Windfall(curiosity=2.0)),
        "no Matérn": Policy(Windfall(), smooth),
        "no noise prior": Policy(Windfall(), with_priors("lengthscale")),
        "no length prior": Policy(Windfall(), with_priors("noise")),
        "no priors": Policy(Windfall(), with_priors()),
        "LW attention": Policy(LWUCB(kappa=1.0), model),
    }
