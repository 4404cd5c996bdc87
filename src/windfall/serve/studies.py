"""The studies of a server: which there are, and who serves each."""

import threading
import time
from typing import Any

from windfall import specs
from windfall.errors import InputError
from windfall.serve.desk import Desk
from windfall.serve.refusals import Refused
from windfall.space import Space
from windfall.study.stores import Store
from windfall.study.study import Study

__all__ = ["Studies"]

#: How long desks may take to end what they are at, in seconds.
_PATIENCE = 10.0


class Studies:
    """All studies of a store, each opened when it is first needed.

    Args:
        store: Where they are kept.
    """

    def __init__(self, store: Store):
        self.store = store
        self._desks: dict[int, Desk] = {}
        self._guard = threading.Lock()
        self._opening: dict[int, threading.Lock] = {}

    @property
    def open(self) -> list[Desk]:
        """The desks of the studies that were needed so far."""
        return list(self._desks.values())

    def key(self, name: str) -> int:
        """The key of a study by its name; unknown ones are refused."""
        known = self.store.list()
        if name not in known:
            raise Refused(404, f"study is {name!r:.200}; expected one that is there")
        return known[name]

    def desk(self, name: str) -> Desk:
        """Where a study is served, by its name."""
        return self.desk_of(self.key(name))

    def desk_of(self, key: int) -> Desk:
        """Where a study is served, by its key. Opening one holds up nobody else."""
        desk = self._desks.get(key)
        if desk is not None:
            return desk
        names = {k: name for name, k in self.store.list().items()}
        if key not in names:
            raise Refused(404, f"study {key} is not there; expected one that is")
        with self._guard:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            if key not in self._desks:
                self._desks[key] = self._opened(names[key])
            return self._desks[key]

    def _opened(self, name: str) -> Desk:
        try:
            return Desk(self.store, name)
        except InputError:
            raise
        except Exception as error:  # a store keeps anything, and anybody may have written it
            raise InputError(
                f"study {name!r} cannot be opened ({type(error).__name__}: {error}); expected one "
                "that windfall made"
            ) from error

    @staticmethod
    def check_name(name: str) -> None:
        """Refuse a name that no address can hold: browsers take dots for folders."""
        if name in (".", "..") or not name.isprintable():
            raise InputError(f"name is {name!r}; expected one line, other than '.' and '..'")

    def rename(self, key: int, name: str) -> None:
        """Give a study another name."""
        self.check_name(name)
        self.store.rename(key, name)

    def create(
        self, name: str, space: Any, policy: Any, context: Any = None, **options: Any
    ) -> bool:
        """Create a study from specs; whether there was none like it.

        Nothing is imported for a spec that came from a network.
        """
        self.check_name(name)
        made = specs.from_spec(space)
        if not isinstance(made, Space):
            raise InputError(f"space is {made!r:.80}; expected the spec of Arms, Box or Parameters")
        chosen = policy if policy is None or isinstance(policy, str) else specs.from_spec(policy)
        known = specs.from_spec(context) if isinstance(context, dict) else context
        new = name not in self.store.list()
        try:
            Study(name, made, chosen, store=self.store, context=known, **options)
        except InputError as error:
            if new:
                raise
            raise Refused(409, str(error)) from error  # there is another one of this name
        return new

    def delete(self, key: int) -> None:
        """Drop a study."""
        self.store.delete(key)
        desk = self._desks.pop(key, None)
        if desk is not None:
            desk.close()

    def close(self) -> None:
        """End all desks, after what they are at."""
        for desk in self.open:
            desk.close()
        last = time.monotonic() + _PATIENCE
        for desk in self.open:
            desk.close(max(0.0, last - time.monotonic()))
