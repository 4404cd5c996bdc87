"""Which study is meant: one that is there, or a new one; and what both rest on."""

from typing import Any

from windfall import specs
from windfall._version import __version__
from windfall.checks import LARGEST_SEED, did_you_mean, shown, whole
from windfall.errors import InputError
from windfall.space import as_space
from windfall.study.bandit import Bandit
from windfall.study.stores import Conflict, Store, open_store

__all__ = ["check_same", "found_or_created", "studies", "text", "text_or_none"]


def studies(store: Any = "windfall.db", token: Any = None) -> list[str]:
    """The names of the studies in a store, in the order in which they were created.

    Args:
        store: A file, the address of a windfall server, or a ``Store``.
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


def found_or_created(
    store: Store, name: str, space: Any, policy: Any, seed: Any, initial: Any
) -> int:
    """The key of a study, which is created if a space says what it is about."""
    known = store.list()
    if name in known:
        return known[name]
    if space is None:
        there = f"one of {', '.join(known)}" if known else "a study of the store, which has none"
        raise InputError(
            f"study is {name!r}{did_you_mean(name, known)}; expected {there}, or a space to create "
            "it with"
        )
    # What a bandit refuses is refused before anything is written.
    bandit = Bandit(space, policy, seed=0 if seed is None else seed, initial=initial)
    created = {
        "space": specs.to_spec(bandit.space),
        "policy": specs.to_spec(bandit.policy),
        "seed": bandit.seed,
        "initial": bandit.initial,
        "versions": {"windfall": __version__},
    }
    try:
        return store.create(name, created)
    except Conflict:  # somebody else was first
        return store.list()[name]


def check_same(
    name: str, created: dict[str, Any], space: Any, policy: Any, seed: Any, initial: Any
) -> None:
    """Refuse what is given where it differs from what a study was created with."""
    given: dict[str, Any] = {}
    if space is not None:
        given["space"] = specs.describe(as_space(space))
    if policy is not None:
        from windfall.policy import as_policy

        given["policy"] = specs.describe(as_policy(policy))
    if seed is not None:
        given["seed"] = whole("seed", seed, 0, LARGEST_SEED)
    if initial is not None:
        given["initial"] = whole("initial", initial, 1)
    found = specs.differences(given, {part: created.get(part) for part in given})
    if found:  # every row of many arms would be said to differ: name the first
        raise InputError(
            f"study {name!r} was created otherwise ({found[0]}); give the same, or another name"
        )
