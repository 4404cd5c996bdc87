"""Workers are killed at random, again and again: nothing acknowledged may be lost or doubled.

``make torture`` kills a thousand workers on each kind of store. Most of them share a study whose
choices need no model, four at a time, so that the store is what is busy; some have a study of their
own in which a model decides. On PostgreSQL the server, too, is killed. After every
fifty kills, and at the end, the events are compared with what the workers said they had been told,
and with an uninterrupted ``wf.Bandit``.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

import numpy as np  # noqa: E402
from tools.postgres import Server  # noqa: E402

import windfall as wf  # noqa: E402
from windfall.errors import InputError  # noqa: E402

CROWD = 4
#: Kills that one study has to bear: opening it should not come to take all the time.
KILLS_PER_STUDY = 50
#: One kill in so many is that of the server, where there is one.
SERVER = 10
#: A worker is killed after so many lines of its diary at most, and so many seconds more: it opens,
#: then asks and tells, once or twice. Lines, because machines are slower at times.
LINES, PAUSE = 8, 0.01
#: For so many seconds one waits for a line.
STUCK = 120.0
ARMS = np.linspace(-3.0, 5.0, 4000)[:, None]
FEW = np.linspace(-3.0, 5.0, 60)[:, None]


def payoff(features: Any) -> float:
    """A reward that depends on nothing but the choice, so that every study can be repeated."""
    return float(-((features[0] - 2.0) ** 2))


@dataclass
class Worker:
    """A process that opens a study, asks and tells until it is killed, and keeps a diary."""

    name: str
    address: str
    study: str
    diary: Path
    parent: int = field(default_factory=os.getpid)
    process: int = 0

    def __post_init__(self) -> None:
        self.diary.touch()
        self.process = os.fork()
        if self.process == 0:
            try:
                self._work()
            except BaseException as error:
                self._say("broke", " ".join(f"{type(error).__name__}: {error}".split()))
            finally:
                os._exit(1)

    def kill(self) -> list[str]:
        """What the diary says in the end."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        return self.lines()

    def lines(self) -> list[str]:
        """What the diary says so far."""
        return self.diary.read_text().splitlines()

    def _say(self, *words: Any) -> None:
        with open(self.diary, "a", buffering=1) as file:  # a kill does not take it back
            file.write(" ".join(map(str, words)) + "\n")

    def _work(self) -> None:
        self._say("opening")
        study = self._again(partial(wf.Study, self.study, store=self.address))
        while True:
            self._say("asking")
            choice = self._again(partial(study.ask, worker=self.name))
            self._say("asked", choice.id)
            self._say("telling")
            reward, request = payoff(choice.features), f"tell/{choice.id}"
            self._again(partial(study.tell, choice, reward, request=request))
            self._say("told", choice.id)

    def _again(self, call: Callable[[], Any]) -> Any:
        """What a call gives once the server is back; all else that goes wrong is a failure."""
        while os.getppid() == self.parent:  # nobody is left to kill an orphan
            try:
                return call()
            except InputError as error:
                away = ("cannot be reached", "connection", "starting")
                if not any(words in str(error) for words in away):
                    raise
                time.sleep(0.02)
        os._exit(1)


