"""Events as they happen, and after a connection was lost."""

import json
import threading
import time
from dataclasses import replace

import windfall as wf

ALLOY = "/api/v1/studies/alloy"


def events(client, wanted, params=None, headers=None):
    """The first so many events of a stream."""
    found, current = [], {}
    with client.stream("GET", f"{ALLOY}/events", params=params, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                current[name] = value
            elif "data" in current:
                found.append((current.get("id"), current["event"], json.loads(current["data"])))
                current = {}
                if len(found) == wanted:
                    break
    return found


def test_a_stream_goes_on_where_it_was(client):
    client.post(f"{ALLOY}/ask", json={"worker": "oven"})
    client.post(f"{ALLOY}/note", json={"text": "two\nlines"})
    first = events(client, 3)
    assert [(number, kind) for number, kind, _ in first] == [
        ("0", "created"), ("1", "asked"), ("2", "noted")
    ]  # fmt: skip
    assert first[1][2]["worker"] == "oven"
    assert first[2][2]["text"] == "two\nlines"
    client.post(f"{ALLOY}/note", json={"text": "later"})
    for where in ({"headers": {"Last-Event-ID": "2"}}, {"params": {"after": 2}}):
        [(number, _, data)] = events(client, 1, **where)
        assert (number, data["text"]) == ("3", "later")
    assert client.get(f"{ALLOY}/events", headers={"Last-Event-ID": "x"}).status_code == 422


def test_what_others_write_to_the_store_appears_within_two_seconds(client, served):
    other = wf.Study("alloy", store=served.app.state.studies.store)  # not through the server
    said: list[float] = []

    def write():
        time.sleep(0.3)
        other.tell(3, 1.5)
        said.append(time.perf_counter())

    writer = threading.Thread(target=write)
    writer.start()
    [(_, kind, data)] = events(client, 1, params={"after": 0})
    seen = time.perf_counter()
    writer.join()
    assert (kind, data["reward"]) == ("told", 1.5)
    assert seen - said[0] < 2.0
    assert client.get(ALLOY).json()["pulls"] == 1


def test_a_stream_ends_with_its_study(client, served):
    threading.Timer(0.2, lambda: served.app.state.studies.delete(1)).start()
    [(_, kind, _)] = events(client, 1, params={"after": 0})
    assert kind == "deleted"


def test_there_are_not_too_many_streams(client, served):
    served.app.state.limits = replace(served.app.state.limits, streams=1)
    with client.stream("GET", f"{ALLOY}/events") as answer:
        lines = answer.iter_lines()
        next(lines)
        assert client.get(f"{ALLOY}/events").status_code == 503
    while served.app.state.streams:  # who goes away is noticed
        time.sleep(0.01)
