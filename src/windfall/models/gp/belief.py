"""What a Gaussian process believes: the rewards as they came, and the posterior on them."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from windfall.checks import numbers_or_none, whole
from windfall.errors import InputError
from windfall.models.base import Belief, Reward, Tried
from windfall.models.gp.alone import NEARLY_ALL, crowd, standing_alone
from windfall.models.gp.ensemble import Ensemble
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.health import doubtful, trouble
from windfall.models.gp.inducing import NONE
from windfall.models.gp.layout import Layout
from windfall.models.gp.news import FEW, UNKNOWN, against, against_jumps, outdated
from windfall.models.gp.observations import Observations, Scale
from windfall.models.gp.posterior import Posterior
from windfall.models.gp.room import Sparsity, resized
from windfall.models.gp.sparse import Sparse
from windfall.models.gp.ties import Ties
from windfall.runtime.arrays import Array
from windfall.space import Apart

__all__ = ["GPBelief"]


class GPBelief(Belief):
    """The rewards in their own units, and the posterior of the last conditioning.

    Attributes:
        rewards: Sufficient statistics of every distinct input.
        posterior: Conditioned on them by ``GP.condition``.
        behind: How many distinct inputs the last search for hyper-parameters rested on.
        misfit: How well they fitted the rewards then (see ``Posterior.misfit``), and
            location and spread of the rewards.
        ties: Which features share a length scale.
        apart: Where the columns of a context begin.
        sparsity: When the posterior becomes sparse; None: never.
        layout: How the arms of the list lie that the study began with.
    """

    rewards: Observations
    posterior: Posterior
    behind: Int[Array, ""]
    misfit: Float[Array, " 4"] = eqx.field(default_factory=lambda: UNKNOWN)
    ties: Ties = eqx.field(static=True, default=None)
    apart: Apart | None = eqx.field(static=True, default=None)
    sparsity: Sparsity | None = eqx.field(static=True, default=None)
    layout: Layout = eqx.field(static=True, default=Layout())

    @property
    def capacity(self) -> int:
        """The number of slots for distinct inputs."""
        return self.rewards.count.shape[-1]

    @property
    def used(self) -> Int[Array, "..."]:
        """The number of slots in use."""
        return self.rewards.used

    @property
    def healthy(self) -> Bool[Array, ""]:
        """Whether the covariance matrix of the inputs had a Cholesky factor."""
        return self.posterior.healthy

    @property
    def tried(self) -> Tried:
        """Every distinct input (one with and without known noise counts twice)."""
        rewards = self.rewards
        return Tried(rewards.features, rewards.mean, rewards.live, rewards.used)

    def mean(self, x):
        """μ(x)."""
        return self.posterior.mean(x)

    def moments(self, x):
        """μ(x) and σ(x)."""
        return self.posterior.moments(x)

    def in_rewards(self, mean, deviation):
        """Back from a compressed scale, if it is one."""
        return self.posterior.scale.reward(mean, deviation)

    def ceiling(self, x, glance):
        """As the posterior can: see ``windfall.models.gp.ceiling``."""
        return self.posterior.ceiling(x, glance)

    def prior_deviation(self, x):
        """√k(x, x) of the kernel alone: what a mean function leaves open is not curiosity's."""
        return self.posterior.prior_deviation(x)

    def sample(self, key, anchors, features=512):
        """One payoff function drawn from the posterior."""
        return self.posterior.sample(key, anchors, features)

    def observe(self, x, reward: Reward) -> "GPBelief":
        """Note a reward in the slot of its input."""
        return dataclasses.replace(self, rewards=self.rewards.observe(x, reward))

    def imagine(self, x) -> "GPBelief":
        """The posterior with one more input whose reward is its mean."""
        mean = self.posterior.mean(x[None])[0]
        rewards = self.rewards.add(x, self.in_rewards(mean, jnp.zeros_like(mean))[0])
        return dataclasses.replace(self, rewards=rewards, posterior=self.posterior.extend(rewards))

    def resized(self, capacity: int) -> "GPBelief":
        """Slots added or taken away; those in use must fit."""
        posterior = resized(self.posterior, capacity, self.sparsity)
        # Not by the constructor: a stack has other shapes than it is annotated with.
        parts = (self.rewards.resized(capacity), posterior)
        return eqx.tree_at(lambda b: (b.rewards, b.posterior), self, parts)

    @property
    def thrifty(self) -> bool:
        """A search with more inputs than a few is dear."""
        return self.capacity > FEW

    def outdated(self):
        """By what the rewards since the last search say: see ``windfall.models.gp.news``."""
        then = Scale(self.misfit[2], self.misfit[3])
        stretch = self.posterior.scale.spread / then.spread
        evidence = against if self.apart is None or not self.apart.names else against_jumps
        misfit = self.posterior.misfit(then), self.misfit[:2]
        now = outdated(*misfit, self.behind, stretch, evidence)
        if self.sparsity is None or not isinstance(self.posterior, Sparse):
            return now
        # Nothing was chosen yet, or inputs have come for which there is no place among the latest.
        exact = self.behind <= self.sparsity.exact
        return now | exact | (self.used - self.behind > self.sparsity.latest)

    @property
    def cumulative(self) -> bool:
        """Where there are so many rewards that it is worth it."""
        return self.posterior.cumulative

    def before(self, rewards) -> "GPBelief":
        """With all inputs, since what carries it may be among those that came later."""
        assert isinstance(rewards, GPBelief)
        fewer = dataclasses.replace(
            rewards.rewards.resized(self.capacity), features=self.rewards.features
        )
        posterior = self.posterior.forgetting()
        return dataclasses.replace(self, rewards=fewer, posterior=posterior)

    def upon(self, earlier) -> "GPBelief":
        """With what the posterior of the other has added up."""
        assert isinstance(earlier, GPBelief)
        posterior = self.posterior.upon(earlier.posterior)
        return eqx.tree_at(lambda b: b.posterior, self, posterior)

    def rated(self) -> "GPBelief":
        """With how well the hyper-parameters fit the rewards now, if that was not said before."""
        scale = self.posterior.scale
        units = jnp.stack([scale.location, scale.spread])
        now = jnp.concatenate([self.posterior.misfit(scale), units])
        return dataclasses.replace(
            self, misfit=jnp.where(jnp.isnan(self.misfit[0]), now, self.misfit)
        )

    def remark(self):
        """How sparse the model is, if it is."""
        found = self.posterior
        if not isinstance(found, Sparse):
            return ""
        carrying = np.sum(found.there) + np.sum(found.late.live)
        carried = f"{carrying} of {int(self.used)} inputs carry the model"
        return f"; {carried}, {float(found.unexplained):.2%} of the variance is beyond them"

    def dump(self) -> dict[str, Any]:
        """The hyper-parameters and what they rest on."""
        leaves = jax.tree.leaves(self.posterior.hyper)
        saved = {
            "hyper": [np.asarray(leaf).tolist() for leaf in leaves],
            "behind": int(self.behind),
        }
        if np.all(np.isfinite(self.misfit)):
            saved["misfit"] = np.asarray(self.misfit).tolist()
        if isinstance(self.posterior, Sparse):
            saved["chosen"] = np.asarray(self.posterior.chosen).tolist()
        return saved

    def load(self, saved: Any) -> "GPBelief":
        """The hyper-parameters as they were."""
        if not isinstance(saved, dict) or not isinstance(saved.get("hyper"), list):
            raise InputError(f"state belief is {saved!r}; expected hyper-parameters")
        leaves, tree = jax.tree.flatten(self.posterior.hyper)
        values = [numbers_or_none(value) for value in saved["hyper"]]
        shapes = [np.shape(leaf) for leaf in leaves]
        found = [v.shape for v in values if v is not None and np.all(v > 0)]
        if found != shapes or len(found) != len(values):
            raise InputError(f"state hyper is {saved['hyper']}; expected positive {shapes} numbers")
        hyper = jax.tree.unflatten(tree, values)
        behind = np.int32(whole("state behind", saved.get("behind"), 0))
        misfit = numbers_or_none(saved["misfit"]) if "misfit" in saved else UNKNOWN
        if misfit is None or misfit.shape != UNKNOWN.shape:
            raise InputError(f"state misfit is {saved['misfit']}; expected four numbers")
        posterior = dataclasses.replace(self.posterior, hyper=hyper)
        if isinstance(posterior, Sparse):
            posterior = dataclasses.replace(posterior, chosen=self._chosen(saved, behind))
        posterior = posterior.forgetting()
        return dataclasses.replace(self, posterior=posterior, behind=behind, misfit=misfit)

    def stretched(self, factors) -> "GPBelief":
        """Every length scale in the new units."""

        def stretch(hyper: Hyper) -> Hyper:
            return dataclasses.replace(hyper, kernel=hyper.kernel.stretched(factors))

        hyper, members = self.posterior.hyper, self.members
        if members is None:
            hyper = stretch(hyper)
        else:
            each = [jax.tree.map(lambda a, i=i: np.asarray(a)[i], hyper) for i in range(members)]
            hyper = jax.tree.map(lambda *leaves: np.stack(leaves), *map(stretch, each))
        posterior = eqx.tree_at(lambda p: p.hyper, self.posterior, hyper)
        return dataclasses.replace(self, posterior=posterior.forgetting())

    def _chosen(self, saved: dict[str, Any], behind: Any) -> np.ndarray:
        """The inputs that carry a sparse model; none yet if the search was an exact model's.

        If it chose another number of them than searches do now: as many as there are, or the first,
        which tell most.
        """
        assert self.sparsity is not None
        none = np.full(self.sparsity.chosen, NONE, np.int32)
        if "chosen" not in saved and behind <= self.sparsity.exact:
            return none
        slots = numbers_or_none(saved.get("chosen"))
        if slots is None or slots.ndim != 1 or np.any(slots != np.round(slots)):
            raise InputError(f"state chosen is {saved.get('chosen')}; expected {none.size} numbers")
        count = min(slots.size, none.size)
        none[:count] = slots[:count].astype(np.int32)
        return none

    @property
    def rare(self):
        """By the share of rewards that are alike, beyond which nothing is fitted to the rest."""
        if self.apart is None or not self.apart.names:
            return None
        posterior = self.posterior
        tried = posterior.scale.apply(posterior.trend.residual(self.rewards))
        return crowd(tried) > NEARLY_ALL

    def standing_alone(self):
        """By leaving the best reward out; see ``windfall.models.gp.alone``."""
        return standing_alone(self.posterior)

    @property
    def doubtful(self) -> bool:
        """A user's own kernel may be none, and a mean function without a value somewhere."""
        return doubtful(self.posterior)

    def trouble(self) -> str | None:
        """What is wrong with the kernel or the mean function, if anything is."""
        return trouble(self.posterior)

    @property
    def members(self) -> int | None:
        """Samples of the hyper-parameters, where there are several."""
        return self.posterior.size if isinstance(self.posterior, Ensemble) else None

    def each(self, function, *others):
        """The answers of the posteriors of all samples."""
        assert isinstance(self.posterior, Ensemble)

        def answer(member: Posterior, *rest):
            return function(dataclasses.replace(self, posterior=member), *rest)

        return self.posterior.each(answer, *others)
