"""windfall decides which arm to pull next when a few arms pay far more than the rest.

Importing it is quick: JAX is imported when a name that needs it is first used.

Example:
    >>> import numpy as np
    >>> import windfall as wf
    >>> bandit = wf.Bandit(np.linspace(0.0, 1.0, 11)[:, None], seed=0)
    >>> choice = bandit.ask()
    >>> bandit.tell(choice, 0.5)
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from windfall._version import __version__
from windfall.errors import InputError, NumericalError
from windfall.guard import guard_threads

guard_threads()

if TYPE_CHECKING:  # for type checkers; _HOME and _MODULES say the same to Python
    from windfall import plot, problems
    from windfall.acquisition.ei import EI
    from windfall.acquisition.lw import LWUCB
    from windfall.acquisition.thompson import TS
    from windfall.acquisition.ucb import GPUCB, VUCB, Mean
    from windfall.bandit import Bandit, Choice
    from windfall.gp import kernels
    from windfall.gp.fit import Fit, LogNormalPrior
    from windfall.policy import GP, Policy
    from windfall.problems import Problem
    from windfall.results import Result
    from windfall.runtime import compilation_cache
    from windfall.simulate import simulate

__all__ = [
    "EI",
    "GP",
    "GPUCB",
    "LWUCB",
    "TS",
    "VUCB",
    "Bandit",
    "Choice",
    "Fit",
    "InputError",
    "LogNormalPrior",
    "Mean",
    "NumericalError",
    "Policy",
    "Problem",
    "Result",
    "__version__",
    "compilation_cache",
    "kernels",
    "plot",
    "problems",
    "simulate",
]

_HOME = {
    "EI": "windfall.acquisition.ei",
    "GP": "windfall.policy",
    "GPUCB": "windfall.acquisition.ucb",
    "LWUCB": "windfall.acquisition.lw",
    "TS": "windfall.acquisition.thompson",
    "VUCB": "windfall.acquisition.ucb",
    "Bandit": "windfall.bandit",
    "Choice": "windfall.bandit",
    "Fit": "windfall.gp.fit",
    "LogNormalPrior": "windfall.gp.fit",
    "Mean": "windfall.acquisition.ucb",
    "Policy": "windfall.policy",
    "Problem": "windfall.problems",
    "Result": "windfall.results",
    "compilation_cache": "windfall.runtime",
    "simulate": "windfall.simulate",
}
_MODULES = {
    "kernels": "windfall.gp.kernels",
    "plot": "windfall.plot",
    "problems": "windfall.problems",
}


def __getattr__(name: str) -> Any:
    """Import a public name the first time it is used."""
    if name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'windfall' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps ``windfall.simulate`` the function: Python would rebind it to the folder."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "simulate" and isinstance(value, ModuleType):
            value = value.simulate
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
