"""A small study in a store, for tests of studies."""

from bandit_study import ARMS

import windfall as wf


def simple(store, name="alloy", **options) -> wf.Study:
    """A study whose choices need no model: none of them comes after the initial ones."""
    return wf.Study(name, ARMS, "mean", store=store, initial=50, **options)
