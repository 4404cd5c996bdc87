"""The one table of names: what a public name, a policy's name or a type in a spec stands for.

Nothing is imported until ``find`` is asked for it, so that a list of names costs no JAX.
"""

from importlib import import_module
from typing import Any

from windfall.errors import InputError

__all__ = ["BASES", "DEFAULT_POLICY", "GOALS", "POLICIES", "SPEC_TYPES", "TYPES", "find", "wanted"]

#: What can stand in a spec: name → where it is defined. Mean functions share two names with kernels
#: and have the prefix that users write, too.
SPEC_TYPES: dict[str, str] = {
    # spaces
    "Arms": "windfall.space.arms:Arms",
    "AtMost": "windfall.space.constraints:AtMost",
    "Box": "windfall.space.box:Box",
    "Categorical": "windfall.space.parameter:Categorical",
    "Context": "windfall.space.context:Context",
    "Integer": "windfall.space.parameter:Integer",
    "Parameters": "windfall.space.region:Parameters",
    "Real": "windfall.space.parameter:Real",
    # kernels
    "Constant": "windfall.models.gp.kernels.base:Constant",
    "Custom": "windfall.models.gp.kernels.base:Custom",
    "Effects": "windfall.models.gp.kernels.effects:Effects",
    "Linear": "windfall.models.gp.kernels.other:Linear",
    "MainEffects": "windfall.models.gp.kernels.main_effects:MainEffects",
    "Jumps": "windfall.models.gp.kernels.jumps:Jumps",
    "Matern12": "windfall.models.gp.kernels.stationary:Matern12",
    "Matern32": "windfall.models.gp.kernels.stationary:Matern32",
    "Matern52": "windfall.models.gp.kernels.stationary:Matern52",
    "Own": "windfall.models.gp.kernels.other:Own",
    "Part": "windfall.models.gp.kernels.part:Part",
    "Periodic": "windfall.models.gp.kernels.other:Periodic",
    "Product": "windfall.models.gp.kernels.base:Product",
    "RationalQuadratic": "windfall.models.gp.kernels.stationary:RationalQuadratic",
    "SquaredExponential": "windfall.models.gp.kernels.stationary:SquaredExponential",
    "Sum": "windfall.models.gp.kernels.base:Sum",
    "Trend": "windfall.models.gp.kernels.other:Trend",
    "White": "windfall.models.gp.kernels.other:White",
    # mean functions
    "means.Constant": "windfall.models.gp.means:Constant",
    "means.Function": "windfall.models.gp.means:Function",
    "means.Linear": "windfall.models.gp.means:Linear",
    "means.Zero": "windfall.models.gp.means:Zero",
    # hyper-parameters and models
    "Bayes": "windfall.models.gp.bayes:Bayes",
    "BayesianLinear": "windfall.models.linear:BayesianLinear",
    "DimensionPrior": "windfall.models.gp.priors:DimensionPrior",
    "Drifting": "windfall.models.drifting:Drifting",
    "Fit": "windfall.models.gp.fit:Fit",
    "GP": "windfall.models.gp.model:GP",
    "GammaPrior": "windfall.models.gp.priors:GammaPrior",
    "LogNormalPrior": "windfall.models.gp.priors:LogNormalPrior",
    "SAAS": "windfall.models.gp.saas:SAAS",
    "SparseGP": "windfall.models.gp.sparse_model:SparseGP",
    # input densities
    "Gaussian": "windfall.attention.prior:Gaussian",
    "InContext": "windfall.attention.prior:InContext",
    "Independent": "windfall.attention.prior:Independent",
    "LogDensity": "windfall.attention.prior:LogDensity",
    # acquisitions and policies
    "EI": "windfall.acquisition.ei:EI",
    "GPUCB": "windfall.acquisition.ucb:GPUCB",
    "LWUCB": "windfall.acquisition.lw:LWUCB",
    "Mean": "windfall.acquisition.ucb:Mean",
    "Policy": "windfall.policy.policy:Policy",
    "Prospect": "windfall.acquisition.prospect:Prospect",
    "TS": "windfall.acquisition.thompson:TS",
    "VUCB": "windfall.acquisition.ucb:VUCB",
    "Windfall": "windfall.acquisition.windfall:Windfall",
}

#: Every name that users and specs may write: name → "module:attribute".
TYPES: dict[str, str] = {
    **SPEC_TYPES,
    "Bandit": "windfall.study.bandit:Bandit",
    "Choice": "windfall.study.choice:Choice",
    "Evaluation": "windfall.evaluation.evaluate:Evaluation",
    "Problem": "windfall.problems:Problem",
    "Result": "windfall.simulation.results:Result",
    "Study": "windfall.study.study:Study",
    "compare_suite": "windfall.compare.suite:compare_suite",
    "compilation_cache": "windfall.runtime.cache:compilation_cache",
    "evaluate": "windfall.evaluation.evaluate:evaluate",
    "gaussian": "windfall.attention.prior:gaussian",
    "independent": "windfall.attention.prior:independent",
    "simulate": "windfall.simulation.runner:simulate",
    "studies": "windfall.study.opening:studies",
}

#: What a user's own class in a spec may derive from, besides the types themselves.
BASES: tuple[str, ...] = (
    "windfall.acquisition.base:Acquisition",
    "windfall.models.base:Model",
    "windfall.models.gp.kernels.base:Kernel",
    "windfall.models.gp.means:Mean",
    "windfall.models.gp.priors:Prior",
)

#: Policies by name: the type that makes the acquisition, or a method of one.
POLICIES: dict[str, str] = {
    "windfall": "Windfall",
    "prospect": "Prospect",
    "ei": "EI",
    "ts": "TS",
    "v-ucb": "VUCB",
    "gp-ucb": "GPUCB",
    "gp-ucb-scaled": "GPUCB.scaled",
    "lw-ucb": "LWUCB",
    "mean": "Mean",
}
#: What may count, and the policy for it: the sum of all rewards (the default), or the best found.
GOALS: dict[str, str] = {"reward": "windfall", "best": "prospect"}
DEFAULT_POLICY = GOALS["reward"]


def wanted(policy: Any, goal: Any) -> Any:
    """The policy that a user named, or the name of the goal's own; the two exclude each other.

    Example:
        >>> wanted(None, None), wanted(None, "best"), wanted("ei", None)
        ('windfall', 'prospect', 'ei')
    """
    if goal is None:
        return DEFAULT_POLICY if policy is None else policy
    from windfall.checks import known_name, shown  # here: it brings NumPy, which names do without

    known_name("goal", goal, tuple(GOALS))
    if policy is not None:
        raise InputError(
            f"goal is {goal!r} and policy is {shown(policy)}; expected one of them: a goal has a "
            "policy of its own"
        )
    return GOALS[goal]


def find(name: str) -> Any:
    """What a name of ``TYPES`` (or a constructor of ``POLICIES``) stands for.

    Example:
        >>> find("Real")(0, 1)
        Real(0.0, 1.0)
        >>> find("Reel")
        Traceback (most recent call last):
        windfall.errors.InputError: type is 'Reel' (did you mean 'Real'?); expected a name that
        windfall knows
    """
    if name in TYPES:
        module, _, attribute = TYPES[name].partition(":")
        return getattr(import_module(module), attribute)
    if name in POLICIES.values():
        owner, _, method = name.partition(".")
        return getattr(find(owner), method)
    from windfall.checks import did_you_mean  # here: it brings NumPy, which names can do without

    raise InputError(
        f"type is {name!r}{did_you_mean(name, TYPES)}; expected a name that windfall knows"
    )
