"""What a policy knows between rounds, and its random numbers.

Randomness: a study's key, ``fold_in(seed, trial)``, then ``fold_in(·, what for)`` and
``fold_in(·, rewards so far)``.
"""

from typing import Any, TypeAlias

import jax
from jaxtyping import Int, Integer, PRNGKeyArray

from windfall.acquisition.candidates import Candidates
from windfall.models.base import Belief
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["FIT", "SELECT", "Count", "State", "key_of", "study_key"]

#: A number known now, or only inside compiled code.
Count: TypeAlias = int | Integer[Array, ""]
#: Streams of random numbers; 0 and 1 are a simulation's own.
FIT, SELECT = 2, 3


class State(Module):
    """All a policy knows: where it may choose, and what it believes about the payoffs.

    Attributes:
        candidates: The arms, or the region.
        setup: What the acquisition prepared when the study began.
        key: Randomness of everything (a JAX key; None in a template that gets one later).
        belief: The rewards, and the model of them.
        pulls: How many rewards there are.
        initial: How many of them come from initial arms; policy rounds count after them.
        searched: The number of rewards at the last search for hyper-parameters; −1 before any.
    """

    candidates: Candidates
    setup: Any
    key: PRNGKeyArray | None
    belief: Belief
    pulls: Int[Array, ""]
    initial: Int[Array, ""]
    searched: Int[Array, ""]


def study_key(seed: Count, trial: Count = 0) -> PRNGKeyArray:
    """The key of a trial; a study is trial 0 of its seed."""
    return jax.random.fold_in(jax.random.key(seed), trial)


def key_of(study: PRNGKeyArray | None, stream: int, pulls: Count, ahead: Count = 0) -> PRNGKeyArray:
    """Randomness of a search (``FIT``), or of a choice (``SELECT``) while others wait."""
    assert study is not None, "a template has no key yet"
    key = jax.random.fold_in(jax.random.fold_in(study, stream), pulls)
    return key if stream == FIT else jax.random.fold_in(key, ahead)
