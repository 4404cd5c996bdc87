"""``windfall serve`` as a process, and its tokens."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing

import httpx2
import numpy as np
import pytest

import windfall as wf
from windfall.serve.tokens import Tokens

#: A worker on a small machine: without JAX.
WORKER = """
import sys
sys.modules["jax"] = None
import windfall as wf
with wf.Study("alloy", store=sys.argv[1]) as study:
    choice = study.ask(worker="oven")
    study.tell(choice, 2.5)
    study.note("done")
    print(study.best.arm == choice.arm, len(study.rewards), wf.studies(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_from_the_printed_link_to_a_graceful_end(tmp_path):
    arms = np.linspace(0.0, 1.0, 9)[:, None]
    wf.Study("alloy", arms, "mean", store=tmp_path / "lab.db", initial=9).close()
    with closing(Tokens(tmp_path / "lab.db.tokens")) as tokens:
        token = tokens.add("oven", "write")
    server = subprocess.Popen(
        [sys.executable, "-m", "windfall", "serve", "--store", "lab.db", "--port", "0"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        link = server.stdout.readline().strip()
        url, _, secret = link.partition("/?token=")
        with httpx2.Client(base_url=url, trust_env=False, timeout=30) as browser:
            page = browser.get(f"/?token={secret}", follow_redirects=True)
            assert page.status_code == 200
            assert str(page.url) == f"{url}/"
            assert browser.get("/api/v1/studies").json()["studies"][0]["name"] == "alloy"
            worker = subprocess.run(
                [sys.executable, "-c", WORKER, url], env={**os.environ, "WINDFALL_TOKEN": token},
                capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            assert worker.stdout == "True 1 ['alloy']\n", worker.stderr
            lines: list[str] = []
            with browser.stream("GET", "/api/v1/studies/alloy/events") as answer:

                def follow():
                    lines.extend(answer.iter_lines())

                stream = threading.Thread(target=follow)
                stream.start()
                while not any("event: noted" in line for line in lines):
                    stream.join(0.01)
                server.send_signal(signal.SIGINT)
                stream.join(30)  # it ends, though nobody has closed it
                assert not stream.is_alive()
        _, errors = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait(60)
    assert server.returncode == 0
    log = [json.loads(line) for line in errors.splitlines()]
    assert {"serving", "answered", "ending"} <= {line["event"] for line in log}
    assert "oven" in {line.get("token") for line in log}
    assert secret not in errors
    assert token not in errors


def test_tokens_are_made_listed_and_revoked(windfall, tmp_path):
    store = ("--store", tmp_path / "lab.db")
    made = windfall("serve", "token", "add", "oven", "--scope", "read", "--days", "2", *store)
    assert made.exit_code == 0
    with closing(Tokens(tmp_path / "lab.db.tokens")) as tokens:
        grant = tokens.grant(made.stdout.strip())
    assert grant is not None
    assert (grant.name, grant.scope) == ("oven", "read")
    listed = json.loads(windfall("serve", "token", "list", "--json", *store).stdout)
    assert [(t["name"], t["scope"]) for t in listed["tokens"]] == [("oven", "read")]
    assert "oven" in windfall("serve", "token", "list", *store).stdout
    again = windfall("serve", "token", "add", "oven", *store)
    assert "expected one that no other token has" in again.stderr
    assert windfall("serve", "token", "revoke", "oven", *store).exit_code == 0
    assert "expected that of a token" in windfall("serve", "token", "revoke", "x", *store).stderr
    assert json.loads(windfall("serve", "token", "list", "--json", *store).stdout) == {"tokens": []}


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["token", "add", "x", "--scope", "all"], "scope is 'all'"),
        (["token", "add", "x", "--days", "-1"], "expected a finite number, above 0"),
        (["token", "add", " "], "name is ' '"),
        (["--store", "http://127.0.0.1:1", "--tokens", "t"], "a server itself"),
        (["--store", "postgresql://lab/x"], "tokens is not said"),
        (["--port", "70000"], "port is 70000"),
    ],
)
def test_what_cannot_be_served(windfall, tmp_path, monkeypatch, arguments, wanted):
    monkeypatch.chdir(tmp_path)
    failed = windfall("serve", *arguments)
    assert failed.exit_code == 2
    assert wanted in failed.stderr
    assert failed.stderr.count("\n") == 1
