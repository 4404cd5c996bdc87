"""One cell of ``benchmarks.scale``: a study of some size in a process of its own, as JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import windfall as wf

#: Asks that may compile, and asks that count.
FIRST, COUNTED = 3, 12


def payoff(x: np.ndarray) -> np.ndarray:
    """Hills in six features, a high one among them."""
    near = np.exp(-20.0 * np.sum((x - 0.6) ** 2, axis=1))
    return np.sin(3.0 * x[:, 0]) + x[:, 1] * x[:, 2] + 3.0 * near


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak() -> float:
    """The most memory this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def study(arms: int, pulled: int, policy: Any, rewards: int = 0) -> tuple[wf.Bandit, Any]:
    """A bandit that was told of distinct arms, some of them again until there are ``rewards``."""
    rng = np.random.default_rng(0)
    x = rng.random((arms, 6), dtype=np.float32)
    bandit = wf.Bandit(x, policy, seed=0)
    distinct = rng.choice(arms, pulled, replace=False)
    again = rng.choice(distinct, max(rewards - pulled, 0))
    for arm in np.concatenate([distinct, again]):
        bandit.tell(int(arm), float(payoff(x[arm][None])[0] + 0.05 * rng.normal()))
    return bandit, rng


def asks(arms: int, pulled: int, policy: Any, rewards: int = 0) -> dict[str, Any]:
    """Asks and tells in the steady state."""
    bandit, rng = study(arms, pulled, policy, rewards)
    asked, told = [], []
    first = timed(bandit.ask)[0]
    for _ in range(FIRST + COUNTED):
        asked.append(timed(bandit.ask))
        choice = bandit.ask()
        reward = float(payoff(choice.features[None])[0] + 0.05 * rng.normal())
        told.append(timed(lambda c=choice, r=reward: bandit.tell(c, r))[0])
    numbers = {
        "first_s": first,
        "ask_s": [wall for wall, _ in asked[FIRST:]],
        "ask_cpu_s": [cpu for _, cpu in asked[FIRST:]],
        "tell_s": float(np.median(told)),
        "peak_gb": peak(),
        "why": bandit.ask().why,
    }
    rows = bandit.arms
    assert rows is not None
    numbers["first_by_features_s"] = timed(lambda: bandit.tell(rows[-1], 0.0))[0]
    numbers["by_features_s"] = timed(lambda: bandit.tell(rows[-2], 0.0))[0]
    for name in ("pulls", "best"):
        numbers[f"{name}_s"] = timed(lambda name=name: getattr(bandit, name))[0]
    return numbers


def tables(arms: int, pulled: int, policy: Any) -> dict[str, Any]:
    """What else touches every arm."""
    bandit, _ = study(arms, pulled, policy)
    bandit.ask()
    numbers: dict[str, Any] = {}
    for name in ("explain", "posterior", "state_dict"):
        getattr(bandit, name)()
        numbers[f"{name}_s"], numbers[f"{name}_cpu_s"] = timed(getattr(bandit, name))
    state = bandit.state_dict()
    numbers["load_state_dict_s"] = timed(lambda: bandit.load_state_dict(state))[0]
    numbers["create_s"] = timed(lambda: wf.Bandit(np.array(bandit.arms), policy))[0]
    return numbers | {"peak_gb": peak()}


def one_hot(trials: int) -> dict[str, Any]:
    """80 one-hot features (four sites of twenty), 5,000 arms, 60 rounds, in this process."""
    rng = np.random.default_rng(0)
    letters = rng.integers(20, size=(5000, 4))
    arms = np.eye(20)[letters].reshape(5000, 80)
    effects = rng.normal(size=(4, 20))
    pairs = rng.normal(size=(20, 20))
    values = effects[np.arange(4), letters].sum(axis=1) + pairs[letters[:, 0], letters[:, 1]]
    problem = wf.Problem(arms=arms, payoff=np.exp(values / 2), noise=0.05)
    wall, cpu = timed(lambda: wf.simulate(problem, rounds=60, trials=trials, workers=1))
    return {"wall_s": wall, "cpu_s": cpu, "peak_gb": peak()}


KINDS = {"asks": asks, "tables": tables, "one_hot": one_hot}


def policy_of(name: Any) -> Any:
    """A policy by its name; "sparse" is the default with the sparse model."""
    if name != "sparse":
        return name
    sparse = getattr(wf, "SparseGP", None)
    if sparse is None:
        raise SystemExit("this windfall has no SparseGP")
    return wf.Policy(wf.Windfall(), sparse())


def main() -> None:
    kind, settings = sys.argv[1], json.loads(sys.argv[2])
    if "policy" in settings:
        settings["policy"] = policy_of(settings["policy"])
    print(json.dumps(KINDS[kind](**settings)))


if __name__ == "__main__":
    main()
