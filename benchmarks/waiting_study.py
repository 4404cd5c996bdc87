"""A study of windfall from an empty process on: ``python -m benchmarks.waiting_study CASE PULL_S``.

Prints what it waited for as JSON. Times count from the start of the interpreter as seen from here,
a few hundredths of a second late.
"""

import time

BEGIN = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from typing import Any  # noqa: E402

import jax.monitoring  # noqa: E402
import numpy as np  # noqa: E402

import windfall as wf  # noqa: E402
from benchmarks.waiting_cases import ASKS, CASES, KINDS  # noqa: E402


def at_least(p):
    return p["x"] + p["y"] - 0.3


def space(name: str) -> Any:
    """What a Bandit is made for."""
    if name == "box":
        return wf.Box([0.0] * 6, [1.0] * 6)
    if name == "mixed":
        parameters = {
            "x": wf.Real(0, 1), "y": wf.Real(0.01, 1, log=True), "n": wf.Integer(1, 8),
            "kind": wf.Categorical(list(KINDS)),
        }  # fmt: skip
        return wf.Parameters(parameters, constraints=[at_least])
    return CASES[name].arms


def main(name: str, pull: float, policy: str = "windfall", asks: int = ASKS) -> None:
    compiled = {"seconds": 0.0, "programs": 0, "foreground": 0.0}

    def listen(event: str, duration: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled["seconds"] += duration
            compiled["programs"] += 1
            # Whatever else compiles does so for a decision that is waiting for it.
            warming = threading.current_thread().name == "windfall-warming"
            compiled["foreground"] += 0.0 if warming else duration

    jax.monitoring.register_event_duration_secs_listener(listen)
    case, bandit = CASES[name], wf.Bandit(space(name), policy, seed=0)
    first, waited, late, cpu = None, [], 0.0, []
    for _ in range(asks):
        before, begin, used = compiled["foreground"], time.perf_counter(), time.process_time()
        choice = bandit.ask()
        waited.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - used)
        if first is None and " chose it " in choice.why:
            first = time.perf_counter() - BEGIN
        elif first is not None:
            late += compiled["foreground"] - before
        time.sleep(pull)
        bandit.tell(choice, case.payoff(choice.features))
    steady = np.array(waited[case.initial + 5 :])
    print(json.dumps({
        "first_s": first, "total_s": time.perf_counter() - BEGIN, "cpu_s": time.process_time(),
        "compile_s": compiled["seconds"], "programs": compiled["programs"],
        "foreground_after_first_s": late, "ask_ms": 1e3 * float(np.median(steady)),
        "ask_cpu_ms": 1e3 * float(np.median(cpu[case.initial + 5 :])),
        "spike": float(np.quantile(steady, 0.95) / np.median(steady)), "best": bandit.best.why,
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *sys.argv[3:4])
