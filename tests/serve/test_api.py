"""The routes of studies, beside a study in this process."""

import csv
import io

import numpy as np
import pytest

import windfall as wf

STUDIES = "/api/v1/studies"
ALLOY = f"{STUDIES}/alloy"
BOX = {
    "type": "Parameters",
    "parameters": [
        ["dose", {"type": "Real", "low": 0.0, "high": 10.0}],
        ["oven", {"type": "Categorical", "choices": ["a", "b"]}],
    ],
}


def good(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


def test_arms_come_and_go(client):
    assert good(client.post(f"{ALLOY}/retire", json={"arm": 3})) == {"events": 2}
    more = {"features": [[7.5], [8.0]], "request": "more"}
    for _ in range(2):  # the second time nothing happens
        assert good(client.post(f"{ALLOY}/add", json=more)) == {"arms": [60, 61]}
    assert good(client.get(ALLOY))["space"]["size"] == 62
    [choice] = good(client.post(f"{ALLOY}/ask", json={"among": [61]}))["choices"]
    assert choice["features"] == [8.0]
    assert "retired" in good(client.post(f"{ALLOY}/ask", json={"among": [3]}), 422)["error"]
    good(client.post(f"{ALLOY}/add", json={"features": []}), 422)
    good(client.post(f"{ALLOY}/retire", json={"arm": 99}), 422)


def test_a_study_that_expects_drift(client):
    space = {"type": "Arms", "features": [[0.0], [1.0], [2.0]]}
    good(client.post(STUDIES, json={"name": "tide", "space": space, "drift": "auto"}), 201)
    good(client.post(f"{STUDIES}/tide/tell", json={"arm": 1, "reward": 0.5, "at": 17.0}))
    late = client.post(f"{STUDIES}/tide/tell", json={"arm": 1, "reward": 0.5, "at": 12.0})
    assert "backwards" in good(late, 422)["error"]


def test_a_study_from_its_creation_to_its_end(client):
    asked = good(client.post(f"{ALLOY}/ask", json={"n": 2, "worker": "oven-1", "lease": 3600}))
    first, second = asked["choices"]
    assert first["worker"] == "oven-1"
    assert first["expires"] is not None
    assert first["mean"] is None  # there is no model yet
    shown = good(client.get(ALLOY))
    assert [choice["id"] for choice in shown["waiting"]] == [0, 1]
    assert shown["space"] == {"type": "Arms", "names": ["x1"], "size": 60}
    body = {"choice": first["id"], "reward": 0.5, "noise": 0.1, "request": "r1"}
    for _ in range(2):  # the second time nothing happens
        assert good(client.post(f"{ALLOY}/tell", json=body)) == {"events": 4}
    other = {**body, "reward": 0.6}
    assert "request" in good(client.post(f"{ALLOY}/tell", json=other), 422)["error"]
    good(client.post(f"{ALLOY}/fail", json={"arm": second["arm"]}))
    good(client.post(f"{ALLOY}/forget", json={"arm": second["arm"]}))
    replicates = {"arm": 7, "reward": 2.0, "count": 3, "deviation": 0.1}
    good(client.post(f"{ALLOY}/tell", json=replicates))
    good(client.post(f"{ALLOY}/note", json={"text": "changed the nozzle, = hot"}))
    best = good(client.get(f"{ALLOY}/best"))
    assert (best["arm"], best["reward"], best["pulls"]) == (7, 2.0, 3)
    [row] = good(client.get(STUDIES))["studies"]
    assert (row["name"], row["pulls"], row["pending"], row["events"]) == ("alloy", 2, 0, 8)
    assert row["best"]["arm"] == 7
    assert row["last_activity"] >= row["created"]
    history = good(client.get(f"{ALLOY}/history"))["columns"]
    assert history["kind"] == ["asked", "asked", "told", "failed", "forgotten", "told", "noted"]
    later = good(client.get(f"{ALLOY}/history", params={"after": 5}))["columns"]
    assert later["number"] == [6, 7]
    table = client.get(f"{ALLOY}/history.csv")
    assert table.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["kind"] for row in rows] == history["kind"]
    assert rows[-1]["text"] == "changed the nozzle, = hot"
    assert good(client.patch(ALLOY, json={"name": "steel"})) == {"name": "steel"}
    good(client.get(ALLOY), 404)
    assert client.delete(f"{STUDIES}/steel").status_code == 204
    assert good(client.get(STUDIES)) == {"studies": []}
    good(client.get(f"{STUDIES}/steel"), 404)


