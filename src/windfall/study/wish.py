"""What a user wants of a study, kept until there is something to decide: that needs JAX."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windfall import registry
from windfall.checks import known_name, shown, true_or_false, whole
from windfall.errors import InputError

if TYPE_CHECKING:
    from windfall.models.base import Model
    from windfall.policy import Policy

__all__ = ["Wish"]


@dataclass(frozen=True)
class Wish:
    """A policy, or its name, and what is asked of it.

    Attributes:
        given: The policy, an acquisition, or a name.
        budget: How many pulls there will be in all, if somebody knows.
        repeats: Whether anything may be tried twice; None leaves it to the policy.
        similar: Whether similarities of the arms stand in the place of features.
        drift: Whether payoffs may change with time.
    """

    given: Any
    budget: int | None
    repeats: bool | None
    similar: bool
    drift: bool = False

    @classmethod
    def of(
        cls,
        policy: Any,
        goal: Any,
        budget: Any,
        repeats: Any,
        *,
        similar: bool,
        drift: Any = None,
    ) -> "Wish":
        """Checked, as far as that needs no policy."""
        given = registry.wanted(policy, goal)
        if isinstance(given, str):
            known_name("policy", given, registry.POLICIES, "an object such as LWUCB(kappa=1.0), or")
        return cls(
            given,
            None if budget is None else whole("budget", budget, 1),
            None if repeats is None else true_or_false("repeats")(repeats),
            similar,
            drift is not None and known_name("drift", drift, ("auto",)) == "auto",
        )

    @property
    def timed(self) -> bool:
        """Whether the time of a reward counts."""
        return self.drift or getattr(getattr(self.given, "model", None), "ages", False) is True

    @property
    def by_name(self) -> bool:
        """Whether nothing is left that could be refused."""
        return isinstance(self.given, str)

    def policy(self) -> "Policy":
        """The policy that was wished for."""
        from windfall.policy import as_policy

        model = self._similarity_model() if self.similar else None
        drift = "auto" if self.drift else None
        how = {"budget": self.budget, "repeats": self.repeats, "drift": drift}
        return as_policy(self.given, model=model, **how)

    def _similarity_model(self) -> "Model":
        """That of the similarities, which leave no choice of another."""
        from windfall.models.gp.usual import similarity_model
        from windfall.policy import Policy

        model = similarity_model()
        if isinstance(self.given, Policy):
            acquisition, own = self.given.acquisition, self.given.model
            if repr(own) not in (repr(acquisition.model()), repr(model)):
                raise InputError(
                    f"model is {shown(own, 60)} beside kernel_matrix; expected none, since "
                    f"similarities are the model: give {acquisition!r} alone"
                )
        return model
