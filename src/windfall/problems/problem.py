"""A bandit problem: arms with features, what each pays, and the settings of its experiment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windfall.checks import shown
from windfall.errors import InputError
from windfall.problems.changing import Rounds
from windfall.problems.payoff import evaluated
from windfall.problems.references import check_references
from windfall.problems.replicates import check_replicates, replicate_means, replicate_noise
from windfall.problems.rounds import check_context, drawn
from windfall.runtime.given import Draw, Number, Numbers, Runs
from windfall.space import Context
from windfall.space.checks import check_arms, check_span, finite_array, read_only

__all__ = ["Problem", "Protocol"]


@dataclass(frozen=True)
class Protocol:
    """The settings of a problem's experiment, used wherever the caller gives none.

    ``initial`` arms are pulled before the policy decides; ``kappa`` and ``components`` are the
    paper's exploration weight and mixture size for this problem.
    """

    rounds: int = 100
    trials: int = 100
    initial: int = 3
    kappa: float = 2.0
    components: int = 4


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """Arms, their noise-free payoffs, and the noise of a reward.

    Pulling arm ``i`` in trial ``s`` returns ``payoffs(s)[i] + noise * N(0, 1)``; with replicates
    one of the arm's own measurements, each as likely as the others.

    Args:
        arms: (M, d) features, an array or a DataFrame.
        payoff: one value per arm; or a row of them per snapshot, of which trial ``s`` uses row
            ``s % snapshots``; or a function, which is called once with all arms, and arm by arm
            if that does not give one value per arm. Left out with replicates, whose means it is.
        noise: standard deviation of a reward. Left out with replicates: it is then that of a
            reward at an arm drawn at random.
        name: what tables and figures call the problem.
        initial_pool: arms from which the initial ones are drawn; all when left out.
        box: (2, d) lower and upper corner of the natural domain, in which distances mean what they
            say; None: see ``wf.Arms``.
        feature_names: default ``x1 .. xd``, or the columns of a DataFrame.
        protocol: settings of the experiment; ``initial`` is lowered to M when there are fewer
            arms than that and no ``initial_pool``.
        description: one line for tables.
        replicates: instead of payoff, every single measurement: one list of them per arm. Kept as
            an (M, r) array, arms with fewer than r filled up with NaN.
        references: by name, (runs, pulls) rewards of somebody else's runs on the same arms, in the
            units of the payoffs, NaN where nothing was pulled.
        rounds: instead of payoff, where rounds differ: a function of a trial's number and how many
            pulls it has, which draws its ``Rounds``. They have a row for each pull, those of
            initial arms first: (pulls, M) payoffs, and where there are such (pulls, c) contexts in
            the user's units and (pulls, M) which arms are available. Regret is that against the
            best available arm of each round.
        context: what is known before a round, with bounds: bounds by name, a ``Box``,
            ``Parameters`` or a ``Context``; needed if rounds have contexts.

    The arrays are stored as read-only copies, and the values of a function in its place.

    >>> problem = Problem(arms=[[0.0], [0.5], [1.0]], payoff=lambda x: -((x[:, 0] - 0.6) ** 2))
    >>> problem.size, problem.dimension, problem.optimal_arm(0)
    (3, 1, 1)
    >>> round(problem.optimum(0), 4)
    -0.01
    """

    arms: np.ndarray
    payoff: np.ndarray
    noise: float
    name: str
    initial_pool: np.ndarray | None
    box: np.ndarray | None
    feature_names: tuple[str, ...]
    protocol: Protocol
    description: str
    replicates: np.ndarray | None
    references: Mapping[str, np.ndarray]
    rounds: Draw | None
    context: Context | None

    def __init__(  # by hand, because it accepts much more than the attributes hold
        self,
        arms: Numbers,
        payoff: Numbers | Callable[[np.ndarray], Any] | None = None,
        noise: Number | None = None,
        name: str = "custom",
        initial_pool: Numbers | None = None,
        box: Numbers | None = None,
        feature_names: Sequence[Any] = (),
        protocol: Protocol = Protocol(),  # noqa: B008 (immutable)
        description: str = "",
        replicates: Any = None,
        references: Runs | None = None,
        rounds: Draw | None = None,
        context: Any = None,
    ) -> None:
        features = read_only(np.asarray(check_arms(arms), float))
        size, dimension = features.shape
        if replicates is not None:
            _check_alone(payoff, noise)
            replicates = read_only(check_replicates(replicates, size))
            payoff, noise = replicate_means(replicates), replicate_noise(replicates)
        context = check_context(context)
        if rounds is not None:  # the average stands for what tables and figures show of a problem
            if payoff is not None or replicates is not None:
                raise InputError("rounds are given beside payoff or replicates; expected one")
            payoff = drawn(rounds, 0, protocol.rounds, size, context).payoffs.mean(axis=0)
        elif context is not None:
            raise InputError(f"context is {list(context.names)}; expected none without rounds")
        if initial_pool is None:
            protocol = replace(protocol, initial=min(protocol.initial, size))
        else:
            initial_pool = read_only(_check_pool(initial_pool, size, protocol.initial))
        attributes: dict[str, object] = {
            "arms": features,
            "payoff": read_only(_check_payoff(payoff, features)),
            "noise": _check_noise(0.0 if noise is None else noise),
            "name": name,
            "initial_pool": initial_pool,
            "box": None if box is None else read_only(_check_box(box, features.shape[1])),
            "feature_names": _check_names(feature_names, arms, dimension),
            "protocol": protocol,
            "description": description,
            "replicates": replicates,
            "references": check_references(references),
            "rounds": rounds,
            "context": context,
        }
        for attribute, value in attributes.items():
            object.__setattr__(self, attribute, value)

    @property
    def size(self) -> int:
        """Number of arms, M."""
        return self.arms.shape[0]

    @property
    def dimension(self) -> int:
        """Number of features, d."""
        return self.arms.shape[1]

    @property
    def snapshots(self) -> int:
        """Number of rows of payoffs; 1 when every trial has the same."""
        return len(np.atleast_2d(self.payoff))

    def payoffs(self, trial: int) -> np.ndarray:
        """The noise-free payoff of every arm in this trial, (M,)."""
        return np.atleast_2d(self.payoff)[trial % self.snapshots]

    def drawn(self, trial: int, pulls: int) -> Rounds:
        """The rounds of a trial with so many pulls; of a problem whose rounds differ."""
        assert self.rounds is not None, "all rounds are alike"
        return drawn(self.rounds, trial, pulls, self.size, self.context)

    def optimum(self, trial: int) -> float:
        """The best payoff of this trial."""
        return float(self.payoffs(trial).max())

    def optimal_arm(self, trial: int) -> int:
        """The first arm with the best payoff of this trial."""
        return int(self.payoffs(trial).argmax())

    def reference_gap(self, name: str) -> np.ndarray:
        """(pulls,) gap of the best reward so far in the reference runs, mean over runs.

        A run that has stopped keeps its best; a run without a reward yet is left out of the mean.

        >>> them = {"them": [[0.0, 1.0, np.nan], [np.nan, 0.5, 0.0]]}
        >>> problem = Problem(arms=[[0.0], [1.0]], payoff=[0.0, 1.0], references=them)
        >>> problem.reference_gap("them").tolist()
        [1.0, 0.25, 0.25]
        """
        best = np.fmax.accumulate(self.references[name], axis=1)
        return np.nanmean(self.optimum(0) - best, axis=0)  # exactly 0 where all have the best


def _check_alone(payoff: Any, noise: Any) -> None:
    for name, value in (("payoff", payoff), ("noise", noise)):
        if value is not None:
            raise InputError(f"{name} is given beside replicates, which determine it; leave it out")


def _check_payoff(payoff: Any, arms: np.ndarray) -> np.ndarray:
    if payoff is None:
        raise InputError("payoff is missing; give it, or every single measurement as replicates")
    values = evaluated(payoff, arms) if callable(payoff) else finite_array(payoff, "payoff")
    size = len(arms)
    if values.ndim not in (1, 2) or values.shape[-1] != size or len(values) == 0:
        raise InputError(
            f"payoff has shape {values.shape}; expected ({size},), one value per arm,"
            f" or (snapshots, {size})"
        )
    return values


def _check_noise(noise: Any) -> float:
    value = finite_array(noise, "noise")
    if value.ndim != 0 or value < 0:
        raise InputError(f"noise is {shown(noise)}; expected one standard deviation, 0 or more")
    return float(value)


def _check_pool(pool: Any, size: int, initial: int) -> np.ndarray:
    values = finite_array(pool, "initial_pool")
    if values.ndim != 1:
        raise InputError(f"initial_pool has shape {values.shape}; expected a list of arm numbers")
    unknown = values[(values < 0) | (values >= size) | (values != np.floor(values))]
    if len(unknown):
        raise InputError(
            f"initial_pool has arm {unknown[0]:g}; expected whole numbers from 0 to {size - 1}"
        )
    arms = values.astype(np.int64)
    distinct, counts = np.unique(arms, return_counts=True)
    if len(distinct) < len(arms):
        twice = distinct[counts > 1][0]
        raise InputError(f"initial_pool has arm {twice} more than once; expected every arm once")
    if len(arms) < initial:
        raise InputError(
            f"initial_pool has {len(arms)} arms; expected at least protocol.initial = {initial}"
        )
    return arms


def _check_box(box: Any, dimension: int) -> np.ndarray:
    corners = finite_array(box, "box")
    expected = (2, dimension)
    if corners.shape != expected:
        raise InputError(
            f"box has shape {corners.shape}; expected {expected}, the lower and the upper corner"
        )
    if (corners[0] > corners[1]).any():
        j = int(np.argmax(corners[0] > corners[1]))
        raise InputError(
            f"box goes from {corners[0, j]} to {corners[1, j]} in feature {j}; expected the lower"
            " corner first"
        )
    check_span(corners[0], corners[1], "box")
    return corners


def _check_names(names: Any, arms: Any, dimension: int) -> tuple[str, ...]:
    if not names and hasattr(arms, "columns"):
        names = tuple(str(column) for column in arms.columns)
    names = tuple(names) or tuple(f"x{j + 1}" for j in range(dimension))
    if len(names) != dimension or not all(isinstance(name, str) for name in names):
        raise InputError(f"feature_names is {names!r}; expected {dimension} names, one per feature")
    return names
