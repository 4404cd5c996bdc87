"""``python -m benchmarks.real --data-dir FOLDER``: play what is not kept yet, print the table."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peer_process import ROOT, PeerProcess
from benchmarks.real import botorch, plan, table
from windfall.checks import known_name
from windfall.cli.policies import chosen
from windfall.compare.suite import Contest
from windfall.problems import Problem, load_lists
from windfall.simulation.results import Result, write_atomically


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of candidate lists")
    parser.add_argument("--peers", default="", help="interpreter that has BoTorch")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "real")
    parser.add_argument("--list", action="append", help="only this list; may be repeated")
    own = "besides the reference; MODULE:NAME for one's own"
    parser.add_argument("--policy", action="append", default=[], help=own)
    parser.add_argument("--trials", type=int, default=plan.TRIALS)
    parser.add_argument("--rounds", type=int, default=plan.ROUNDS)
    parser.add_argument("--workers", type=int, default=None)
    given = parser.parse_args()

    lists = {problem.name: problem for problem in load_lists(given.data_dir)}
    problems = {name: lists[known_name("list", name, lists)] for name in given.list or lists}
    results = play(
        problems,
        wanted(given.policy),
        rounds=given.rounds,
        trials=given.trials,
        store=given.store,
        workers=given.workers,
        peers=given.peers,
    )
    text = table.markdown(results, problems)
    write_atomically(given.store / "table.md", text.encode())
    print(text)


def wanted(names: Sequence[str]) -> dict[str, Any]:
    """The reference and these policies; without a name, all that the plan knows."""
    known = plan.policies()
    if not names:
        return known
    own = chosen(name for name in names if name not in known)
    return {name: known[name] for name in (*plan.REFERENCE, *names) if name in known} | own


def play(
    problems: Mapping[str, Problem],
    policies: Mapping[str, Any],
    *,
    rounds: int,
    trials: int,
    store: Path,
    workers: int | None,
    peers: str,
) -> dict[str, dict[str, Result]]:
    """Every result by list and label; what is in the store is not played again."""
    contest = Contest.prepare(
        problems.values(),
        policies,
        rounds=rounds,
        trials=trials,
        seed=plan.SEED,
        reference=plan.REFERENCE,
    )
    say = partial(print, file=sys.stderr, flush=True)
    compared = contest.play(
        store,
        workers=workers,
        progress=lambda run, _: say(f"{run.problem} {run.label}"),
        complain=say,
    )
    results = {name: dict(row) for name, row in compared.results.items()}
    # A path, made absolute without following the link that a virtual environment's python is.
    module = "benchmarks.real.botorch_peer"
    peer = PeerProcess(os.path.abspath(peers), module) if peers else None
    for name, row in results.items():
        initial = row[plan.REFERENCE[0]].initial
        if peer is not None:
            botorch.play(peer, problems[name], initial, rounds, store)
        kept = botorch.gather(problems[name], initial, rounds, store)
        if kept is not None:
            row[plan.BOTORCH] = kept
    if peer is not None:
        peer.close()
    return results


if __name__ == "__main__":
    main()
