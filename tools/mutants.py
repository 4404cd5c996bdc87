"""Do the tests notice? Small changes to the code, one at a time, each run against its tests.

``make mutants N=40`` draws N changes (a comparison turned, a constant doubled, a condition negated,
the branches of a ``where`` exchanged, …) from the rooms where a wrong number would not crash, puts
each into a copy of the project and runs the tests that enter the changed function, the nearest and
cheapest first, until one fails. Which tests enter what is recorded once (``tools/entered.py``) and
again for files of tests that have changed since. What survives is a gap in the tests or a change
that changes nothing; the report names each with its line. Everything is kept in ``.cache/mutants``:
a run that was stopped goes on, and survivors are tried again when tests have changed.
"""

import argparse
import hashlib
import json
import os
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tools.changes import Mutant, mutants
from tools.entered import ROOT, digest, kept_at

ROOMS = ("models", "attention", "acquisition", "policy", "simulation")
#: The tests that may notice: of these rooms, of the rooms above that use them, and doctests.
TESTS = (
    *(f"tests/{room}" for room in ROOMS),
    *("tests/test_propensity.py", "tests/study", "tests/evaluation"),
    *(f"src/windfall/{room}" for room in ROOMS),
)
#: Tests of files, servers and processes: whatever numbers they see, other tests see sooner.
NOT = ("tests/study/stores/*", "*killed*", "*stateful*", "*workers*")
KEPT = ROOT / ".cache" / "mutants"
ENTERED = KEPT / "entered"
#: A change may make a test compute for ever. CPU time that is so many times what the tests take
#: without it, and what compiling them anew takes, is a change noticed; a wait is none.
PATIENCE, COMPILING, WAITING = 10.0, 240, 1800


@dataclass
class Verdict:
    """What became of a change: ``noticed``, ``survived`` or ``undecided``, and by which test."""

    mutant: str
    room: str
    result: str
    by: str
    seconds: float
    tests: str


class Tests:
    """What is known of the tests: what each enters, and what it costs."""

    def __init__(self, folder: Path):
        self.entered: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.json")):
            self.entered |= json.loads(path.read_text())["tests"]

    def of(self, mutant: Mutant, budget: float) -> list[str]:
        """The tests that may notice a change, nearest and cheapest first, ``budget`` seconds.

        First those that enter the function; then the others of their files, which may run what the
        first of them has traced.
        """
        module = mutant.path.removeprefix("src/")
        touching = {
            name
            for name, entry in self.entered.items()
            if any(mutant.inside(function) for function in entry["functions"].get(module, ()))
        }
        files = {name.partition("::")[0] for name in touching}
        others = {name for name in self.entered if name.partition("::")[0] in files} - touching
        return _affordable(
            self._sorted(touching, module) + self._sorted(others, module), budget, self
        )

    def _sorted(self, names: Iterable[str], module: str) -> list[str]:
        room = str(Path(module).parent).replace("windfall", "", 1)
        own = f"/test_{Path(module).name}::"

        def cost(name: str) -> tuple[float, str]:
            distance = 1.0 if own in name else 2.0 if room in name else 4.0
            return distance * (self.seconds(name) + 0.05), name

        return sorted(names, key=cost)

    def seconds(self, name: str) -> float:
        """CPU seconds of a test."""
        return self.entered[name]["seconds"]


def _affordable(names: list[str], budget: float, tests: Tests) -> list[str]:
    kept, spent = [], 0.0
    for name in names:
        if spent + tests.seconds(name) <= budget or not kept:
            kept.append(name)
            spent += tests.seconds(name)
    return kept


def record() -> None:
    """Find out which tests enter what, where that is not known or the tests have changed."""
    ENTERED.mkdir(parents=True, exist_ok=True)
    files = test_files()
    for path in ENTERED.glob("*.json"):
        if path not in [kept_at(ENTERED, file) for file in files]:
            path.unlink()
    stale = [file for file in files if not _fresh(file)]
    if stale:
        print(f"recording what the tests of {len(stale)} files enter", flush=True)
        _pytest(ROOT, ["-p", "tools.entered", *stale], WINDFALL_ENTERED=str(ENTERED))


def test_files() -> list[str]:
    """Files of tests, and of code with examples."""
    found = []
    for place in map(ROOT.joinpath, TESTS):
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            name = str(path.relative_to(ROOT))
            tests = path.name.startswith("test_") or ">>> " in path.read_text()
            if tests and not any(fnmatch(name, pattern) for pattern in NOT):
                found.append(name)
    return found


def _fresh(file: str) -> bool:
    kept = kept_at(ENTERED, file)
    return kept.exists() and json.loads(kept.read_text())["digest"] == digest(ROOT / file)


def _pytest(
    tree: Path, arguments: Sequence[str], cpu: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    def limited() -> None:
        if cpu is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 60))

    command = [sys.executable, "-m", "pytest", "-q", "--timeout=0", "-p", "no:cacheprovider"]
    command += arguments
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree)]),
        "WINDFALL_TEST_CACHE": str(ROOT / ".cache"),  # what did not change is compiled already
    }
    return subprocess.run(
        command, cwd=tree, env=os.environ | environment, capture_output=True, text=True,
        timeout=WAITING if cpu else None, preexec_fn=limited,
    )  # fmt: skip


#: What pytest ends with if it did not come to run a test, or was killed by somebody else.
_NOT_RUN = (3, 4, 5, -signal.SIGKILL)
_ORDERED = ["--tb=no", "-rfE", "-p", "tools.entered"]


