"""Programs that the next decisions will need are compiled while the user measures.

A rehearsal runs the very programs of a decision on made-up rewards, in a thread of its own. Whether
it has finished makes no difference to a choice: a decision that needs the same program waits for it
instead of compiling it again.
"""

import time
import weakref
from collections.abc import Callable

from windfall.runtime.beside import beside, closing

__all__ = ["Warmer"]

#: Nobody who asks again within so many seconds is measuring anything.
PATIENCE = 0.5


class Warmer:
    """Rehearses the next decision when nothing was asked for a while."""

    def __init__(self, rehearse: Callable[[], None]):
        """With a method that runs the programs; what it belongs to may go at any time."""
        self._rehearse = weakref.WeakMethod(rehearse)
        self._asked = 0.0
        self._waiting = False

    def asking(self) -> None:
        """A decision is being made: nobody is measuring."""
        self._asked = float("inf")

    def asked(self) -> None:
        """Something was asked, and may take a while to be measured."""
        self._asked = time.monotonic()
        if not self._waiting:
            self._waiting = True
            beside(self._wait, "windfall-warming")

    def _wait(self) -> None:
        while (left := self._asked + PATIENCE - time.monotonic()) > 0:
            # Not for ever: a decision that is being made ends, and a study goes.
            if closing(min(left, 1.0)) or self._rehearse() is None:
                return
        self._waiting = False
        rehearse = self._rehearse()
        if rehearse is not None:
            rehearse()
