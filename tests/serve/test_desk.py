"""One thread decides for a study: batches, and who waits for whom."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from bandit_study import ARMS

import windfall as wf
from windfall.serve.desk import Desk, Turn
from windfall.study.decide import Decision
from windfall.study.stores import Conflict, MemoryStore


class Fake:
    """Decides for the next arm that nobody has, and counts fits; no model, no compiler."""

    def __init__(self, *_):
        self.fits, self.waited = 0, []

    def choose(self, record, waiting, *_):
        used = {pull.point for pull in record.told} | {point for point, _ in waiting}
        point = next(arm for arm in range(len(ARMS)) if arm not in used)
        new = record.searched != record.happened
        self.fits += new
        self.waited.append(len(waiting))
        found = {"fit": self.fits} if new else None
        predicted = {"mean": 0.5, "deviation": 0.1, "ratio": 2.0, "best": 0.4}
        return Decision(point, "it is next", None, found, record.happened, "", predicted)


@pytest.fixture
def desk(monkeypatch):
    monkeypatch.setattr("windfall.study.decide.Decider", Fake)
    store = MemoryStore()
    study = wf.Study("alloy", ARMS, "mean", store=store, initial=1)
    study.tell(0, 1.0)
    opened = Desk(store, "alloy")
    yield opened
    opened.close(10.0)


def held_up(desk) -> threading.Event:
    """Have the thread wait until the event is set."""
    begun, free = threading.Event(), threading.Event()

    def wait(_):
        begun.set()
        assert free.wait(30)

    desk.do(Turn.HAPPEN, wait)
    assert begun.wait(30)
    return free


def test_who_asks_at_once_is_answered_in_one_batch(desk):
    free = held_up(desk)
    asks = [desk.do(Turn.DECIDE, lambda s, n=n: s.ask(worker=f"w{n}")) for n in range(5)]
    beliefs = desk.do(Turn.BELIEVE, lambda s: len(s.pending))
    tells = [desk.do(Turn.HAPPEN, lambda s, n=n: s.tell(50 + n, 0.5)) for n in range(3)]
    assert desk.waiting == 9
    free.set()
    arms = [ask.result(30).arm for ask in asks]
    for tell in tells:
        tell.result(30)
    assert beliefs.result(30) == 5  # what only reads comes last
    assert len(set(arms)) == 5
    kinds = desk.read(lambda s: [event.kind for event in s.events])
    assert kinds == ["created", "told"] + ["told"] * 3 + ["asked"] * 5  # rewards come first
    decider = desk.do(Turn.BELIEVE, lambda s: s._decider).result(30)
    assert decider.fits == 1  # one fit for all
    assert decider.waited == [0, 1, 2, 3, 4]  # each knows of those before


def test_an_error_is_for_him_who_made_it(desk):
    free = held_up(desk)
    wrong = desk.do(Turn.HAPPEN, lambda s: s.tell(999, 1.0))
    right = desk.do(Turn.HAPPEN, lambda s: s.tell(3, 1.0))
    free.set()
    with pytest.raises(wf.InputError, match="arm is 999"):
        wrong.result(30)
    right.result(30)
    assert desk.read(lambda s: len(s.rewards)) == 2


def test_a_study_that_is_only_looked_at_is_opened_once(monkeypatch):
    """A study of 10⁵ pulls takes seconds to open."""
    store = MemoryStore()
    wf.Study("alloy", ARMS, "mean", store=store)
    read, beginnings = store.read, []

    def counted(key, after):
        beginnings.append(after == -1)
        return read(key, after)

    monkeypatch.setattr(store, "read", counted)
    desk = Desk(store, "alloy")
    desk.read(lambda s: len(s.rewards))
    assert sum(beginnings) == 1
    desk.close()


def test_reading_waits_for_no_decision(desk):
    free = held_up(desk)
    try:
        assert desk.read(lambda s: len(s.rewards)) == 1
    finally:
        free.set()


def test_a_desk_that_closes_does_what_was_asked_of_it(desk):
    free = held_up(desk)
    last = desk.do(Turn.HAPPEN, lambda s: s.tell(3, 1.0))
    desk.close()
    free.set()
    last.result(30)
    with pytest.raises(Conflict):
        desk.do(Turn.HAPPEN, lambda s: None).result(30)


def test_a_study_that_decides_holds_up_nobody_else(served, client, monkeypatch):
    """Neither other studies, nor /health, nor reading and telling... but itself."""
    for name in ("slow", "quick"):
        space = {"type": "Arms", "features": ARMS.tolist()}
        body = {"name": name, "space": space, "policy": "mean", "initial": 50}
        assert client.post("/api/v1/studies", json=body).status_code == 201
    desk = served.app.state.studies.desk("slow")
    free = held_up(desk)
    with ThreadPoolExecutor() as pool:
        # More than there are threads for short work: those who wait take none.
        many = [
            pool.submit(client.post, "/api/v1/studies/slow/ask", json={"worker": f"w{n}"})
            for n in range(50)
        ]
        while desk.waiting < 4:
            time.sleep(0.01)
        assert client.get("/health").status_code == 200
        assert client.get("/api/v1/studies/slow").status_code == 200
        quick = client.post("/api/v1/studies/quick/ask", json={"worker": "a"})
        assert quick.status_code == 200
        assert not any(ask.done() for ask in many)
        free.set()
        answers = [ask.result().json()["choices"][0] for ask in many]
    assert len({answer["arm"] for answer in answers}) == 50