def test_what_is_meant_is_said_once(client):
    for body in ({}, {"choice": 0, "arm": 0}, {"arm": 0, "parameters": {"x1": -1.0}}):
        assert (
            "one of choice, arm and parameters"
            in good(client.post(f"{ALLOY}/tell", json={**body, "reward": 1.0}), 422)["error"]
        )
    good(client.post(f"{ALLOY}/tell", json={"parameters": {"x1": -1.0}, "reward": 1.0}))
    assert good(client.get(f"{ALLOY}/best"))["arm"] == 0
    assert (
        "choice of this study"
        in good(client.post(f"{ALLOY}/tell", json={"choice": 5, "reward": 1.0}), 422)["error"]
    )


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"reward": "high", "arm": 1}, "reward is 'high'; expected a valid number"),
        ({"arm": 1}, "reward is missing; expected it"),
        ({"reward": 1.0, "arm": 1, "colour": 2}, "colour is unknown; expected nothing else"),
        ({"reward": 1.0, "arm": -1}, "arm is -1; expected greater than or equal to 0"),
        ({"reward": 1.0, "arm": 1, "request": ""}, "request is ''; expected"),
        ([], "body is []; expected"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_one_line(client, body, wanted):
    error = good(client.post(f"{ALLOY}/tell", json=body), 422)["error"]
    assert wanted in error
    assert "\n" not in error


def test_a_study_is_created_once(client):
    body = {"name": "box", "space": BOX, "goal": "best", "budget": 30, "seed": 3, "initial": 4}
    made = good(client.post(STUDIES, json=body), 201)
    assert (made["goal"], made["budget"], made["seed"]) == ("best", 30, 3)
    assert good(client.get(ALLOY))["goal"] is None  # it has a policy of its own
    assert made["space"]["names"] == ["dose", "oven"]
    assert good(client.post(STUDIES, json=body)) == made  # the very same again
    assert "created otherwise" in good(client.post(STUDIES, json={**body, "seed": 4}), 409)["error"]
    choice = good(client.post(f"{STUDIES}/box/ask", json={"worker": "a"}))["choices"][0]
    assert choice["arm"] is None
    assert choice["parameters"]["oven"] in ("a", "b")
    tell = {"parameters": choice["parameters"], "reward": 1.0}
    good(client.post(f"{STUDIES}/box/tell", json=tell))
    assert good(client.get(f"{STUDIES}/box"))["waiting"] == []
    taken = good(client.patch(f"{STUDIES}/box", json={"name": "alloy"}), 409)
    assert taken["kind"] == "Conflict"


def test_the_table_of_arms_is_paged_sorted_and_filtered(client):
    for arm, reward in ((5, 1.0), (9, 2.0), (9, 2.2)):
        good(client.post(f"{ALLOY}/tell", json={"arm": arm, "reward": reward}))

    def page(**query):
        return good(client.get(f"{ALLOY}/arms", params={"beliefs": False, **query}))

    first = page(limit=3)
    assert (first["total"], first["matching"]) == (60, 60)
    assert first["columns"]["arm"] == [0, 1, 2]
    assert page(limit=2, sort="pulls")["columns"]["arm"][0] == 9
    assert page(offset=58)["columns"]["arm"] == [58, 59]
    assert page(sort="x1", limit=1)["columns"]["x1"] == [1.0]
    assert page(sort="x1", ascending=True, limit=1)["columns"]["x1"] == [-1.0]
    found = page(filter="59")
    assert 59 in found["columns"]["arm"]
    assert found["matching"] == len(found["columns"]["arm"]) < 60


def test_what_is_believed_is_what_a_study_here_believes(client, served):
    """Through both ways, the routes and a study on the server, against one in memory."""
    arms = np.linspace(-1.0, 1.0, 60)[:, None]
    here = wf.Bandit(arms, "mean", initial=50)
    there = wf.Study("alloy", store=served.url, token=served.admin)
    for call in (there.posterior, there.explain, lambda: there.best):
        with pytest.raises(wf.InputError, match="unknown before the first reward"):
            call()
    for arm in (3, 30, 50):
        here.tell(arm, float(arms[arm, 0] ** 2))
        there.tell(arm, float(arms[arm, 0] ** 2))
    points = [[0.25], [0.75]]
    for table in (there.explain(), good(client.get(f"{ALLOY}/explain"))["columns"]):
        assert {name: list(column) for name, column in table.items()} == {
            name: column.tolist() for name, column in here.explain().items()
        }
    mean, deviation = here.posterior(points)
    said = good(client.post(f"{ALLOY}/posterior", json={"points": points}))["columns"]
    assert said == {"mean": mean.tolist(), "deviation": deviation.tolist()}
    assert [list(column) for column in there.posterior(points)] == [
        mean.tolist(),
        deviation.tolist(),
    ]
    at = good(client.post(f"{ALLOY}/explain", json={"points": [{"x1": 1.0}]}))["columns"]
    assert at["mean"] == here.explain(arms[-1:])["mean"].tolist()
    shown = good(client.get(f"{ALLOY}/arms", params={"sort": "mean", "limit": 1}))["columns"]
    assert shown["mean"] == [here.explain()["mean"].max()]
    there.close()


def test_the_service_counts_what_it_does(client):
    good(client.post(f"{ALLOY}/note", json={"text": "x"}))
    client.get(f"{STUDIES}/nix")
    text = client.get("/metrics").text
    route = "/api/v1/studies/{name}"
    counted = f'windfall_requests_total{{method="POST",route="{route}/note",status="200"}} 1'
    assert counted in text.splitlines()
    assert f'windfall_requests_total{{method="GET",route="{route}",status="404"}} 1' in text
    assert f'windfall_request_seconds_bucket{{route="{route}/note",le="+Inf"}} 1' in text
    assert "windfall_studies_open 1" in text
