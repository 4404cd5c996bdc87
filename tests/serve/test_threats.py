"""Each line of docs/guides/threat-model.md: what somebody may try, and what comes of it."""

import json
import logging
import re
import socket
import sys
import time
from pathlib import Path

from served import serving

from windfall.serve.guard import Limits
from windfall.serve.logs import LOG, Lines
from windfall.study.stores import MemoryStore

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "threat-model.md"
STUDIES = "/api/v1/studies"
ALLOY = f"{STUDIES}/alloy"


def said(answer, status):
    """The one line of a problem."""
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert set(problem) == {"error", "kind"}
    assert "\n" not in problem["error"]
    assert "Traceback" not in answer.text
    return problem["error"]


def test_every_line_of_the_page_has_its_test_and_the_other_way_round():
    named = re.findall(r"`(test_\w+)`", PAGE.read_text())
    own = [name for name in globals() if name.startswith("test_") and "every_line" not in name]
    assert sorted(named) == sorted(own)


def test_a_foreign_page_is_refused(served, client):
    own = {"Origin": served.url}
    assert client.post(f"{ALLOY}/note", json={"text": "own"}, headers=own).status_code == 200
    for origin in (
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{served.port}"[:-1],
        "http://[",
        "x:[",
    ):
        foreign = {"Origin": origin}
        evil = client.post(f"{ALLOY}/note", json={"text": "evil"}, headers=foreign)
        assert "Origin" in said(evil, 403)
        assert "Origin" in said(client.get(STUDIES, headers=foreign), 403)
    assert client.get(f"{ALLOY}/history").json()["columns"]["text"] == ["own"]
    # What a page can send without asking first is no JSON.
    text = {"Content-Type": "text/plain"}
    said(client.post(f"{ALLOY}/note", content='{"text": "evil"}', headers=text), 422)


def test_a_foreign_name_for_this_machine_is_refused(served):
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1.evil.example", "", "[",
                 "127.0.0.1:x"):  # fmt: skip
        with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
            request = f"GET {STUDIES} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer "
            raw.sendall(f"{request}{served.admin}\r\nConnection: close\r\n\r\n".encode())
            answer = raw.makefile("rb").read().decode()
        assert answer.startswith("HTTP/1.1 421 "), (host, answer)
        assert "--allow-host" in answer


def test_without_a_valid_token_nothing_is_answered(served, client):
    served.tokens.add("short", "admin", 0.001)
    revoked = served.tokens.add("revoked", "admin")
    served.tokens.revoke("revoked")
    time.sleep(0.01)
    expired = served.tokens.add("old", "admin", 0.001)
    time.sleep(0.01)
    for header in ("", "Bearer", "Bearer x", f"Bearer {revoked}", f"Bearer {expired}",
                   f"Basic {served.admin}", f"Bearer {served.admin}x", "Bearer ü"):  # fmt: skip
        answer = client.get(STUDIES, headers=[(b"Authorization", header.encode())])
        assert "token" in said(answer, 401)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    del client.headers["Authorization"]
    for path in ("/", "/studies/alloy", "/metrics", STUDIES, f"{ALLOY}/events", "/nowhere"):
        assert client.get(path).status_code == 401
    assert client.get("/health").status_code == 200


