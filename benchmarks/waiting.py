"""How long somebody waits who tries the library: whole processes, from an empty cache on.

Each study of 60 asks runs twice with one cache, empty and then warm, and the box once more with
pulls that take a while, during which the next sizes are compiled. ``waiting_peer`` does the same
studies with BoTorch and with Optuna.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import part
from benchmarks.waiting_cases import CASES

TIMEOUT = 600
#: Seconds that a pull takes where pulls take a while.
PULL = 1.0


def environment(cache: str) -> dict[str, str]:
    """A cache of one's own, and byte code, which an installed package has."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"WINDFALL_CACHE": cache}


def study(cache: str, name: str, pull: float = 0.0, policy: str = "windfall") -> dict[str, Any]:
    """What one process waited for; ``wall_s`` from before its start to after its end."""
    command = [sys.executable, "-m", "benchmarks.waiting_study", name, str(pull), policy]
    begin = time.perf_counter()
    done = subprocess.run(
        command,
        env=environment(cache),
        check=True,
        timeout=TIMEOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1]) | {"wall_s": time.perf_counter() - begin}


def optimize(cache: str) -> float:
    """Seconds of ``windfall optimize`` for 20 pulls of a function of two parameters."""
    command = [sys.executable, "-m", "windfall", "optimize", "benchmarks.waiting:trivial"]
    command += ["--box", "x=0:1", "--box", "y=0:1", "--pulls", "20"]
    begin = time.perf_counter()
    subprocess.run(
        command, env=environment(cache), check=True, timeout=TIMEOUT, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - begin


def trivial(x: float, y: float) -> float:
    """What ``windfall optimize`` is asked to maximise."""
    return -((x - 0.3) ** 2) - (y - 0.6) ** 2


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    names = ["list"] if quick else list(CASES)
    numbers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        study(os.path.join(cache, "byte code"), "list")  # from a checkout the first writes it
        for name in names:
            own = os.path.join(cache, name)
            numbers[name] = {"cold": study(own, name), "warm": study(own, name)}
        if quick:
            return numbers
        one_hot = os.path.join(cache, "one-hot")
        study(one_hot, "one-hot", policy="v-ucb")
        numbers["one-hot"]["v-ucb"] = study(one_hot, "one-hot", policy="v-ucb")
        numbers["slow pulls"] = study(os.path.join(cache, "slow"), "list", PULL)
        numbers["optimize"] = {"cold_s": optimize(os.path.join(cache, "optimize"))}
    return numbers


if __name__ == "__main__":
    part.main(measure)
