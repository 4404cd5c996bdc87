"""``python -m benchmarks.scale FOLDER``: studies as they grow, a process for each size.

Leaves ``scale.json`` (every number), ``scale.md`` (the table) and ``scale.png`` (how an ask grows
with arms and with distinct inputs) in the folder. A cell that is there already is not run again;
one that ended badly is. ``--only arms --only pulls/1000`` runs the cells whose names begin so.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks import machine

ROOT = Path(__file__).parents[1]
POLICIES = ("windfall", "lw-ucb", "ts", "prospect")
ARMS = (10_000, 100_000, 1_000_000)
PULLED = (100, 200, 500, 1000, 2000, 4000, 8000)
TIMEOUT = 600
_PEER_ARMS, _PEER_PULLED = 100_000, 1000
#: What was asked for, by cell.
BARS = {
    "arms/windfall/1000000": "0.5 s, tell 2 ms, 1.2 GB",
    "pulls/1000": "0.3 s / 1 s",
    "rewards": "1 s",
    "regret": "sparse / exact at most 1.05",
    "one-hot": "60 s",
    "against": "a tenth of BoTorch's",
    "paper/ray": "1.2 of the processes'",
    "paper/dask": "1.2 of the processes'",
}


def cells(quick: bool) -> dict[str, tuple[str, dict[str, Any]]]:
    """What is run, by name: the kind of cell and its settings."""
    arms, pulled = ((2000, 40_000), (20, 40)) if quick else (ARMS, PULLED)
    many = 30 if quick else 200
    plan: dict[str, tuple[str, dict[str, Any]]] = {}
    for policy in POLICIES:
        for size in arms if policy == "windfall" else arms[-1:]:
            settings = {"arms": size, "pulled": many, "policy": policy}
            plan[f"arms/{policy}/{size}"] = ("asks", settings)
    plan["tables"] = ("tables", {"arms": arms[-1], "pulled": many, "policy": "windfall"})
    for n in pulled:
        settings = {"arms": 10_000, "pulled": n, "policy": "windfall"}
        # A search for hyper-parameters comes once in some fifty asks there: so many are looked at.
        plan[f"pulls/{n}"] = ("asks", settings | ({"counted": 60} if n == 1000 else {}))
    if not quick:
        rewards = {"arms": 20_000, "pulled": 10_000, "each": 10, "policy": "windfall"}
        plan["rewards"] = ("asks", rewards)
    told = {"told": 40, "pulled": 8} if quick else {"told": 1500, "pulled": 500}
    plan["regret"] = ("regret", told | {"arms": 10_000, "batch": 4 if quick else 25, "trials": 2})
    plan["one-hot"] = ("one_hot", {"trials": 1 if quick else 8})
    for features in (20, 40) if quick else (100, 1000):
        settings = {"features": features, "arms": 2000, "pulled": many, "policy": "windfall"}
        plan[f"features/{features}"] = ("fingerprints", settings)
    for executor in (None, "ray", "dask"):
        settings = {"executor": executor, "problem": "cosine", "trials": 2 if quick else 40}
        plan[f"paper/{executor or 'processes'}"] = ("paper", settings)
    peer = {"arms": 2000 if quick else _PEER_ARMS, "pulled": 50 if quick else _PEER_PULLED}
    plan["against"] = ("asks", peer | {"policy": "v-ucb"})
    plan["botorch"] = ("peer", peer | {"chunk": 1000})
    plan["botorch/whole"] = ("peer", peer | {"chunk": 0})
    return plan


def run(kind: str, settings: dict[str, Any], cache: Path, peers: str | None) -> dict[str, Any]:
    """The numbers of a cell, or how it ended."""
    cell = [sys.executable, "-m", "benchmarks.scale_cell", kind]
    command = [*cell, json.dumps(settings)]
    if kind == "peer":
        if not peers:
            return {"ended": "no interpreter with BoTorch was given"}
        command = [peers, "-m", "benchmarks.scale_peer", json.dumps(settings)]
    env = os.environ | {"WINDFALL_CACHE": str(cache)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, timeout=TIMEOUT, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"after {TIMEOUT} s"}
    if done.returncode:  # killed for memory: −9
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"ended": f"with status {done.returncode} {last[:120]}".strip()}
    return json.loads(done.stdout.splitlines()[-1])


def seconds(value: float) -> str:
    return f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def ask(cell: dict[str, Any]) -> str:
    """Median, 95th percentile and slowest of the asks of a cell, on the clock; CPU seconds."""
    wall, cpu = sorted(cell["ask_s"]), cell["ask_cpu_s"]
    if len(wall) == 1:
        return f"{seconds(wall[0])} (CPU {seconds(cpu[0])})"
    most = quantiles(wall, n=20, method="inclusive")[-1]
    three = " / ".join(map(seconds, (median(wall), most, wall[-1])))
    return f"{three} (CPU {seconds(median(cpu))} / {seconds(max(cpu))})"


def row(what: str, cell: dict[str, Any]) -> str:
    """A line of the table."""
    bar = BARS.get(what, "")
    if "ended" in cell:
        return f"| {what} | ended {cell['ended']} | | | {bar} |"
    memory = f"{cell['peak_gb']:.2f} GB"
    if "ask_s" in cell:
        tell = seconds(cell["tell_s"]) if "tell_s" in cell else ""
        return f"| {what} | {ask(cell)} | {tell} | {memory} | {bar} |"
    said = [f"{k.removesuffix('_s')} {seconds(v)}" for k, v in cell.items() if k.endswith("_s")]
    if "sparse_to_exact" in cell:
        said.insert(0, f"sparse / exact {cell['sparse_to_exact']:.3f}")
    return f"| {what} | {', '.join(said)} | | {memory} | {bar} |"


def table(done: dict[str, Any], about: dict[str, str]) -> str:
    """Everything that was measured, beside the bars."""
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += ["", "| cell | ask: median / 95th percentile / slowest | tell | most memory | bar |"]
    lines += ["|---|---|---|---|---|"]
    lines += [row(name, cell) for name, cell in done.items()]
    return "\n".join(lines) + "\n"


def figure(done: dict[str, Any], path: Path) -> None:
    """How an ask grows: with the arms, and with the distinct inputs."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def measured(prefix: str) -> dict[int, dict[str, Any]]:
        some = {
            int(cell.removeprefix(prefix)): numbers
            for cell, numbers in done.items()
            if cell.startswith(prefix) and "ask_s" in numbers
        }
        return dict(sorted(some.items()))

    drawn, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name in POLICIES:
        some = measured(f"arms/{name}/")
        if not some:
            continue
        times = [median(cell["ask_cpu_s"]) for cell in some.values()]
        axes[0].loglog(list(some), times, "o-", label=name)
        axes[2].semilogx(list(some), [c["peak_gb"] for c in some.values()], "o-", label=name)
    some = measured("pulls/")
    middle = [median(cell["ask_cpu_s"]) for cell in some.values()]
    axes[1].loglog(list(some), middle, "o-", label="median")
    axes[1].loglog(list(some), [max(c["ask_cpu_s"]) for c in some.values()], ".:", label="slowest")
    if some:
        first = next(iter(some))
        slope = [middle[0] * (n / first) ** 2 for n in some]
        axes[1].loglog(list(some), slope, "--", color="grey", label="n²")
        if max(some) > 1024:
            axes[1].axvline(1024, color="grey", lw=0.8)
            axes[1].text(1100, 0.6 * min(middle), "sparse from here", fontsize=8, color="grey")
        axes[1].set_ylim(0.5 * min(middle), 5.0 * max(max(c["ask_cpu_s"]) for c in some.values()))
    for at, x, y in zip(
        axes,
        ("arms (200 pulled)", "distinct inputs (10,000 arms)", "arms (200 pulled)"),
        ("an ask, CPU seconds (median)", "an ask, CPU seconds", "most memory, GB"),
        strict=True,
    ):
        at.set(xlabel=x, ylabel=y)
        at.grid(alpha=0.3)
        if at.get_legend_handles_labels()[0]:
            at.legend()
    axes[2].set_ylim(bottom=0.0)
    drawn.savefig(path, dpi=120)
    plt.close(drawn)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peers", help="interpreter that has BoTorch; without it no comparison")
    parser.add_argument("--only", action="append", help="cells whose name begins so (repeatable)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / "scale.json"
    done = json.loads(kept.read_text()) if kept.exists() else {}
    about = machine.describe()
    for name, (kind, settings) in cells(given.quick).items():
        if "ended" not in done.get(name, {"ended": "never begun"}) or (
            given.only and not name.startswith(tuple(given.only))
        ):
            continue
        peers = os.path.abspath(given.peers) if given.peers else None
        done[name] = run(kind, settings, given.folder.absolute() / "cache", peers)
        print(row(name, done[name]), flush=True)
        kept.write_text(json.dumps(done, indent=1))
    (given.folder / "scale.md").write_text(table(done, about))
    figure(done, given.folder / "scale.png")
    print(table(done, about))


if __name__ == "__main__":
    main()