@dataclass
class Torture:
    """Kills, and what has come of them."""

    address: str
    folder: Path
    rng: random.Random
    server: Server | None = None
    kills: int = 0
    stops: int = 0
    events: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, list[int]] = field(default_factory=dict)
    unchecked: list[tuple[str, dict[str, list[int]]]] = field(default_factory=list)
    born: int = 0

    def crowd(self, kills: int) -> None:
        """Kill workers that share a study, one after the other."""
        name = f"crowd-{self.kills}"
        wf.Study(name, ARMS, "mean", store=self.address, initial=len(ARMS)).close()
        self.acknowledged = {"asked": [], "told": []}
        workers = [self._begin(name, f"w{n}") for n in range(CROWD)]
        for _ in range(kills):
            victim = self.rng.randrange(CROWD)
            self._wait(workers[victim], self.rng.randint(0, LINES))
            if self.server is not None and self.rng.random() < 1 / SERVER:
                self.server.stop("immediate")
                self.server.start()
                self.stops += 1
            self._end(workers[victim])
            workers[victim] = self._begin(name, f"w{victim}")
        for worker in workers:
            self._end(worker, counts=False)
        self._check(name, lambda: wf.Bandit(ARMS, "mean", initial=len(ARMS)))

    def model(self, kills: int) -> None:
        """Kill a worker whose choices a model makes."""
        name = f"model-{self.kills}"
        wf.Study(name, FEW, "v-ucb", store=self.address, seed=7).close()
        self.acknowledged = {"asked": [], "told": []}
        for _ in range(kills):
            worker = self._begin(name, "w")
            self._wait(worker, self.rng.randint(0, LINES))
            self._end(worker)
        self.unchecked.append((name, self.acknowledged))

    def check_models(self) -> None:
        """Compare the studies with a model: last of all, since JAX does not bear to be forked."""
        for name, acknowledged in self.unchecked:
            self.acknowledged = acknowledged
            self._check_model(name)

    def _check_model(self, name: str) -> None:
        bandit = self._check(name, lambda: wf.Bandit(FEW, "v-ucb", seed=7))
        # One worker at a time: the study as a whole is that of a bandit that nobody killed.
        whole = wf.Bandit(FEW, "v-ucb", seed=7)
        for _ in bandit.rewards:
            (choice,) = whole.ask(1)
            whole.tell(choice, payoff(choice.features))
        if bandit.pending:
            whole.ask(len(bandit.pending))
        expect("events", _plain(whole), _plain(bandit))

    def _begin(self, study: str, name: str) -> Worker:
        self.born += 1
        return Worker(name, self.address, study, self.folder / f"diary-{self.born}")

    def _wait(self, worker: Worker, lines: int) -> None:
        """Until a diary has so many lines, and a moment more."""
        last = time.monotonic() + STUCK
        while len(worker.lines()) < lines:
            expect("a worker that is stuck", time.monotonic() > last, False)
            time.sleep(0.001)
        time.sleep(self.rng.uniform(0.0, PAUSE))

    def _end(self, worker: Worker, *, counts: bool = True) -> None:
        lines = [line.split() for line in worker.kill()]
        broken = [line for line in lines if line[0] == "broke"]
        expect("workers that broke down", broken, [])
        for kind, *number in lines:
            if kind in self.acknowledged:
                self.acknowledged[kind].append(int(number[0]))
        if counts:
            self.kills += 1
            self.phases[lines[-1][0] if lines else "before opening"] += 1

    def _check(self, name: str, uninterrupted: Callable[[], wf.Bandit]) -> wf.Bandit:
        """Compare what is kept with what was acknowledged, and with who was never killed."""
        with wf.Study(name, store=self.address) as study:
            events = study._journal.events
            self.events += len(events)
            expect("numbers", [event.number for event in events], list(range(len(events))))
            asked = [event.contents["id"] for event in events if event.kind == "asked"]
            told = [event.contents["id"] for event in events if event.kind == "told"]
            expect("ids", asked, list(range(len(asked))))
            expect("choices told twice", [n for n, times in Counter(told).items() if times > 1], [])
            for kind, kept in (("asked", asked), ("told", told)):
                expect(f"{kind} and lost", sorted(set(self.acknowledged[kind]) - set(kept)), [])
            points = [e.contents["point"] for e in events if e.kind == "asked"]
            if study.initial >= len(points):
                expect("points handed out twice", len(points) - len(set(points)), 0)
            bandit = uninterrupted()
            for event in events[1:]:
                bandit._append(event.kind, dict(event.contents))
            expect("pending", [c.id for c in study.pending], [c.id for c in bandit.pending])
            expect("next choice", study.ask(), bandit.ask())
            return bandit


def _plain(bandit: wf.Bandit) -> list[Any]:
    """What happened, less that the study was looked at in the end."""
    events = [(e.kind, {**e.contents, "why": ""}) for e in bandit._events]
    return json.loads(json.dumps([e for e in events if e[0] != "asked" or e[1]["held"]]))


def expect(what: str, found: Any, expected: Any) -> None:
    """Say what differs, and end."""
    if found != expected:
        raise SystemExit(f"torture: {what}: {found!r:.300}; expected {expected!r:.300}")


def torture(kind: str, kills: int, models: int, seed: int) -> dict[str, Any]:
    """Kill so many workers on a kind of store; so many of them in studies with a model."""
    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        Server() if kind == "postgres" else nullcontext() as server,
    ):
        address = server.url() if server else str(Path(folder) / "lab.db")
        done = Torture(address, Path(folder), random.Random(seed), server)
        while done.kills < kills - models:
            done.crowd(min(KILLS_PER_STUDY, kills - models - done.kills))
        while done.kills < kills:
            done.model(min(KILLS_PER_STUDY, kills - done.kills))
        done.check_models()
        return {
            "store": kind,
            "kills": done.kills,
            "with a model": models,
            "server stopped": done.stops,
            "killed while": dict(done.phases.most_common()),
            "events": done.events,
            "seconds": round(time.monotonic() - begin),
        }


def main() -> None:
    """Torture each kind of store, and print a line of JSON for it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], action="append")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--models", type=int, default=50, help="so many of them with a model")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for kind in given.store or ["sqlite", "postgres"]:
        child = os.fork()  # each begins without JAX
        if child == 0:
            print(json.dumps(torture(kind, given.kills, given.models, given.seed)), flush=True)
            return
        if os.waitpid(child, 0)[1]:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
