"""Play what is not in the store yet."""

import sys
import time
from collections.abc import Callable, Sequence

from benchmarks.optimise.methods import Contenders, Ledger
from benchmarks.optimise.plan import design
from benchmarks.optimise.store import Run, Store
from benchmarks.peer_process import PeerError
from windfall.problems.functions import Function


def play(
    store: Store,
    methods: Sequence[str],
    functions: Sequence[Function],
    budget: Callable[[int], int],
    seeds: range,
    peers: str,
) -> None:
    """Play and keep every run that is not kept already; one that breaks is named and left out.

    Args:
        store: Where finished runs are.
        methods: Names of methods.
        functions: What they are played on.
        budget: Evaluations of a run in so many dimensions.
        seeds: Of initial designs, and of the methods.
        peers: The interpreter of the peers' environment, or nothing.
    """
    contenders = Contenders(methods, peers)
    for seed in seeds:
        for function in functions:
            start = design(function, seed)
            for method, (spend, versions) in contenders.plays.items():
                if store.load(method, function.name, seed) is not None:
                    continue
                where = f"seed {seed} {function.name} {method}"
                ledger, begin = Ledger(function, budget(function.dimension)), time.time()
                try:
                    spend(ledger, start, seed)
                except PeerError as error:
                    print(f"{where}: left out, {error}", file=sys.stderr)
                    continue
                taken = time.time() - begin
                points, rewards = ledger.points, ledger.rewards
                store.save(Run(method, function.name, seed, points, rewards, taken, versions))
                gap = function.optimum - max(rewards)
                print(f"{where}: {gap:.3g} in {taken:.1f} s", file=sys.stderr, flush=True)
    contenders.close()
