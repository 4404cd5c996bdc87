"""What lasting studies cost: one worker against a Bandit, and a crowd against Optuna.

``python -m benchmarks.stores --peers .venv-bench/bin/python``: 64 processes ask and tell on one
study for a minute, on each store, without a model, so that the store is what is measured; Optuna's
RDB storage with its random sampler does the same on the same disk and server. A line of JSON each.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psycopg
from tools.postgres import Server

import windfall as wf
import windfall.study.stores.postgres
from benchmarks.crowd import crowd

ROOT = Path(__file__).parents[1]
#: So many choices before a model decides: more than a crowd makes.
INITIAL = 100_000
FEW = np.linspace(-3.0, 5.0, 60)[:, None]


def many(store: str, processes: int, seconds: float) -> dict[str, Any]:
    """A crowd on one study; no choice may be handed out twice, no reward be lost."""
    box = wf.Box([0.0], [1.0])
    wf.Study("crowd", box, "mean", store=store, initial=INITIAL).close()
    wf.Bandit(box, "mean").ask()  # SciPy is loaded before forks, which would each load it

    def begin(place: int) -> tuple[Any, Any]:
        study = wf.Study("crowd", store=store)
        return lambda: study.ask(worker=f"w{place}"), lambda choice: study.tell(choice, 1.0)

    numbers = crowd(begin, processes, seconds)
    with wf.Study("crowd", store=store) as study:
        places = [parameters["x1"] for parameters, _ in study.rewards]
    return numbers | {"kept": len(places), "twice": len(places) - len(set(places))}


def one(folder: Path, rounds: int) -> dict[str, float]:
    """Milliseconds of an ask with a model and of a tell, alone: a Bandit, and a study in a file."""

    def play(sessions: list[Any]) -> list[tuple[float, float]]:
        """In turns, so that whatever else the machine does hits them alike."""
        asks, tells = ([[] for _ in sessions] for _ in range(2))
        for _ in range(rounds):
            for place, session in enumerate(sessions):
                begin = time.perf_counter()
                choice = session.ask()
                asked = time.perf_counter()
                session.tell(choice, -((choice.features[0] - 2) ** 2))
                asks[place].append(asked - begin)
                tells[place].append(time.perf_counter() - asked)
        return [(1000 * median(a), 1000 * median(t)) for a, t in zip(asks, tells, strict=True)]

    play([wf.Bandit(FEW, "v-ucb")])  # compiles
    with wf.Study("one", FEW, "v-ucb", store=folder / "one.db") as study:
        bandit, kept = play([wf.Bandit(FEW, "v-ucb"), study])
    return {
        "bandit_ask_ms": bandit[0],
        "study_ask_ms": kept[0],
        "ratio": kept[0] / bandit[0],
        "study_tell_ms": kept[1],
    }


def peer(python: str, url: str, processes: int, seconds: float) -> dict[str, Any]:
    command = [python, "-m", "benchmarks.stores_peer", url, str(processes), str(seconds)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", help="interpreter that has Optuna and psycopg")
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    size = (given.processes, given.seconds)

    def say(what: str, numbers: dict[str, Any]) -> None:
        print(json.dumps({"what": what} | numbers), flush=True)

    # On a disk: elsewhere a commit would cost nothing.
    with tempfile.TemporaryDirectory(dir=ROOT) as name, Server(durable=True) as server:
        folder = Path(name)
        say("windfall, SQLite", many(str(folder / "lab.db"), *size))
        if given.peers:
            say("Optuna, SQLite", peer(given.peers, f"sqlite:///{folder / 'optuna.db'}", *size))
        say("windfall, PostgreSQL", many(server.url(), *size))
        if given.peers:
            with psycopg.connect(server.url(), autocommit=True) as db:
                db.execute("CREATE DATABASE optuna")
            url = server.url("optuna").replace("postgresql://", "postgresql+psycopg://")
            say("Optuna, PostgreSQL", peer(given.peers, url, *size))
        say("alone", one(folder, 40))  # last: it loads JAX, which does not bear to be forked


if __name__ == "__main__":
    main()
