"""``python -m benchmarks.bbob --peers PYTHON``: play what is not in the store yet; write the table.

Budget: 10 + 10 d evaluations, the first 2 (d + 1) a Latin hypercube that all methods share.
"""

import argparse
import os
from pathlib import Path

from benchmarks import machine, report
from benchmarks.bbob import table
from benchmarks.bbob.functions import load, names
from benchmarks.optimise.play import play
from benchmarks.optimise.store import Store
from benchmarks.peer_process import ROOT, PeerProcess

SEEDS = 10


def budget(dimension: int) -> int:
    """Evaluations of a run, the initial design included."""
    return 10 + 10 * dimension


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bbob", description=__doc__)
    parser.add_argument("--peers", required=True, help="interpreter with ioh, BoTorch and Optuna")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "bbob")
    parser.add_argument("--method", action="append", choices=table.METHODS)
    parser.add_argument("--function", action="append", choices=[name for _, name, _, _ in names()])
    parser.add_argument("--seeds", default=f"0:{SEEDS}", help="FIRST:END, END left out")
    parser.add_argument("--no-table", action="store_true", help="leave the README alone")
    given = parser.parse_args()
    first, _, end = given.seeds.partition(":")
    # A path, made absolute without following the link that a virtual environment's python is.
    peers = os.path.abspath(given.peers)
    oracle = PeerProcess(peers, "benchmarks.bbob.peer")
    functions = {name: load(oracle, number, dimension) for _, name, number, dimension in names()}
    store = Store(given.store)
    played = [functions[name] for name in given.function or functions]
    seeds = range(int(first), int(end))
    play(store, given.method or table.METHODS, played, budget, seeds, peers)
    optima = {name: function.optimum for name, function in functions.items()}
    oracle.close()
    text = table.markdown(table.cells(store, optima, SEEDS))
    print(text)
    if not given.no_table:
        facts = machine.describe()
        versions = f"- versions: {facts['versions']}; made on {facts['date']}"
        report.fill(Path(__file__).with_name("README.md"), f"{versions}\n\n{text}")


if __name__ == "__main__":
    main()
