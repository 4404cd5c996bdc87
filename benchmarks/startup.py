"""How soon ``windfall run`` decides, with an empty and with a warm compilation cache.

The clock starts before the process does and stops when the command has ended, so that the figures
are an upper bound for the first decision: they include all the others, the table and the exit.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import part

TIMEOUT = 300


def run(cache: str, rounds: int) -> float:
    """Seconds from the start of a ``windfall run`` to its end."""
    command = [sys.executable, "-m", "windfall", "run", "michalewicz", "--trials", "1"]
    command += ["--rounds", str(rounds), "--workers", "1", "--json"]
    begin = time.perf_counter()
    subprocess.run(
        command,
        env=os.environ | {"WINDFALL_CACHE": cache},
        check=True,
        timeout=TIMEOUT,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    rounds = 4 if quick else 20
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        cold = run(cache, rounds)
        warm = [run(cache, rounds) for _ in range(1 if quick else 3)]
    return {"rounds": rounds, "cold_s": cold, "warm_s": median(warm), "warm_all_s": warm}


if __name__ == "__main__":
    part.main(measure)
