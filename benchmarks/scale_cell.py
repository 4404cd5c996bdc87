"""One cell of ``benchmarks.scale``: a study of some size in a process of its own, as JSON."""

import json
import resource
import subprocess
import sys
import tempfile
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


def study(arms: int, pulled: int, policy: Any, each: int = 1) -> tuple[wf.Bandit, Any]:
    """A bandit that was told of distinct arms, of each so many rewards at once."""
    rng = np.random.default_rng(0)
    x = rng.random((arms, 6), dtype=np.float32)
    bandit = wf.Bandit(x, policy, seed=0)
    for arm in rng.choice(arms, pulled, replace=False):
        rewards = payoff(x[arm][None])[0] + 0.05 * rng.normal(size=each)
        several = {"count": each, "deviation": float(rewards.std(ddof=1))} if each > 1 else {}
        bandit.tell(int(arm), float(rewards.mean()), **several)
    return bandit, rng


def asks(
    arms: int, pulled: int, policy: Any, each: int = 1, counted: int = COUNTED
) -> dict[str, Any]:
    """Asks and tells in the steady state."""
    bandit, rng = study(arms, pulled, policy, each)
    asked, told = [], []
    first = timed(bandit.ask)[0]
    for _ in range(FIRST + counted):
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


def fingerprints(features: int, arms: int, pulled: int, policy: Any) -> dict[str, Any]:
    """Asks where every arm has many features that are 0 or 1, of which a tenth matter."""
    rng = np.random.default_rng(0)
    bits = (rng.random((arms, features)) < 0.1).astype(np.float32)
    effects = rng.normal(size=features) * (rng.random(features) < 0.1)
    values = bits @ effects
    bandit = wf.Bandit(bits, policy, seed=0)
    for arm in rng.choice(arms, pulled, replace=False):
        bandit.tell(int(arm), float(values[arm] + 0.1 * rng.normal()))
    first, asked = timed(bandit.ask)[0], []
    for _ in range(FIRST + COUNTED):
        asked.append(timed(bandit.ask))
        choice = bandit.ask()
        assert choice.arm is not None
        bandit.tell(choice, float(values[choice.arm] + 0.1 * rng.normal()))
    walls, cpus = zip(*asked[FIRST:], strict=True)
    best = bandit.best
    assert best is not None
    assert best.arm is not None
    rank = int(np.sum(values > values[best.arm])) + 1
    return {
        "first_s": first, "ask_s": walls, "ask_cpu_s": cpus, "best_is": rank, "peak_gb": peak()
    }  # fmt: skip


class Exact(wf.GP):
    """The exact model, however many inputs there are."""

    @property
    def sparsity(self):
        """Never."""
        return None


def found_for(x: np.ndarray, rewards: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Settings of a model that keeps the hyper-parameters which these rewards lead to."""
    usual = wf.Windfall().model()
    fit = wf.Fit(restarts=0, prior=usual.fit.prior)
    bandit = wf.Bandit(x, wf.Policy(wf.Windfall(), wf.GP(usual.kernel, fit=fit)), seed=0)
    for arm in known:
        bandit.tell(int(arm), float(rewards[arm]))
    bandit.ask()
    lengthscale, variance, slope, noise = bandit.state_dict()["events"][-1]["belief"]["hyper"]
    # Of one evaluation nothing comes: it has to improve something. But what carries a sparse model
    # is chosen anew, as in any study.
    once = wf.Fit(restarts=0, iterations=1)
    kernel = wf.kernels.Matern52(lengthscale, variance) + wf.kernels.Trend(slope)
    return {"kernel": kernel, "noise": noise, "fit": once}


def regret(arms: int, told: int, pulled: int, batch: int, trials: int) -> dict[str, Any]:
    """What the sparse model loses against the exact one where both can be played.

    Arms are told at random first, so that the model is sparse from the beginning; then nothing is
    tried twice, so that every pull is one more input. Both have the hyper-parameters that the
    exact model finds for the first thousand.
    """
    models = {"exact": Exact, "sparse": wf.GP}
    found: dict[str, list[float]] = {name: [] for name in models}
    spent = dict.fromkeys(models, 0.0)
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        x = rng.random((arms, 6))
        pays = payoff(x)
        rewards = pays + 0.05 * rng.normal(size=arms)
        known = rng.choice(arms, told, replace=False)
        ideal = np.sort(np.delete(pays, known))[::-1][:pulled].sum()
        settings = found_for(x, rewards, known[:1000])
        for name, model in models.items():
            policy = wf.Policy(wf.Windfall(), model(**settings), repeats=False)
            bandit = wf.Bandit(x, policy, seed=trial)
            for arm in known:
                bandit.tell(int(arm), float(rewards[arm]))

            def play(bandit=bandit, pays=pays, rewards=rewards):
                earned = 0.0
                for _ in range(pulled // batch):
                    for choice in bandit.ask(batch):
                        bandit.tell(choice, float(rewards[choice.arm]))
                        earned += pays[choice.arm]
                return earned

            begun = time.process_time()
            found[name].append((ideal - play()) / pulled)
            spent[name] += time.process_time() - begun
    ratio = float(np.mean(found["sparse"]) / np.mean(found["exact"]))
    cpu = {f"{name}_cpu_s": seconds for name, seconds in spent.items()}
    return {"regret_a_pull": found, "sparse_to_exact": ratio, "peak_gb": peak()} | cpu


def paper(executor: str | None, problem: str, trials: int) -> dict[str, Any]:
    """The paper's quick preset on one problem: two processes, or two workers of a cluster.

    With more trials than the preset has, so that it is not the start that is measured; and a second
    time, when everything is compiled. Seconds on the clock, and of all processes together.
    """
    command = [sys.executable, "-m", "windfall", "paper", "--preset", "quick", "--only", problem]
    command += ["--workers", "2", *(["--executor", executor] if executor else [])]

    def run(trials: int) -> tuple[float, float]:
        before = children()
        with tempfile.TemporaryDirectory() as folder:
            whole = [*command, "--trials", str(trials), "--report", folder]
            wall, _ = timed(lambda: subprocess.run(whole, check=True, capture_output=True))
        return wall, children() - before

    first, _ = run(2)
    wall, cpu = run(trials)
    return {"first_s": first, "wall_s": wall, "cpu_s": cpu, "peak_gb": peak()}


def children() -> float:
    """CPU seconds of all processes that this one has started and seen the end of, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


KINDS = {
    "asks": asks,
    "tables": tables,
    "one_hot": one_hot,
    "fingerprints": fingerprints,
    "regret": regret,
    "paper": paper,
}


def main() -> None:
    print(json.dumps(KINDS[sys.argv[1]](**json.loads(sys.argv[2]))))


if __name__ == "__main__":
    main()
