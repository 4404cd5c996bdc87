"""``python -m benchmarks.scale FOLDER``: studies as they grow, a process for each size.

Leaves ``scale.json`` (every number), ``scale.md`` (the table) and ``scale.png`` (how an ask grows
with arms and with distinct inputs) in the folder. A cell that is there already is not run again.
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
ARMS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PULLED = (100, 200, 500, 1000, 2000)
TIMEOUT = 1800
_PEER_ARMS, _PEER_PULLED = 100_000, 1000


def cells(quick: bool) -> dict[str, tuple[str, dict[str, Any]]]:
    """What is run, by name: the kind of cell and its settings."""
    arms, pulled = ((2000, 40_000), (20, 40)) if quick else (ARMS, PULLED)
    many = 30 if quick else 200
    plan: dict[str, tuple[str, dict[str, Any]]] = {}
    for policy in POLICIES:
        for size in arms:
            if size in (arms[0], arms[-1]) or policy == "windfall":
                settings = {"arms": size, "pulled": many, "policy": policy}
                plan[f"arms/{policy}/{size}"] = ("asks", settings)
    plan["tables"] = ("tables", {"arms": arms[-1], "pulled": many, "policy": "windfall"})
    for n in pulled:
        settings = {"arms": 10_000, "pulled": n, "policy": "windfall"}
        plan[f"pulls/{n}"] = ("asks", settings)
        plan[f"sparse/{n}"] = ("asks", settings | {"policy": "sparse"})
    rewards = {"arms": 20_000, "pulled": 10_000, "rewards": 100_000, "policy": "sparse"}
    if not quick:
        plan["rewards"] = ("asks", rewards)
    plan["one-hot"] = ("one_hot", {"trials": 1 if quick else 8})
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
    """Median and 95th percentile of the asks of a cell."""
    if "ended" in cell:
        return f"ended {cell['ended']}"
    wall, cpu = cell["ask_s"], cell["ask_cpu_s"]
    most = quantiles(wall, n=20)[-1] if len(wall) > 1 else wall[0]
    return f"{seconds(median(wall))} / {seconds(most)} (CPU {seconds(median(cpu))})"


def row(what: str, cell: dict[str, Any], bar: str = "") -> str:
    if "ask_s" in cell:
        tell = seconds(cell["tell_s"]) if "tell_s" in cell else ""
        return f"| {what} | {ask(cell)} | {tell} | {cell['peak_gb']:.2f} GB | {bar} |"
    if "ended" in cell:
        return f"| {what} | ended {cell['ended']} | | | {bar} |"
    names = {k.removesuffix("_s"): seconds(v) for k, v in cell.items() if k.endswith("_s")}
    said = ", ".join(f"{k} {v}" for k, v in names.items())
    return f"| {what} | {said} | | {cell['peak_gb']:.2f} GB | {bar} |"


def table(done: dict[str, Any], about: dict[str, str]) -> str:
    """Everything that was measured, beside the bars."""
    bars = {
        "arms/windfall/1000000": "0.5 s, tell 2 ms, 1.2 GB",
        "pulls/1000": "0.3 s / 1 s",
        "rewards": "1 s",
        "one-hot": "60 s",
        "against": "a tenth of BoTorch's",
    }
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += ["", "| cell | ask: median / 95th percentile | tell | most memory | bar |"]
    lines += ["|---|---|---|---|---|"]
    lines += [row(name, cell, bars.get(name, "")) for name, cell in done.items()]
    return "\n".join(lines) + "\n"


def figure(done: dict[str, Any], path: Path) -> None:
    """How an ask grows: with the arms, and with the distinct inputs."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    drawn, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name in (*POLICIES, "pulls", "sparse"):
        prefix = f"arms/{name}/" if name in POLICIES else f"{name}/"
        some = {
            int(cell.removeprefix(prefix)): numbers
            for cell, numbers in done.items()
            if cell.startswith(prefix) and "ask_s" in numbers
        }
        sizes = sorted(some)
        label = {"pulls": "exact", "sparse": "sparse"}.get(name, name)
        at = axes[0] if name in POLICIES else axes[1]
        at.loglog(sizes, [median(some[size]["ask_s"]) for size in sizes], "o-", label=label)
        if name in POLICIES:
            axes[2].semilogx(sizes, [some[size]["peak_gb"] for size in sizes], "o-", label=label)
    for at, x, y in zip(
        axes,
        ("arms (200 pulled)", "distinct inputs (10,000 arms)", "arms (200 pulled)"),
        ("an ask, seconds", "an ask, seconds", "most memory, GB"),
        strict=True,
    ):
        at.set(xlabel=x, ylabel=y)
        at.grid(alpha=0.3)
        at.legend()
    drawn.savefig(path, dpi=120)


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
        if name in done or (given.only and not name.startswith(tuple(given.only))):
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
