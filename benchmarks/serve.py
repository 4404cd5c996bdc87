"""What a server takes: clients that ask and tell as fast as they are answered.

``python -m benchmarks.serve FOLDER`` starts ``windfall serve`` as a process on a new file, lets
clients work on studies of 2,500 arms, for half a minute while all has yet to be compiled and then
for a minute, and prints one line of JSON. The clients are threads of one other process, on the same
machine: they take their share of it.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

import windfall as wf
from benchmarks import part
from windfall.serve.tokens import Tokens

CLIENTS, STUDIES, SECONDS, GRID = 64, 8, 60.0, 50
#: Distinct arms pulled are what a decision costs; a payoff with one peak keeps them few.
PEAK = np.array([0.7, 0.3])
HEALTH_EVERY = 0.1


def payoff(features: list[float]) -> float:
    return float(np.exp(-20 * np.sum((np.array(features) - PEAK) ** 2)))


class Client(threading.Thread):
    """Asks and tells until the time is over, and keeps what it took."""

    def __init__(self, url: str, token: str, study: str, worker: str, until: float):
        super().__init__()
        self.place, self.worker, self.until = f"/api/v1/studies/{study}", worker, until
        bearer = {"Authorization": f"Bearer {token}"}
        self.http = httpx2.Client(base_url=url, headers=bearer, timeout=300.0, trust_env=False)
        self.asks: list[float] = []
        self.tells: list[float] = []
        self.errors: list[str] = []

    def call(self, what: str, body: Any, times: list[float]) -> Any:
        begun = time.perf_counter()
        answer = self.http.post(f"{self.place}/{what}", json=body)
        times.append(time.perf_counter() - begun)
        answer.raise_for_status()
        return answer.json()

    def run(self) -> None:
        try:
            while time.perf_counter() < self.until:
                [choice] = self.call("ask", {"worker": self.worker}, self.asks)["choices"]
                told = {"choice": choice["id"], "reward": payoff(choice["features"])}
                self.call("tell", told, self.tells)
        except Exception as error:
            self.errors.append(repr(error))
        self.http.close()


class Health(threading.Thread):
    """Asks for /health, again and again."""

    def __init__(self, url: str):
        super().__init__()
        self.http = httpx2.Client(base_url=url, timeout=60.0, trust_env=False)
        self.times: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(HEALTH_EVERY):
            begun = time.perf_counter()
            self.http.get("/health").raise_for_status()
            self.times.append(time.perf_counter() - begun)
        self.http.close()

    def end(self) -> list[float]:
        self.over.set()
        self.join()
        return self.times


def crowd(url: str, token: str, clients: int, studies: int, seconds: float) -> dict[str, Any]:
    """So many clients at once."""
    until = time.perf_counter() + seconds
    health = Health(url)
    health.start()
    working = [
        Client(url, token, f"study-{n % studies}", f"worker-{n}", until) for n in range(clients)
    ]
    begun = time.perf_counter()
    for client in working:
        client.start()
    for client in working:
        client.join()
    taken = time.perf_counter() - begun
    asks = [t for client in working for t in client.asks]
    tells = [t for client in working for t in client.tells]
    return {
        "asks_a_second": len(asks) / taken,
        "tells_a_second": len(tells) / taken,
        "ask_ms": _percentiles(asks),
        "tell_ms": _percentiles(tells),
        "health_ms": _percentiles(health.end()),
        "errors": [error for client in working for error in client.errors],
    }


def _percentiles(seconds: list[float]) -> dict[str, float]:
    p50, p99 = np.percentile(seconds, [50, 99])
    return {"p50": 1000 * p50, "p99": 1000 * p99, "max": 1000 * max(seconds)}


def processor_seconds(process: int) -> float:
    """What a process has computed so far; Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    clients, studies, seconds = (8, 2, 5.0) if quick else (CLIENTS, STUDIES, SECONDS)
    side = np.linspace(0.0, 1.0, 10 if quick else GRID)
    arms = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    home = Path(tempfile.mkdtemp(dir=folder))
    for n in range(studies):
        wf.Study(f"study-{n}", arms, "v-ucb", store=home / "lab.db", seed=n).close()
    with closing(Tokens(home / "lab.db.tokens")) as tokens:
        token = tokens.add("benchmark", "write")
    server = subprocess.Popen(
        [sys.executable, "-m", "windfall", "serve", "--store", "lab.db", "--port", "0"],
        cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"WINDFALL_CACHE": str(home / "cache")},
    )  # fmt: skip
    try:
        assert server.stdout is not None
        url = server.stdout.readline().partition("/?token=")[0]
        compiling = crowd(url, token, clients, studies, seconds / 2)  # nothing is compiled yet
        steady = crowd(url, token, clients, studies, seconds)
        before = processor_seconds(server.pid)
        time.sleep(5.0)
        idle = (processor_seconds(server.pid) - before) / 5.0
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(120)
    with wf.Study("study-0", store=home / "lab.db") as study:
        distinct = len({arm for arm, _ in study.rewards})
    return {"compiling": compiling, "steady": steady, "idle_cpu": idle, "distinct_arms": distinct}


if __name__ == "__main__":
    part.main(measure)
