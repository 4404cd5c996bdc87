"""What each ingredient of the default policy is worth: the policy, and the policy without it.

``compare_suite(suite, variants(), reference=[FULL])`` gives the table; above 1 the policy is better
as it is.
"""

import dataclasses
from typing import Any

from windfall.acquisition.lw import LWUCB
from windfall.acquisition.ucb import VUCB
from windfall.acquisition.windfall import Windfall
from windfall.models.gp.fit import Fit
from windfall.models.gp.kernels import Kernel, SquaredExponential
from windfall.models.gp.model import GP
from windfall.models.gp.priors import DimensionPrior
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
    kernel: Any = model.kernel
    effects, plane, terms = kernel.left, kernel.right, model.fit.prior.terms

    def like(kernel: Kernel, *left_out: str) -> GP:
        kept = {name: term for name, term in terms.items() if name not in left_out}
        prior = DimensionPrior(**kept) if kept else None
        fit = Fit(prior=prior, lean=bool(kept))  # a lean search begins with what the prior says
        return dataclasses.replace(model, kernel=kernel, fit=fit)

    smooth = dataclasses.replace(effects, kernel=SquaredExponential(0.5))
    return {
        FULL: whole,
        "no attention": Policy(Windfall(patience=0.0)),
        "model only": Policy(VUCB(kappa=1.0), model),
        "no curiosity": Policy(Windfall(curiosity=1e-9)),
        "curiosity 2": Policy(Windfall(curiosity=2.0)),
        "no Matérn": Policy(Windfall(), like(smooth + plane)),
        "no plane": Policy(Windfall(), like(effects, "slope")),
        "no main effects": Policy(Windfall(), like(effects.kernel + plane, "effect")),
        "nothing of an arm's own": Policy(Windfall(), dataclasses.replace(model, own=0.0)),
        "no noise prior": Policy(Windfall(), like(kernel, "noise")),
        "no length prior": Policy(Windfall(), like(kernel, "lengthscale")),
        "no priors": Policy(Windfall(), like(kernel, *terms)),
        "LW attention": Policy(LWUCB(kappa=1.0), model),
    }
