"""``python -m benchmarks.optimise``: play what is not in the store yet, then write the table.

Runs go seed by seed, so that whatever is finished is balanced. Several processes may share a store
if they are given different methods, functions or seeds.
"""

import argparse
import os
from pathlib import Path

from benchmarks import machine, report
from benchmarks.optimise import plan, table
from benchmarks.optimise.play import play
from benchmarks.optimise.store import Store
from benchmarks.peer_process import ROOT
from windfall.problems import functions


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimise", description=__doc__)
    parser.add_argument("--peers", default="", help="interpreter that has BoTorch")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "optimise")
    parser.add_argument("--method", action="append", choices=plan.METHODS)
    parser.add_argument("--function", action="append", choices=functions.names())
    parser.add_argument("--seeds", default=f"0:{plan.SEEDS}", help="FIRST:END, END left out")
    parser.add_argument("--no-table", action="store_true", help="leave the README alone")
    given = parser.parse_args()
    first, _, end = given.seeds.partition(":")
    # A path, made absolute without following the link that a virtual environment's python is.
    peers = os.path.abspath(given.peers) if given.peers else ""
    store = Store(given.store)
    play(
        store,
        given.method or plan.METHODS,
        [functions.load(name) for name in given.function or functions.names()],
        plan.budget,
        range(int(first), int(end)),
        peers,
    )
    measured, versions = table.cells(store)
    about = machine.describe()
    del about["load at the start"]  # it slows a run down and changes nothing
    others = {k: v for k, v in versions.items() if f" {k} {v}" not in about["versions"]}
    about["versions"] = ", ".join([about["versions"], *(f"{k} {v}" for k, v in others.items())])
    text = table.markdown(measured, about)
    print(text)
    if not given.no_table:
        report.fill(Path(__file__).with_name("README.md"), text)


if __name__ == "__main__":
    main()