def test_a_token_reaches_as_far_as_its_scope(served, client):
    """Every route that is there, by what it needs."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    needed = {
        ("post", "posterior"): "read", ("post", "explain"): "read", ("post", "beliefs"): "read",
        ("patch", ""): "admin", ("delete", ""): "admin",
    }  # fmt: skip
    secrets = {scope: served.tokens.add(scope, scope) for scope in ("read", "write")}
    tried = 0
    for path, methods in paths.items():
        if path == "/health":
            continue
        last = path.rpartition("/")[2]
        for method in methods:
            usual = "read" if method == "get" else "write"
            need = needed.get((method, "" if "{" in last else last), usual)
            place = path.replace("{name}", "alloy").replace("{key}", "1")
            for scope in secrets:
                if path.endswith("/events") and method == "get" and "/store/" not in path:
                    continue  # a stream does not end
                token = {"Authorization": f"Bearer {secrets[scope]}"}
                answer = client.request(method, place, headers=token, json={})
                refused = ["read", "write", "admin"].index(scope) < [
                    "read",
                    "write",
                    "admin",
                ].index(need)
                assert (answer.status_code == 403) == refused, (method, path, scope, answer.text)
                tried += 1
    assert tried > 50
    assert client.get(ALLOY).status_code == 200


def test_the_file_of_tokens_gives_none_away(served):
    path = served.tokens.path
    secret = served.tokens.add("oven", "write")
    assert secret.encode() not in path.read_bytes()
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o077 == 0


def test_no_secret_stays_in_an_address_or_a_log(served, client, caplog):
    with caplog.at_level(logging.INFO, LOG.name):
        bare = {"Authorization": ""}
        visit = client.get("/", params={"token": served.admin}, headers=bare)
        assert visit.status_code == 303
        assert visit.headers["Location"] == "/"
        away = client.get(
            f"{served.url}//evil.example/", params={"token": served.admin}, headers=bare
        )
        assert away.headers["Location"] == "/evil.example/"
        cookie = visit.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite" in cookie
        assert client.get(STUDIES, headers=bare).status_code == 200  # by the cookie
        said(client.get("/", params={"token": "wrong"}, headers=bare), 401)
        said(client.post(f"{STUDIES}/nix/tell", json={"reward": 1}), 404)
    lines = [json.loads(Lines().format(record)) for record in caplog.records]
    # A line is written after its answer: that of the fixture's own request may come only now.
    visits = [line for line in lines if line["method"] == "GET"][:3]
    assert [line["status"] for line in visits] == [303, 303, 200]
    assert visits[2]["token"] == "admin"
    assert served.admin not in json.dumps(lines)
    assert "token=" not in json.dumps(lines)


def test_nothing_is_imported_for_what_comes_from_the_network(client, tmp_path, monkeypatch):
    (tmp_path / "evil_module.py").write_text("raise SystemExit('it was run')\ndef f(x): return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    function = {"function": "evil_module:f"}
    box = {"type": "Box", "lower": [0.0], "upper": [1.0]}
    evil = {**box, "constraints": [function]}
    prior = {"type": "LWUCB", "prior": {"type": "LogDensity", "function": function}}
    for space, policy in ((evil, None), (box, prior), ({"type": "evil_module:f"}, None),
                          ({"type": "EI"}, None), (box, {"type": "Box"})):  # fmt: skip
        body = {"name": "new", "space": space, "policy": policy}
        assert "expected" in said(client.post(STUDIES, json=body), 422)
        created = {"space": space, "policy": policy, "seed": 0, "initial": 2}
        if "evil" in str(created):
            store = "/api/v1/store/studies"
            said(client.post(store, json={"name": "new", "created": created}), 422)
    assert "evil_module" not in sys.modules
    assert [study["name"] for study in client.get(STUDIES).json()["studies"]] == ["alloy"]


def test_what_is_too_long_too_slow_or_no_json_is_refused(tmp_path):
    limits = Limits(body=1000, list=5000, seconds=0.3)
    with serving(MemoryStore(), tmp_path, limits=limits) as served, served.client() as client:
        long = {"Content-Type": "application/json"}
        assert "at most 1000" in said(client.post(f"{ALLOY}/note", content=b"x" * 1001), 413)
        assert "at most 5000" in said(client.post(STUDIES, content=b"x" * 5001), 413)
        pieces = (b"x" * 400 for _ in range(4))  # no length is announced
        assert "more than 1000" in said(client.post(f"{ALLOY}/note", content=pieces), 413)
        for body in (b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 990, b'{"name": "\\ud800"}',
                     b"1" * 900, b'{"name": 1e999}', b"null", b"[]", b'"text"'):  # fmt: skip
            answer = client.post(STUDIES, content=body, headers=long)
            assert answer.status_code in (400, 422), body
            said(answer, answer.status_code)
        with socket.create_connection(("127.0.0.1", served.port), 10) as raw:
            head = f"POST {STUDIES} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
            raw.sendall(f"{head}{served.admin}\r\nContent-Length: 9\r\n\r\n{{".encode())
            assert raw.makefile("rb").readline().startswith(b"HTTP/1.1 408 ")


def test_who_asks_too_fast_has_to_wait(tmp_path):
    limits = Limits(rate=5.0, strangers=2.0)
    with serving(MemoryStore(), tmp_path, limits=limits) as served, served.client() as client:
        answers = [client.get(STUDIES) for _ in range(30)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert 200 in [answer.status_code for answer in answers[:10]]
        assert len(refused) > 5
        assert "too fast" in said(refused[0], 429)
        assert refused[0].headers["Retry-After"] == "1"
        with served.client("a guess") as guessing:
            statuses = [guessing.get(STUDIES).status_code for _ in range(20)]
        assert set(statuses) == {401, 429}
        with served.client(served.tokens.add("other", "read")) as other:
            assert other.get(STUDIES).status_code == 200  # others are not held up


def test_idle_connections_hold_nobody_up(tmp_path):
    limits, crowd = Limits(connections=200, seconds=60.0), []
    with serving(MemoryStore(), tmp_path, limits=limits) as served:
        try:
            for n in range(1000):
                one = socket.create_connection(("127.0.0.1", served.port), 10)
                if n % 2:
                    one.sendall(b"GET /health HTTP/1.1\r\nHost: 127")  # and no more
                crowd.append(one)
            with served.client() as client:
                begun = time.perf_counter()
                assert client.get("/health").status_code == 200
                assert client.get(STUDIES).status_code == 200
                assert time.perf_counter() - begun < 5.0
            assert sum(map(_closed, crowd)) >= 1000 - limits.connections
        finally:
            for one in crowd:
                one.close()
    limits = Limits(seconds=0.2)
    (tmp_path / "b").mkdir()
    with serving(MemoryStore(), tmp_path / "b", limits=limits) as served:
        for sent in (b"", b"GET /hea"):
            with socket.create_connection(("127.0.0.1", served.port), 10) as one:
                one.sendall(sent)
                assert one.recv(100) == b""  # closed, in time


def _closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_a_fault_shows_no_stack(served, client, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr("windfall.serve.described.facts", broken)
    text = said(client.get(ALLOY), 500)
    assert "secret" not in text
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    line = json.loads(Lines().format(record))
    assert line["number"] in text
    assert "the secret of the house" in line["trace"]


def test_hostile_names_stay_text(served, client):
    names = ["<script>alert(1)</script>", "a/b/../c", "%2e%2e%2f", "'; DROP TABLE studies; --",
             "ä€𝄞", "a?b#c", "con", "{name}", " x "]  # fmt: skip
    for name in names:
        arms = {"type": "Arms", "features": [[1.0], [2.0]], "names": [name]}
        body = {"name": name, "space": arms, "policy": "mean"}
        assert client.post(STUDIES, json=body).status_code == 201, name
        place = f"{STUDIES}/{_quoted(name)}"
        assert client.get(place).json()["name"] == name
        asked = client.post(f"{place}/ask", json={"worker": name}).json()["choices"][0]
        assert list(asked["parameters"]) == [name]
    listed = client.get(STUDIES)
    assert [study["name"] for study in listed.json()["studies"]] == ["alloy", *names]
    assert listed.headers["Content-Type"] == "application/json"
    assert listed.headers["X-Content-Type-Options"] == "nosniff"
    assert listed.headers["Content-Security-Policy"].startswith("default-src 'self'")
    for name in (".", "..", "a\nb", "\x00", ""):
        space = {"type": "Arms", "features": [[1.0]]}
        answer = client.post(STUDIES, json={"name": name, "space": space})
        said(answer, 422)


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def test_events_that_would_break_a_study_are_refused(client):
    place = "/api/v1/store/studies/1/events"
    for kind, contents in [
        ("asked", {"id": 0, "point": 3, "why": "x", "held": True, "belief": {"junk": 1}}),
        ("fitted", {"belief": {}, "searched": 0}), ("expired", {"id": 0}), ("created", {}),
        ("told", {"point": 999, "reward": 1.0}), ("told", {"point": 1}), ("told", {}), ("nix", {}),
        ("told", {"point": 1, "reward": "x"}), ("failed", {"point": 1, "id": [1]}),
        ("told", {"point": {"x1": []}, "reward": 1.0}), ("told", {"point": [[]], "reward": 1.0}),
        ("told", {"point": 1, "reward": 1.0, "count": {}}), ("noted", {"text": {}}),
        ("forgotten", {"point": 1}),
    ]:  # fmt: skip
        said(client.post(place, json={"drafts": [{"kind": kind, "contents": contents}]}), 422)
    assert client.get(ALLOY).json()["events"] == 1


def test_no_file_outside_of_the_page_is_read(client):
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
    ):
        raw = client.build_request("GET", "http://127.0.0.1/")
        raw.url = raw.url.copy_with(port=client.base_url.port, raw_path=path.encode())
        assert client.send(raw).status_code in (400, 404)