def _files(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name.partition("::")[0] for name in names))


def _wrong(report: str) -> list[str]:
    """The tests that failed: their names may have spaces, a message may follow."""
    lines = [line.partition(" ") for line in report.splitlines()]
    return [rest.split(" - ")[0] for kind, _, rest in lines if kind in ("FAILED", "ERROR")]


def tried(mutant: Mutant, tree: Path, tests: Tests, budget: float) -> tuple[str, str]:
    """Whether the tests notice a change, and which."""
    names = tests.of(mutant, budget)
    if not names:
        return "survived", "no test enters it"
    target = tree / mutant.path
    original = target.read_text()
    order = tree / "order"
    order.write_text("\n".join(names))
    target.write_text(mutant.source)
    cpu = int(COMPILING + PATIENCE * sum(map(tests.seconds, names)))
    try:
        done = _pytest(tree, ["-x", *_ORDERED, *_files(names)], cpu, WINDFALL_ORDER=str(order))
    except subprocess.TimeoutExpired:
        return "undecided", f"waited {WAITING} s"
    finally:
        target.write_text(original)
    if done.returncode == 0:
        return "survived", f"{len(names)} tests"
    if done.returncode in _NOT_RUN:
        return "undecided", f"pytest ended with {done.returncode}"
    if done.returncode < 0:
        return "noticed", f"signal {-done.returncode} after at most {cpu} s of CPU time"
    return "noticed", next(iter(_wrong(done.stdout)), "the run itself")


def main() -> None:
    """Draw, try, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=25, help="how many changes to draw")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others")
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds of tests for one")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--workers", type=int, default=1, help="how many are tried at once")
    parser.add_argument("--json", type=Path, help="where to write the verdicts")
    options = parser.parse_args()
    rooms = (ROOT / "src" / "windfall" / room for room in ROOMS)
    files = sorted(f for room in rooms for f in room.rglob("*.py"))
    every = [m for f in files if options.only in str(f) for m in mutants(f, ROOT)]
    drawn = random.Random(options.seed).sample(every, min(options.n, len(every)))
    print(f"{len(every)} changes are possible; {len(drawn)} of them are tried", flush=True)
    record()
    verdicts = run(drawn, options.budget, options.workers)
    print(table(verdicts))
    if options.json:
        options.json.write_text(json.dumps([asdict(verdict) for verdict in verdicts], indent=1))


def run(drawn: list[Mutant], budget: float, workers: int) -> list[Verdict]:
    """Every verdict; those that are known already cost nothing."""
    known, state = KEPT / "verdicts.jsonl", _state()
    earlier = {v.mutant: v for v in _read(known) if v.result == "noticed" or v.tests == state}
    tests = Tests(ENTERED)
    trees: queue.Queue[Path] = queue.Queue()

    def judge(number: int, mutant: Mutant) -> Verdict:
        name = f"{mutant} [{hashlib.sha256(mutant.source.encode()).hexdigest()[:8]}]"
        if name in earlier:
            return earlier[name]
        tree = trees.get()
        begun = time.perf_counter()
        result, by = tried(mutant, tree, tests, budget)
        seconds = round(time.perf_counter() - begun, 1)
        trees.put(tree)
        verdict = Verdict(name, mutant.path.split("/")[2], result, by, seconds, state)
        with known.open("a") as file:
            file.write(json.dumps(asdict(verdict)) + "\n")
        print(f"{number:3d}  {seconds:5.0f} s  {result:9s} {by}  {name}", flush=True)
        return verdict

    with tempfile.TemporaryDirectory() as folder:
        for number in range(workers):
            tree = Path(folder) / str(number) / "windfall"
            kept = shutil.ignore_patterns(".*", "__pycache__", "out")
            shutil.copytree(ROOT, tree, ignore=kept, symlinks=True)
            trees.put(tree)
        with ThreadPoolExecutor(workers) as pool:
            verdicts = list(pool.map(judge, range(1, len(drawn) + 1), drawn))
        return _believed(verdicts, trees.get())


def _believed(verdicts: list[Verdict], tree: Path) -> list[Verdict]:
    """Verdicts of tests that fail without a change as well are none."""
    names = sorted({v.by for v in verdicts if "::" in v.by})
    if not names:
        return verdicts
    (tree / "order").write_text("\n".join(names))
    done = _pytest(tree, [*_ORDERED, *_files(names)], WINDFALL_ORDER=str(tree / "order"))
    broken = _wrong(done.stdout)
    return [replace(v, result="undecided") if v.by in broken else v for v in verdicts]


def _state() -> str:
    """All the tests, in a word."""
    parts = [json.loads(path.read_text())["digest"] for path in sorted(ENTERED.glob("*.json"))]
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:8]


def _read(path: Path) -> list[Verdict]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [Verdict(**json.loads(line)) for line in lines]


def table(verdicts: list[Verdict]) -> str:
    """How many were noticed, room by room, and what was not."""
    rows = []
    for room in (*ROOMS, ""):
        found = [v for v in verdicts if room in ("", v.room) and v.result != "undecided"]
        noticed = sum(v.result == "noticed" for v in found)
        if found:
            share = f"{noticed / len(found):6.0%}"
            rows.append(f"  {room or 'together':12s}{noticed:5d} of{len(found):4d}{share}")
    missed = [f"  {v.result}: {v.mutant}" for v in verdicts if v.result != "noticed"]
    return "\n".join(["", "noticed", *rows, "", "not noticed", *(missed or ["  nothing"])])


if __name__ == "__main__":
    main()
