"""The ask/tell object: the only mutable class of the numeric side."""

import dataclasses
import operator
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from windfall.checks import LARGEST_SEED, finite, whole
from windfall.errors import InputError, NumericalError
from windfall.gp.observations import bucket
from windfall.gp.posterior import condition
from windfall.policy import Info, Policy, State, as_policy, grow
from windfall.problems.checks import check_arms, finite_array, read_only
from windfall.runtime import float64
from windfall.space import Space

__all__ = ["Bandit", "Choice"]

_STATE_FORMAT = 1


@dataclass(frozen=True)
class Choice:
    """An arm to pull.

    Attributes:
        arm: Its row in the array of arms.
        features: Its features, in the user's units.
        why: One sentence on what drove the choice.
    """

    arm: int
    features: np.ndarray = field(compare=False)
    why: str


class Bandit:
    """Decides which arm to pull next: ``ask`` for a choice, ``tell`` its reward.

    Args:
        arms: (M, d) features, an array or a data frame of numbers. Duplicates are allowed.
        policy: A name, an acquisition or a ``Policy``; None for the default.
        seed: Determines every choice.
        initial: Arms drawn at random before the policy takes over.

    Example:
        >>> import numpy as np
        >>> import windfall as wf
        >>> bandit = wf.Bandit(np.linspace(0.0, 1.0, 21)[:, None], policy="v-ucb", seed=0)
        >>> for _ in range(10):
        ...     choice = bandit.ask()
        ...     bandit.tell(choice, -((choice.features[0] - 0.7) ** 2))
        >>> bandit.best.features.tolist()
        [0.7000000000000001]
    """

    def __init__(self, arms: Any, policy: Any = None, *, seed: int = 0, initial: int = 3):
        """Set up a study that lives in memory."""
        self.arms = read_only(check_arms(arms))
        self.policy: Policy = as_policy(policy)
        self.seed = whole("seed", seed, 0, LARGEST_SEED)
        self.initial = min(whole("initial", initial, 1), len(self.arms))
        self._space = Space.of(self.arms)
        self._state = _begin(self.policy, self._space, self.seed, self.initial)
        self._history: list[tuple[int, float]] = []
        self._learned = 0  # how many of these rewards the model has seen

    @property
    def rewards(self) -> list[tuple[int, float]]:
        """Every (arm, reward) told so far, in order."""
        return list(self._history)

    @property
    def pulls(self) -> np.ndarray:
        """How many rewards each arm has."""
        return np.bincount([arm for arm, _ in self._history], minlength=len(self.arms))

    @property
    def best(self) -> Choice:
        """The arm with the highest mean reward so far."""
        if not self._history:
            raise InputError("best is unknown before the first reward; tell one first")
        totals = np.bincount(
            [arm for arm, _ in self._history],
            weights=[reward for _, reward in self._history],
            minlength=len(self.arms),
        )
        pulls = self.pulls
        means = np.where(pulls > 0, totals / np.maximum(pulls, 1), -np.inf)
        arm = int(np.argmax(means))
        why = f"highest mean reward, {means[arm]:.4g} over {pulls[arm]} pull(s)"
        return Choice(arm, self.arms[arm], why)

    def ask(self) -> Choice:
        """The arm to pull next. Asking again before telling gives the same answer."""
        told = len(self._history)
        if told < self.initial:
            arm = self._initial_arm()
            why = f"initial arm {told + 1} of {self.initial}, drawn at random"
            return Choice(arm, self.arms[arm], why)
        self._learn()
        arm, info = _select(self.policy, self._state)
        _check_health(info.healthy)
        return Choice(int(arm), self.arms[int(arm)], _why(self.policy, info))

    def tell(self, choice: Any, reward: Any) -> None:
        """Record a reward for a choice, or for any arm by its number; repeats are welcome."""
        arm = self._arm_number(choice)
        value = finite("reward", reward)
        observations = self._state.observations
        full = int(observations.used) == observations.capacity
        same = np.asarray(observations.features) == self._space.arms[arm]
        if full and not same.all(axis=1).any():
            self._state = grow(self._state, bucket(observations.capacity + 1))
        self._state = _observe(self.policy, self._state, np.int32(arm), np.float64(value))
        self._history.append((arm, value))

    def posterior(self, features: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the payoff in reward units, at the arms or at other features."""
        self._need_rewards("posterior")
        self._learn()
        x = self._space.arms if features is None else self._unit(features)
        mean, deviation = _moments(self._state, x)
        return np.asarray(mean), np.asarray(deviation)

    def explain(self) -> dict[str, np.ndarray]:
        """Per arm: mean, std, ratio (attention), acquisition and pulls; ready for a data frame."""
        self._need_rewards("explain")
        self._learn()
        mean, deviation, ratio, score = map(np.asarray, _table(self.policy, self._state))
        return {
            "mean": mean,
            "std": deviation,
            "ratio": ratio,
            "acquisition": score,
            "pulls": self.pulls,
        }

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as numbers and lists that JSON can hold."""
        hyper = jax.tree.leaves(self._state.posterior.hyper)
        return {
            "format": _STATE_FORMAT,
            "arms": self.arms.tolist(),
            "policy": repr(self.policy),
            "seed": self.seed,
            "initial": self.initial,
            "arm": [arm for arm, _ in self._history],
            "reward": [reward for _, reward in self._history],
            "hyper": [np.asarray(leaf).tolist() for leaf in hyper],
            "learned": self._learned,
        }

    def load_state_dict(self, state: Any) -> None:
        """Resume from ``state_dict``: the next choice is the one that would have come.

        The bandit must have been made with the same arms and policy; functions in a policy (a
        kernel, a prior) are told apart by their names only. On any mismatch nothing changes.
        """
        arms, rewards, hyper, learned = self._check_state(state)
        fresh = Bandit(self.arms, self.policy, seed=state["seed"], initial=state["initial"])
        for arm, reward in zip(arms, rewards, strict=True):
            fresh.tell(arm, reward)
        posterior = dataclasses.replace(fresh._state.posterior, hyper=hyper)
        fresh._state = dataclasses.replace(fresh._state, posterior=posterior)
        if arms and learned == len(arms):
            fresh._state = dataclasses.replace(
                fresh._state, posterior=_condition(self.policy, fresh._state)
            )
        fresh._learned = learned
        self.__dict__.update(fresh.__dict__)

    def _check_state(self, state: Any):
        if not isinstance(state, dict) or not self.state_dict().keys() <= state.keys():
            raise InputError("state is not a state_dict; expected what Bandit.state_dict returned")
        if state["format"] != _STATE_FORMAT:
            raise InputError(f"state has format {state['format']!r}; expected {_STATE_FORMAT}")
        if not np.array_equal(check_arms(state["arms"], "state arms"), self.arms):
            raise InputError("state was saved with other arms; make the Bandit with the same ones")
        if state["policy"] != repr(self.policy):
            raise InputError(
                f"state was saved with policy {state['policy']}; this Bandit has {self.policy!r}"
            )
        leaves, tree = jax.tree.flatten(self._state.posterior.hyper)
        values = [finite_array(v, "state hyper") for v in _listed(state, "hyper")]
        shapes = [np.shape(leaf) for leaf in leaves]
        if [v.shape for v in values] != shapes or not all(np.all(v > 0) for v in values):
            raise InputError(f"state hyper is {state['hyper']}; expected positive {shapes} numbers")
        arms = [self._arm_number(arm) for arm in _listed(state, "arm")]
        rewards = [finite("reward", reward) for reward in _listed(state, "reward")]
        if len(arms) != len(rewards):
            raise InputError(f"state has {len(arms)} arms and {len(rewards)} rewards told")
        learned = whole("state learned", state["learned"], 0)
        if learned > len(arms):
            raise InputError(f"state learned is {learned}; expected at most {len(arms)}")
        return arms, rewards, jax.tree.unflatten(tree, values), learned

    def _initial_arm(self) -> int:
        """Distinct random arms, skipping those told already."""
        order = np.random.default_rng(self.seed).permutation(len(self.arms))
        told = {arm for arm, _ in self._history}
        return int(next((arm for arm in order if int(arm) not in told), order[0]))

    def _learn(self) -> None:
        """Bring the model up to date with the rewards, searching hyper-parameters if due."""
        told = len(self._history)
        if self._learned == told:
            return
        state, every = self._state, self.policy.gp.refit_every
        due = (told - self.initial) // every > (self._learned - self.initial) // every
        if due or not self._learned:
            hyper = _fit(self.policy, state)
            posterior = dataclasses.replace(state.posterior, hyper=hyper)
            state = dataclasses.replace(state, posterior=posterior)
        posterior = _condition(self.policy, state)
        _check_health(posterior.healthy)
        self._state = dataclasses.replace(state, posterior=posterior)
        self._learned = told

    def _arm_number(self, choice: Any) -> int:
        arm = choice.arm if isinstance(choice, Choice) else choice
        try:
            number = -1 if isinstance(arm, bool | np.bool_) else operator.index(arm)
        except TypeError:
            number = -1
        if not 0 <= number < len(self.arms):
            raise InputError(
                f"arm is {arm!r}; expected a Choice or a row number from 0 to {len(self.arms) - 1}"
            )
        return number

    def _unit(self, features: Any) -> np.ndarray:
        x = np.atleast_2d(finite_array(features, "features"))
        if x.ndim != 2 or x.shape[1] != self.arms.shape[1]:
            raise InputError(
                f"features has shape {x.shape}; expected (points, {self.arms.shape[1]}), "
                "as many features as the arms have"
            )
        return self._space.unit(x)

    def _need_rewards(self, what: str) -> None:
        if not self._history:
            raise InputError(f"{what} is unknown before the first reward; tell one first")


def _check_health(healthy: Any) -> None:
    if not healthy:
        raise NumericalError(
            "the model has no finite prediction: the kernel is not positive definite on the "
            "arms told so far; use another kernel"
        )


def _listed(state: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(state[name], list):
        raise InputError(f"state {name} is {state[name]!r}; expected a list")
    return state[name]


def _why(policy: Policy, info: Info) -> str:
    name = type(policy.acquisition).__name__
    parts = f"predicted mean {float(info.mean):.4g}, deviation {float(info.deviation):.4g}"
    if float(info.ratio) != 1.0:
        parts += f", attention {float(info.ratio):.3g}"
    return f"{name}: {parts}"


@float64
def _begin(policy: Policy, space: Space, seed: int, initial: int) -> State:
    return policy.init(jax.random.key(seed), space, initial=initial)


@float64
@eqx.filter_jit
def _observe(policy: Policy, state: State, arm, reward) -> State:
    return policy.observe(state, arm, reward)


@float64
@eqx.filter_jit
def _fit(policy: Policy, state: State):
    # Not the posterior: conditioning is a program of its own, so that a study that is resumed runs
    # the same one on the same numbers and chooses the same arm even where two are nearly tied.
    return policy.learn(state)[0].posterior.hyper


@float64
@eqx.filter_jit
def _select(policy: Policy, state: State):
    return policy.select(_select_key(state), state)


@float64
@eqx.filter_jit
def _table(policy: Policy, state: State):
    arena = state.arena
    score = policy.score(_select_key(state), state)
    mean, deviation = state.posterior.moments(arena.arms)
    ratio = score.ratio(arena.arms, arena.prior)
    return mean, deviation, ratio, score(arena.arms, arena.prior)


@float64
@eqx.filter_jit
def _moments(state: State, x):
    return state.posterior.moments(x)


@float64
@eqx.filter_jit
def _condition(policy: Policy, state: State):
    observations = state.observations
    return condition(state.posterior.hyper, observations, policy.gp.scale(observations))


def _select_key(state: State):
    """Another stream than the fits', one key per number of pulls."""
    return jax.random.fold_in(jax.random.fold_in(state.key, 2**31), state.pulls)
