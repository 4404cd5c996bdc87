"""Which study is meant: one that is there, or a new one; and what both rest on."""

from dataclasses import dataclass, fields
from typing import Any

from windfall import specs
from windfall.checks import LARGEST_SEED, did_you_mean, shown, whole
from windfall.errors import InputError
from windfall.runtime.given import StoreLike, Text
from windfall.space import as_space
from windfall.space.context import as_context
from windfall.space.similarity import known_by_similarity, similar_arms
from windfall.study.bandit import Bandit
from windfall.study.stores import Conflict, Store, open_store
from windfall.study.wish import Wish

__all__ = ["Terms", "check_same", "found_or_created", "studies", "text", "text_or_none"]


def studies(store: StoreLike = "windfall.db", token: Text | None = None) -> list[str]:
    """The names of the studies in a store, in the order in which they were created.

    Args:
        store: A file, ``postgresql://…``, the address of a windfall server, or a ``Store``.
        token: What the server wants to see; by default the environment's ``WINDFALL_TOKEN``.
    """
    opened = open_store(store, token=token)
    try:
        return list(opened.list())
    finally:
        if opened is not store:
            opened.close()


def text(what: str, given: Any) -> str:
    """Text that says something, in one line's space.

    >>> text("worker", "")
    Traceback (most recent call last):
    windfall.errors.InputError: worker is ''; expected text
    """
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"{what} is {shown(given)}; expected text")
    return given


def text_or_none(what: str, given: Any) -> str | None:
    """The same where nothing need be said."""
    return None if given is None else text(what, given)


@dataclass(frozen=True)
class Terms:
    """What a user says that a study rests on, as ``wf.Bandit`` takes it; None: nothing said."""

    space: Any = None
    policy: Any = None
    goal: Any = None
    budget: Any = None
    repeats: Any = None
    kernel_matrix: Any = None
    seed: Any = None
    initial: Any = None
    about: Any = None
    context: Any = None
    drift: Any = None

    @property
    def create(self) -> bool:
        """Whether it is enough for a new study."""
        return self.space is not None or self.kernel_matrix is not None

    def bandit(self) -> Bandit:
        """A bandit on these terms: what it refuses is refused before anything is written."""
        others = (f.name for f in fields(self) if f.name not in ("space", "seed", "about"))
        given: dict[str, Any] = {name: getattr(self, name) for name in others}
        return Bandit(self.space, seed=0 if self.seed is None else self.seed, **given)

    def stated(self, created: dict[str, Any]) -> dict[str, Any]:
        """The parts that something was said about, as a study is created with them."""
        stated: dict[str, Any] = {}
        if self.create:
            matrix = self.kernel_matrix
            space = as_space(self.space) if matrix is None else similar_arms(matrix, self.space)
            stated["space"] = specs.describe(space)
        wishes = (self.policy, self.goal, self.budget, self.repeats, self.drift)
        if any(wish is not None for wish in wishes):
            stated["policy"] = specs.describe(self._policy(created))
        if self.seed is not None:
            stated["seed"] = whole("seed", self.seed, 0, LARGEST_SEED)
        if self.initial is not None:
            stated["initial"] = whole("initial", self.initial, 1)
        if self.context is not None:
            stated["context"] = specs.describe(as_context(self.context))
        if self.about is not None:
            stated["about"] = self.about
        return stated

    def _policy(self, created: dict[str, Any]) -> Any:
        """The policy meant; that of the study where only its budget or its repeats are stated."""
        policy, similar = self.policy, False
        if policy is None and self.goal is None:  # it has its model
            policy = specs.from_spec(created["policy"], allow_imports=True)
        else:
            similar = self._similar(created)
        said = {"similar": similar, "drift": self.drift}
        return Wish.of(policy, self.goal, self.budget, self.repeats, **said).policy()

    def _similar(self, created: dict[str, Any]) -> bool:
        """Whether similarities stand for features: in the study, where nothing is said of arms."""
        if self.create:
            return self.kernel_matrix is not None
        return known_by_similarity(specs.from_spec(created["space"], allow_imports=True))


def found_or_created(store: Store, name: str, terms: Terms) -> int:
    """The key of a study, which is created if a space says what it is about."""
    known = store.list()
    if name in known:
        return known[name]
    if not terms.create:
        there = f"one of {', '.join(known)}" if known else "a study of the store, which has none"
        raise InputError(
            f"study is {name!r}{did_you_mean(name, known)}; expected {there}, or a space to create "
            "it with"
        )
    bandit = terms.bandit()
    created = bandit.basis.contents(specs.to_spec)
    if terms.about is not None:
        created["about"] = terms.about
    try:
        return store.create(name, created)
    except Conflict:  # somebody else was first
        return store.list()[name]


def check_same(name: str, created: dict[str, Any], terms: Terms) -> None:
    """Refuse what is stated where it differs from what a study was created with."""
    stated = terms.stated(created)
    found = specs.differences(stated, {part: created.get(part) for part in stated})
    if found:  # every row of many arms would be said to differ: name the first
        raise InputError(
            f"study {name!r} was created otherwise ({found[0]}); give the same, or another name"
        )
