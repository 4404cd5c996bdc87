"""What everything that compiled code takes and gives is made of."""

from typing import TYPE_CHECKING

import equinox as eqx

__all__ = ["Module"]


class Module(eqx.Module):
    """An Equinox module with attributes as Python has them.

    Equinox makes a module of every method that is looked up, for whoever hands methods to compiled
    code, and so goes through a function of its own for every attribute. Here nobody does, and where
    a decision takes a millisecond, a tenth of that went there.
    """

    if not TYPE_CHECKING:
        __getattribute__ = object.__getattribute__
