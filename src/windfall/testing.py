"""Checks of one's own stores, to be run by pytest.

Example:
    A file ``test_my_store.py``, all of it::

        from windfall.testing import StoreContract
        from my_package import MyStore

        class TestMyStore(StoreContract):
            def open(self, folder, clock):
                return MyStore(folder / "studies", clock=clock)
"""

import threading
from abc import abstractmethod
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from windfall.errors import InputError
from windfall.study.stores.base import Conflict, Locked, Store

__all__ = ["StoreContract"]

_BASIS = {"seed": 0, "space": {"type": "Box", "lower": [0.1], "upper": [1e300]}}


class StoreContract:
    """What every store promises (``windfall.study.stores.base``), as tests.

    Derive a class whose name begins with ``Test``, and say how a store is opened.
    """

    @abstractmethod
    def open(self, folder: Path, clock: Callable[[], float]) -> Store:
        """A store; every further call with the same folder leads to the same studies.

        Args:
            folder: An empty folder for this one test.
            clock: What the store is to take for the time.
        """

    def test_events_are_numbered_and_come_back_as_they_were(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 12.5)
        key = store.create("alloy", _BASIS)
        contents = {"point": [0.1, 1e-320], "why": "größer", "noise": None, "held": True}
        taken = store.append(key, [("asked", contents), ("told", {"reward": 0.1 + 0.2})])
        taken = [*taken, *store.append(key, [("noted", {})], worker="oven", request="r1")]
        with closing(self.open(tmp_path, lambda: 0.0)) as other:
            events = list(other.read(key))
        assert [event.number for event in events] == [0, 1, 2, 3]
        assert [event.kind for event in events] == ["created", "asked", "told", "noted"]
        assert [event.contents for event in events[:3]] == [_BASIS, contents, {"reward": 0.1 + 0.2}]
        assert (events[3].worker, events[3].request, events[3].time) == ("oven", "r1", 12.5)
        assert (events[1].worker, events[1].request, events[0].time) == (None, None, 12.5)
        assert events[1:] == taken
        assert list(store.read(key, 1)) == events[2:]
        assert list(store.read(key, 3)) == []
        store.close()

    def test_what_was_appended_cannot_be_changed_from_outside(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 0.0)
        key = store.create("alloy", _BASIS)
        contents = {"point": [1.0]}
        store.append(key, [("failed", contents)])
        contents["point"].append(2.0)
        assert store.read(key)[1].contents == {"point": [1.0]}
        store.close()

    def test_studies_are_listed_in_the_order_of_their_creation(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 0.0)
        keys = {name: store.create(name, _BASIS) for name in ("b", "a", "ä 'quoted'; --")}
        with closing(self.open(tmp_path, lambda: 0.0)) as other:
            assert list(other.list().items()) == list(keys.items())
        _expect(Conflict, lambda: store.create("a", {"seed": 1}))
        store.append(keys["a"], [("noted", {"text": "mine"})])
        assert len(store.read(keys["b"])) == 1
        assert store.read(keys["a"])[0].contents == _BASIS
        store.close()

    def test_appending_depends_on_what_happened_if_asked_to(self, tmp_path: Path) -> None:
        one, other = (self.open(tmp_path, lambda: 0.0) for _ in range(2))
        key = one.create("alloy", _BASIS)
        one.append(key, [("noted", {"text": "first"})], after=0)
        for wrong in (0, 2, -1):
            late = [("noted", {"text": "late"}), ("noted", {"text": "too"})]
            _expect(Conflict, lambda wrong=wrong, late=late: other.append(key, late, after=wrong))
        assert len(one.read(key)) == 2
        other.append(key, [("noted", {"text": "second"})], after=1)
        one.append(key, [("noted", {"text": "third"})])
        assert [e.contents["text"] for e in other.read(key, 0)] == ["first", "second", "third"]
        one.close()
        other.close()

    def test_a_request_is_taken_once(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 0.0)
        key, second = store.create("alloy", _BASIS), store.create("glass", _BASIS)
        store.append(key, [("noted", {}), ("noted", {})], request="r")
        for drafts in ([("told", {})], [("noted", {}), ("noted", {})]):
            _expect(Conflict, lambda drafts=drafts: store.append(key, drafts, request="r"))
        assert len(store.read(key)) == 3
        store.append(second, [("noted", {})], request="r")
        store.append(key, [("noted", {})])
        store.append(key, [("noted", {})])
        assert [event.request for event in store.read(key)] == [None, "r", "r", None, None]
        store.close()

    def test_what_cannot_be_written_leaves_nothing_behind(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 0.0)
        key = store.create("alloy", _BASIS)
        for wrong in (float("nan"), object()):
            drafts = [("noted", {}), ("told", {"reward": wrong})]
            _expect((TypeError, ValueError), lambda drafts=drafts: store.append(key, drafts))
            _expect((TypeError, ValueError), lambda w=wrong: store.create("other", {"x": w}))
        assert len(store.read(key)) == 1
        assert list(store.list()) == ["alloy"]
        store.close()

    def test_a_lock_keeps_others_from_appending(self, tmp_path: Path) -> None:
        now = [100.0]
        one, other = (self.open(tmp_path, lambda: now[0]) for _ in range(2))
        key, free = one.create("alloy", _BASIS), one.create("glass", _BASIS)
        assert one.lock(key, "me", 10.0)
        assert one.lock(key, "me", 10.0)
        assert not other.lock(key, "you", 10.0)
        _expect(Locked, lambda: other.append(key, [("noted", {})]))
        _expect(Locked, lambda: other.append(key, [("noted", {})], holder="you"))
        other.append(free, [("noted", {})])
        one.append(key, [("noted", {})], holder="me", after=0)
        other.unlock(key, "you")  # not yours
        assert not other.lock(key, "you", 10.0)
        one.unlock(key, "me")
        other.append(key, [("noted", {})])
        assert other.lock(key, "you", 10.0)
        now[0] = 111.0  # it has run out
        one.append(key, [("noted", {})])
        assert one.lock(key, "me", 10.0)
        _expect(Locked, lambda: other.append(key, [("noted", {})], holder="you"))
        one.close()
        other.close()

    def test_a_line_is_nothing_but_courtesy(self, tmp_path: Path) -> None:
        """Who has waited long enough goes on, whoever was before him."""
        one, other = (self.open(tmp_path, lambda: 100.0) for _ in range(2))
        key = one.create("alloy", _BASIS)
        with one.line(key, 0.01) as crowded, other.line(key, 0.01):
            assert not crowded
            assert other.lock(key, "you", 10.0)
            other.append(key, [("noted", {})], holder="you", after=0)
            other.unlock(key, "you")
            one.append(key, [("noted", {})])
        one.close()
        other.close()

    def test_a_study_is_renamed_and_deleted_for_good(self, tmp_path: Path) -> None:
        store = self.open(tmp_path, lambda: 0.0)
        key, second = store.create("alloy", _BASIS), store.create("glass", _BASIS)
        _expect(Conflict, lambda: store.rename(key, "glass"))
        store.rename(key, "alloy")
        store.rename(key, "steel")
        assert store.list() == {"steel": key, "glass": second}
        assert len(store.read(key)) == 1
        store.delete(second)
        store.delete(key)
        assert store.list() == {}
        again = store.create("glass", _BASIS)
        assert again not in (key, second)
        for call in (
            lambda: store.read(key),
            lambda: store.append(key, [("noted", {})]),
            lambda: store.lock(key, "me", 1.0),
            lambda: store.rename(key, "alloy"),
            lambda: store.delete(key),
        ):
            _expect(InputError, call)
        assert len(store.read(again)) == 1
        store.close()

    def test_many_at_once_lose_and_double_nothing(self, tmp_path: Path) -> None:
        stores = [self.open(tmp_path, lambda: 0.0) for _ in range(3)]
        key = stores[0].create("alloy", _BASIS)
        taken: list[Any] = []

        def work(place: int) -> None:
            store = stores[place % len(stores)]
            for turn in range(8):
                text = {"text": f"{place}/{turn}"}
                if turn % 2:
                    taken.extend(store.append(key, [("noted", text)] * 2))
                    continue
                while True:  # as one who decides on all that happened
                    after = store.read(key)[-1].number
                    try:
                        taken.extend(store.append(key, [("noted", text)], after=after))
                        break
                    except Conflict:
                        pass

        threads = [threading.Thread(target=work, args=(place,)) for place in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        events = list(stores[0].read(key, 0))
        assert [event.number for event in events] == list(range(1, 6 * 12 + 1))
        assert sorted(taken, key=lambda event: event.number) == events
        for store in stores:
            store.close()


def _expect(error: Any, call: Callable[[], Any]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"nothing was raised; expected {error}")
