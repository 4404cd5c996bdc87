"""What a policy is worth, judged by the log of another one."""

import warnings
from dataclasses import dataclass, fields
from typing import Any

import equinox as eqx
import numpy as np

from windfall.checks import LARGEST_SEED, number, numbers_or_none, one_of, whole
from windfall.errors import InputError
from windfall.evaluation import crossfit
from windfall.evaluation.estimators import ESTIMATORS, INTERVALS, Estimate, Rows, effective_size
from windfall.evaluation.log import Log, as_log
from windfall.models.base import Model
from windfall.models.gp.usual import usual_model
from windfall.policy import Policy, as_policy
from windfall.runtime.given import ModelLike, Numbers, PolicyLike

__all__ = ["Evaluation", "evaluate"]

#: Below this share of the rows the effective size is worth a warning, and so is more of the
#: target's mass than this on arms that were never pulled.
_FEW, _BLIND = 0.1, 0.01


@dataclass(frozen=True)
class Evaluation:
    """What a policy is worth per pull, by several estimators, and how far the log can tell.

    Attributes:
        direct: By the model alone; without an interval, since no row shows what a model gets wrong.
        ips: By inverse propensity scores.
        snips: The same, self-normalised.
        doubly_robust: By the model, corrected by the rows: the one to quote.
        logged: What the log itself earned, to compare with.
        rows: How many there are.
        effective: How many rows of equal weight would tell as much.
        mean_weight: Of the weights π/p; 1 is expected.
        unseen: The share of the policy's choices that goes to arms which the log never pulled.
    """

    direct: Estimate
    ips: Estimate
    snips: Estimate
    doubly_robust: Estimate
    logged: Estimate
    rows: int
    effective: float
    mean_weight: float
    unseen: float

    def __str__(self) -> str:
        """A line for each estimate, and one on how far the log can tell."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        lines = [f"{name:<14}{value}" for name, value in named if isinstance(value, Estimate)]
        told = f"{self.rows} rows, worth {self.effective:.1f}; mean weight {self.mean_weight:.3g}"
        return "\n".join([*lines, f"{told}; {self.unseen:.1%} on arms never pulled"])

    def remarks(self) -> list[str]:
        """What is wrong with the overlap of policy and log, in words."""
        found = []
        if self.unseen > _BLIND:
            found.append(
                f"the policy makes {self.unseen:.0%} of its choices among arms that the log never "
                "pulled: only a model can say what those pay"
            )
        if self.effective < _FEW * self.rows:
            found.append(
                f"the {self.rows} rows are worth {self.effective:.1f}: the log seldom does what "
                "the policy would"
            )
        return found


def evaluate(
    history: Any,
    policy: PolicyLike | Numbers | None = None,
    *,
    arms: Numbers | None = None,
    model: ModelLike | None = None,
    folds: int = 5,
    most: int = 256,
    confidence: float = 0.95,
    interval: str = "normal",
    draws: int = 1024,
    seed: int = 0,
) -> Evaluation:
    """Estimate what a pull by a policy would pay on average, from the log of another policy.

    Every row of the log must say how probable its choice was: those of a study do if the policy
    has ``explore`` or ``propensities`` (see ``Policy``).

    A policy that learns is judged as it decides after learning from the other folds of the log; so
    neither it nor the model has seen the rewards that it is judged by. Rows count alike whenever
    they came: a model of payoffs that drift is asked as if nothing did.

    Args:
        history: A ``Study`` or ``Bandit``; what its ``history()`` gave, if there are neither
            contexts nor masks; or columns ``arm``, ``reward``, ``propensity`` and perhaps
            ``context`` and ``available``.
        policy: A name, an acquisition or a ``Policy``; or probabilities of the arms, (M,) or one
            line for each row of the log.
        arms: Features of the arms, unless the history is a study. None: nothing but which is which.
        model: What predicts payoffs; None for the policy's, or the usual one.
        folds: Into how many parts the log is dealt.
        most: From how many distinct inputs a model learns at most.
        confidence: Of the intervals.
        interval: "normal" (by Student's t), or "bootstrap" (quantiles over resampled rows).
        draws: From how many draws the probabilities of a policy that draws are taken.
        seed: Determines the folds, and everything random.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> arm = rng.integers(0, 3, 300)  # each of three arms alike
        >>> log = {"arm": arm, "reward": arm + rng.normal(size=300), "propensity": [1 / 3] * 300}
        >>> found = evaluate(log, [0.0, 0.5, 0.5])
        >>> found.doubly_robust.low < 1.5 < found.doubly_robust.high
        True
    """
    confidence = float(number("confidence", 0.0, high=1.0, strict=True)(confidence))
    interval = one_of("interval", *INTERVALS)(interval)
    most, draws = whole("most", most, 2), whole("draws", draws, 1)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    if not isinstance(model, Model | None):
        raise InputError(f"model is {model!r}; expected a GP(...), another model or None")
    meant: Any = policy
    given = _probabilities(meant)
    log = as_log(history, arms, None if given is None else given.shape[-1])
    folds = whole("folds", folds, 2, len(log))
    target = _timeless(as_policy(meant)) if given is None else _each_row(given, log)
    if model is None:
        model = target.model if isinstance(target, Policy) else usual_model()
    learning = crossfit.Learning(model.timeless, most, seed)
    probable, predicted = probable_and_predicted(learning, log, target, folds, draws)

    rows = np.arange(len(log))
    weight = probable[rows, log.arm] / log.propensity
    value = np.sum(probable * predicted, axis=1)
    known = Rows(log.reward, weight, predicted[rows, log.arm], value)
    earned = Rows(log.reward, np.ones(len(log)), known.predicted, value)
    way = INTERVALS[interval]
    never = np.bincount(log.arm, minlength=log.space.size) == 0
    found = Evaluation(
        **{name: way(name, known, confidence, seed) for name in ESTIMATORS},
        logged=way("ips", earned, confidence, seed),
        rows=len(log),
        effective=effective_size(weight),
        mean_weight=float(weight.mean()),
        unseen=float(probable[:, never].sum() / len(log)),
    )
    for remark in found.remarks():
        warnings.warn(remark, stacklevel=2)
    return found


def probable_and_predicted(
    learning: crossfit.Learning, log: Log, target: Policy | np.ndarray, folds: int, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """π and q̂ of every arm in every row's context, by what has not seen the row: (n, M) each."""
    fold = crossfit.dealt(len(log), folds, learning.seed)
    probable, predicted = np.zeros((2, len(log), log.space.size))
    if isinstance(target, np.ndarray):
        probable = target
    for number_ in range(folds):
        inside, outside = np.flatnonzero(fold == number_), np.flatnonzero(fold != number_)
        belief = crossfit.learned(learning, log, outside)
        predicted[inside] = crossfit.predictions(belief, log, inside)
        if isinstance(target, Policy):
            probable[inside] = crossfit.policy_chances(
                target, belief, log, inside, learning.seed, draws
            )
    return probable, predicted


def _probabilities(policy: Any) -> np.ndarray | None:
    """Probabilities of the arms; None if a policy is meant."""
    if not isinstance(policy, list | tuple | np.ndarray) and not hasattr(policy, "to_numpy"):
        return None
    given = numbers_or_none(policy)
    if given is None or given.ndim not in (1, 2) or given.size == 0:
        raise InputError(
            "policy is neither a policy nor probabilities; expected (arms,) or (rows, arms) numbers"
        )
    sums = given.sum(axis=-1)
    # Whoever writes 0.333 three times means probabilities; whoever forgets an arm does not.
    if (given < 0).any() or np.abs(sums - 1.0).max() > 0.01:
        worst = np.ravel(sums)[np.argmax(np.abs(sums - 1.0))]
        raise InputError(
            f"policy has probabilities from {given.min():g} on that sum to {worst:g}; expected none"
            " below 0, and a sum of 1"
        )
    return given


def _timeless(policy: Policy) -> Policy:
    """The same policy for payoffs that stand still."""
    return eqx.tree_at(lambda p: p.model, policy, policy.model.timeless)


def _each_row(given: np.ndarray, log: Log) -> np.ndarray:
    expected = (len(log), log.space.size)
    if given.shape not in (expected, expected[1:]):
        raise InputError(
            f"policy has probabilities of shape {given.shape}; expected ({expected[1]},) or"
            f" {expected}, a line for each row"
        )
    return np.broadcast_to(given, expected)
