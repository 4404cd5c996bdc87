"""From the numbers of the parts to the rows of the table: what, how much, which bar, met or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.waiting_cases import CASES


@dataclass(frozen=True)
class Row:
    """One line of the table; a row without a bar is for information."""

    what: str
    measured: str
    bar: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        return {True: "yes", False: "NO", None: ""}[self.met]


def rows(numbers: dict[str, Any]) -> list[Row]:
    """All rows, in the order of the parts that were measured."""
    makers = {
        "rounds": lambda n: _rounds(n, numbers.get("botorch_peer")),
        "maximiser": lambda n: _maximiser(n, numbers.get("maximiser_peer")),
        "replay": _replay,
        "exploitation": _exploitation,
        "compilations": _compilations,
        "startup": _startup,
        "linalg": _linalg,
        "waiting": lambda n: _waiting(n, numbers.get("waiting_peer", {})),
    }
    return [row for part, make in makers.items() if part in numbers for row in make(numbers[part])]


def _rounds(own: dict[str, Any], peer: dict[str, Any] | None) -> Iterator[Row]:
    v, lw = own["v-ucb"], own["lw-ucb"]
    yield Row("V-UCB round", f"{v['ms']:.1f} ms ({_spread(v)})")
    yield Row("LW-UCB round", f"{lw['ms']:.1f} ms ({_spread(lw)})")
    ratio = lw["ms"] / v["ms"]
    distinct = " and ".join(f"{min(d)} to {max(d)}" for d in (lw["distinct"], v["distinct"]))
    yield Row(
        "LW-UCB round / V-UCB round, each in its own trials",
        f"{ratio:.2f} (distinct arms {distinct})",
        "≤ 2",
        ratio <= 2,
    )
    if peer:
        threads = ", ".join(f"{n}: {ms:.0f} ms" for n, ms in peer["by_threads_ms"].items())
        yield Row("BoTorch round", f"{peer['ms']:.1f} ms ({_spread(peer)}; by threads {threads})")
        ratio = peer["ms"] / v["ms"]
        yield Row("BoTorch round / V-UCB round", f"{ratio:.1f}", "≥ 35", ratio >= 35)
    asked = own["bandit"]
    for name, title in (("v-ucb", "V-UCB"), ("lw-ucb", "LW-UCB")):
        n = asked[name]
        spread = _spread(n, "studies", 2)
        yield Row(f"steady ask and tell through a Bandit, {title}", f"{n['ms']:.2f} ms ({spread})")
    if peer:
        ratio = peer["ms"] / asked["v-ucb"]["ms"]
        yield Row("BoTorch round / ask and tell, V-UCB", f"{ratio:.1f}", "≥ 35", ratio >= 35)
    ratio = asked["lw-ucb"]["ms"] / asked["v-ucb"]["ms"]
    yield Row(
        "ask and tell, LW-UCB / V-UCB, each in its own studies",
        f"{ratio:.2f}",
        "≤ 1.5",
        ratio <= 1.5,
    )
    yield Row("compilation for the V-UCB rounds, once", f"{v['compile_s']:.1f} s")
    yield Row("compilation for the LW-UCB rounds, once", f"{lw['compile_s']:.1f} s")


def _spread(numbers: dict[str, Any], what: str = "trials", digits: int = 1) -> str:
    trials = numbers["trials_ms"]
    return f"{min(trials):.{digits}f} to {max(trials):.{digits}f} over {len(trials)} {what}"


def _maximiser(own: dict[str, Any], peer: dict[str, Any] | None) -> Iterator[Row]:
    lost = "".join(f"; lost: {r['acquisition']}, {r['dimension']}-d" for r in own["lost"])
    yield Row(
        f"maximiser as good as 10⁵ random points and L-BFGS-B, {own['posteriors']} posteriors",
        f"{own['share']:.0%} (worst gap {own['worst_gap']:.1e} of the scores' spread{lost})",
        "≥ 99 %",
        own["share"] >= 0.99,
    )
    for name, times in own["times"].items():
        ask, choice = times["ask_ms"], times["choice_ms"]
        what = f"one ask at 100 observations in 6 dimensions, {name}"
        yield Row(what, f"{ask:.0f} ms, of which the choice {choice:.0f} ms")
        if peer and name in peer:  # BoTorch has no counterpart of the default
            fit, maximise = peer[name]["fit_ms"], peer[name]["choice_ms"]
            yield Row(
                f"{what} / BoTorch's `optimize_acqf` (10 restarts, 512 raw samples)",
                f"{ask / maximise:.2f} (our fit included; theirs: {maximise:.0f} ms after "
                f"{fit:.0f} ms)",
                "≤ 0.5",
                ask <= 0.5 * maximise,
            )
            yield Row(f"the same without our fit, {name}", f"{choice / maximise:.2f}")
            yield Row(f"the same with both fits, {name}", f"{ask / (fit + maximise):.2f}")


def _replay(n: dict[str, Any]) -> Iterator[Row]:
    for name, title, bar in (("lw-ucb", "LW-UCB", 2.0), ("windfall", "windfall", 1.5)):
        ratios = n["ratios"][name]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f} over {len(ratios)} histories"
        yield Row(
            f"{title} round / V-UCB round, on the same rewards",
            f"{median(ratios):.2f} ({spread})",
            f"≤ {bar:g}",
            median(ratios) <= bar,
        )


def _exploitation(numbers: dict[str, Any]) -> Iterator[Row]:
    for policy, n in numbers.items():
        distinct = ", ".join(f"{early} → {late}" for early, late in n["distinct"])
        yield Row(
            f"last 100 of 1,000 rounds / rounds 100 to 200, {policy}",
            f"{n['ratio']:.2f} ({n['late_ms']:.2f} / {n['early_ms']:.2f} ms a round; "
            f"distinct arms {distinct})",
            "≤ 1.2",
            n["ratio"] <= 1.2,
        )


def _compilations(n: dict[str, Any]) -> Iterator[Row]:
    # All trials together are no fewer than any one of them.
    yield Row(
        "compilations in a 150-round LW-UCB trial",
        f"{n['first']} (first trial; {n['all']} for {n['trials']} trials together)",
        "≤ 8",
        n["all"] <= 8,
    )


def _startup(n: dict[str, Any]) -> Iterator[Row]:
    command = f"`windfall run`, {n['rounds']} rounds, start to end"
    yield Row(f"{command}, empty cache", f"{n['cold_s']:.1f} s")
    warm = n["warm_s"]
    yield Row(f"{command}, warm cache", f"{warm:.1f} s", "≤ 5 s", warm <= 5)


def _linalg(numbers: dict[str, Any]) -> Iterator[Row]:
    for size, n in numbers.items():
        yield Row(
            f"triangular solve / `triangular_inverse`, {size}×{size}",
            f"{n['ratio']:.2f} ({n['solve_us']:.1f} / {n['own_us']:.1f} µs)",
        )


#: Seconds to the first decision of a model, from an empty cache.
_FIRST = {"list": 2, "box": 4, "mixed": 5}


def _waiting(own: dict[str, Any], peers: dict[str, Any]) -> Iterator[Row]:
    for name, case in CASES.items():
        if name not in own:
            continue
        cold, warm = own[name]["cold"], own[name]["warm"]
        seconds, bar = cold["first_s"], _FIRST.get(name)
        yield Row(
            f"first decision of a model, empty cache: {case.name}",
            f"{seconds:.1f} s",
            f"≤ {bar} s" if bar else "",
            seconds <= bar if bar else None,
        )
        bars = ("≤ 8 s", cold["compile_s"] <= 8) if name == "box" else ()
        yield Row("compilation in 60 asks, empty cache", f"{cold['compile_s']:.1f} s", *bars)
        others = peers.get(name, {})
        beside = "; ".join(f"{peer} {s:.1f} s" for peer, s in others.items())
        whole = f"{cold['wall_s']:.1f} s, of which {cold['cpu_s']:.1f} s computing"
        yield Row(
            "60 asks, whole process, empty cache",
            f"{whole} ({beside})" if beside else whole,
            "faster than both" if others else "",
            cold["wall_s"] <= min(others.values()) if others else None,
        )
        bars = ("≤ 5 s", warm["wall_s"] <= 5) if name == "box" else ()
        yield Row("the same, warm cache", f"{warm['wall_s']:.1f} s", *bars)
        yield Row(
            "compilations in the second process", f"{warm['programs']}", "0", warm["programs"] == 0
        )
        spike = warm["spike"]
        yield Row("95th percentile of steady asks / median", f"{spike:.1f}", "≤ 3", spike <= 3)
    if "v-ucb" in own.get("one-hot", {}):
        ratio = own["one-hot"]["warm"]["ask_ms"] / own["one-hot"]["v-ucb"]["ask_ms"]
        yield Row(
            "steady ask, default / V-UCB, one-hot features", f"{ratio:.2f}", "≤ 2", ratio <= 2
        )
    if "slow pulls" in own:
        late = own["slow pulls"]["foreground_after_first_s"]
        yield Row(
            "compilation that an ask waited for after the first decision, pulls of 1 s",
            f"{late:.2f} s", "0", late == 0,
        )  # fmt: skip
    if "optimize" in own:
        seconds = own["optimize"]["cold_s"]
        yield Row("`windfall optimize`, 20 pulls, empty cache", f"{seconds:.1f} s", "≤ 8 s",
                  seconds <= 8)  # fmt: skip
