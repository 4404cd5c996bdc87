"""``python -m benchmarks``: run every part in a process of its own and report.

Parts run one after the other, never side by side, each under a watchdog.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import machine, report
from benchmarks.verdicts import rows

ROOT = Path(__file__).parents[1]
PEER = "botorch_peer"
#: Parts that run in the peers' environment, each with the part whose problem it works on.
PEERS = {PEER: "rounds", "maximiser_peer": "maximiser", "waiting_peer": "waiting"}
#: Seconds after which a part is ended. A peer follows the part that it is compared with.
PARTS = {
    "rounds": 600,
    PEER: 1800,
    "maximiser": 2400,
    "maximiser_peer": 900,
    "replay": 600,
    "exploitation": 600,
    "compilations": 600,
    "startup": 900,
    "linalg": 300,
    "waiting": 1800,
    "waiting_peer": 1800,
}


class PartError(Exception):
    """A part of the benchmark failed or took too long."""


def run_part(name: str, python: str, folder: Path, quick: bool) -> dict[str, Any]:
    """The numbers of one part, measured in a new process."""
    command = [python, "-m", f"benchmarks.{name}", str(folder), *(["--quick"] if quick else [])]
    # Every part chooses its own compilation cache, or none.
    env = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    env["WINDFALL_CACHE"] = ""
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=PARTS[name])
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)  # and the processes that it started
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise PartError(f"{name} was ended after {PARTS[name]} s") from error
        raise
    if process.returncode:
        raise PartError(f"{name} ended with status {process.returncode}")
    return json.loads(output.splitlines()[-1])


def main() -> None:
    """Measure, print the table and, unless sizes were tiny or parts left out, write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--peers", help="interpreter that has BoTorch; without it no comparison")
    parser.add_argument("--only", action="append", choices=PARTS, help="one part (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    given = parser.parse_args()
    parts = [name for name in PARTS if not given.only or name in given.only]
    if not given.peers:
        parts = [name for name in parts if name not in PEERS]
    for peer, own in PEERS.items():
        if peer in parts and own not in parts:
            parser.error(f"--only {peer} needs --only {own} too: it works on the same problem")

    # A path, made absolute without following the link that a virtual environment's python is.
    peers = os.path.abspath(given.peers) if given.peers else ""
    about, numbers, failures = machine.describe(), {}, []
    console, log = Console(), Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in parts:
            begin = time.perf_counter()
            python = peers if name in PEERS else sys.executable
            try:
                with log.status(f"{name} ..."):
                    numbers[name] = run_part(name, python, Path(folder), given.quick)
                log.print(f"{name}: measured in {time.perf_counter() - begin:.0f} s")
            except PartError as error:
                failures.append(str(error))
                log.print(f"[red]{error}[/red]")
    for package, version in numbers.get(PEER, {}).get("versions", {}).items():
        about["versions"] += f", {package} {version}"
    title = "windfall: speed" + given.quick * " (tiny sizes: the figures mean nothing)"
    report.show(console, title, rows(numbers), about)
    if failures:
        raise SystemExit("not written to benchmarks/README.md: " + "; ".join(failures))
    if not given.quick and list(numbers) == list(PARTS):
        report.write(rows(numbers), about)
        console.print("written to benchmarks/README.md")


if __name__ == "__main__":
    main()
