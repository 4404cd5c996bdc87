"""windfall decides which arm to pull next when a few arms pay far more than the rest.

Importing it is quick: JAX is imported when a name that needs it is first used.

Example:
    >>> import numpy as np
    >>> import windfall as wf
    >>> bandit = wf.Bandit(np.linspace(0.0, 1.0, 11)[:, None], seed=0)
    >>> choice = bandit.ask()
    >>> bandit.tell(choice, 0.5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from windfall import registry
from windfall._version import __version__
from windfall.errors import InputError, NumericalError
from windfall.runtime.threads import guard_threads

guard_threads()

if TYPE_CHECKING:  # for type checkers; the registry says the same to Python
    from windfall import plot, problems
    from windfall.acquisition.ei import EI
    from windfall.acquisition.lw import LWUCB
    from windfall.acquisition.prospect import Prospect
    from windfall.acquisition.thompson import TS
    from windfall.acquisition.ucb import GPUCB, VUCB, Mean
    from windfall.acquisition.windfall import Windfall
    from windfall.attention.prior import InContext, LogDensity, gaussian, independent
    from windfall.compare.suite import compare_suite
    from windfall.evaluation.evaluate import Evaluation, evaluate
    from windfall.models.drifting import Drifting
    from windfall.models.gp import kernels, means
    from windfall.models.gp.bayes import Bayes
    from windfall.models.gp.fit import Fit
    from windfall.models.gp.model import GP
    from windfall.models.gp.priors import DimensionPrior, GammaPrior, LogNormalPrior
    from windfall.models.gp.saas import SAAS
    from windfall.models.gp.sparse_model import SparseGP
    from windfall.models.linear import BayesianLinear
    from windfall.policy import Policy
    from windfall.problems import Problem
    from windfall.runtime.cache import compilation_cache
    from windfall.simulation.results import Result
    from windfall.simulation.runner import simulate
    from windfall.space import AtMost, Box, Categorical, Context, Integer, Parameters, Real
    from windfall.study.bandit import Bandit
    from windfall.study.choice import Choice
    from windfall.study.opening import studies
    from windfall.study.study import Study

__all__ = [
    "EI",
    "GP",
    "GPUCB",
    "LWUCB",
    "SAAS",
    "TS",
    "VUCB",
    "AtMost",
    "Bandit",
    "Bayes",
    "BayesianLinear",
    "Box",
    "Categorical",
    "Choice",
    "Context",
    "DimensionPrior",
    "Drifting",
    "Evaluation",
    "Fit",
    "GammaPrior",
    "InContext",
    "InputError",
    "Integer",
    "LogDensity",
    "LogNormalPrior",
    "Mean",
    "NumericalError",
    "Parameters",
    "Policy",
    "Problem",
    "Prospect",
    "Real",
    "Result",
    "SparseGP",
    "Study",
    "Windfall",
    "__version__",
    "compare_suite",
    "compilation_cache",
    "evaluate",
    "gaussian",
    "independent",
    "kernels",
    "means",
    "plot",
    "problems",
    "simulate",
    "studies",
]

_MODULES = {
    "kernels": "windfall.models.gp.kernels",
    "means": "windfall.models.gp.means",
    "plot": "windfall.plot",
    "problems": "windfall.problems",
}


def __getattr__(name: str) -> Any:
    """Import a public name the first time it is used."""
    if name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in __all__:
        value = registry.find(name)
    else:
        raise AttributeError(f"module 'windfall' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
