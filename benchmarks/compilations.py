"""How many programs XLA compiles for one 150-round trial of LW-UCB on Michalewicz.

The process is fresh and has no compilation cache on disk. Further trials may reach buckets that the
first did not; what all of them together compile is an upper bound for any one of them.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import jax
import jax.monitoring

import windfall as wf
from benchmarks import part

ROUNDS = 150


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    del folder
    jax.config.update("jax_enable_compilation_cache", False)
    programs: Counter[str] = Counter()

    def listen(event: str, duration_secs: float, **about: Any) -> None:
        del duration_secs
        if event == "/jax/core/compile/backend_compile_duration":
            programs[str(about.get("fun_name", "?"))] += 1

    jax.monitoring.register_event_duration_secs_listener(listen)
    problem = wf.problems.load("michalewicz")
    rounds, trials = (8, 2) if quick else (ROUNDS, 5)
    counts = []
    for seed in range(trials):
        wf.simulate(problem, "lw-ucb", rounds=rounds, trials=1, seed=seed, workers=1, batch=0)
        counts.append(programs.total())
    return {"first": counts[0], "all": counts[-1], "trials": trials, "programs": dict(programs)}


if __name__ == "__main__":
    part.main(measure)
