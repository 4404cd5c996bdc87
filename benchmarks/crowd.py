"""Many processes on one study for a while: how often they ask and tell, and how long that takes.

Nothing but the standard library, so that peers in other environments run the same.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["crowd"]

#: Opens a study in a process of its own: what asks, and what tells a reward for what was asked.
Open = Callable[[int], tuple[Callable[[], Any], Callable[[Any], None]]]


def crowd(begin: Open, processes: int, seconds: float) -> dict[str, Any]:
    """Let forked processes ask and tell in turns for so long."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(place) for place in range(processes)]
        children = [_fork(begin, place, file, seconds) for place, file in enumerate(files)]
        while sum(file.with_suffix(".ready").exists() for file in files) < processes:
            time.sleep(0.05)
        (Path(folder) / "go").touch()
        for child in children:
            os.waitpid(child, 0)
        diaries = [json.loads(file.read_text()) for file in files]
    asks = sorted(t for diary in diaries for t in diary["asks"])
    tells = sorted(t for diary in diaries for t in diary["tells"])
    return {
        "processes": processes,
        "seconds": seconds,
        "asks_per_s": len(asks) / seconds,
        "tells_per_s": len(tells) / seconds,
        "ask_ms": _percentiles(asks),
        "tell_ms": _percentiles(tells),
        "told": len(tells),
        "fewest": min(len(diary["tells"]) for diary in diaries),
        "errors": sorted({error for diary in diaries for error in diary["errors"]})[:5],
        "failed": sum(len(diary["errors"]) for diary in diaries),
    }


def _fork(begin: Open, place: int, file: Path, seconds: float) -> int:
    child = os.fork()
    if child:
        return child
    diary: dict[str, list[Any]] = {"asks": [], "tells": [], "errors": []}
    try:
        ask, tell = begin(place)
        file.with_suffix(".ready").touch()
        while not (file.parent / "go").exists():  # all begin at once
            time.sleep(0.01)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                _turn(ask, tell, diary)
            except Exception as error:  # of interest, not the end
                diary["errors"].append(f"{type(error).__name__}: {error}".splitlines()[0][:200])
    finally:
        file.write_text(json.dumps(diary))
        os._exit(0)


def _turn(ask: Callable[[], Any], tell: Callable[[Any], None], diary: dict[str, Any]) -> None:
    begin = time.perf_counter()
    choice = ask()
    asked = time.perf_counter()
    diary["asks"].append(asked - begin)
    tell(choice)
    diary["tells"].append(time.perf_counter() - asked)


def _percentiles(times: list[float]) -> dict[str, float]:
    if not times:
        return {}
    return {
        f"p{percent}": 1000 * times[min(len(times) - 1, len(times) * percent // 100)]
        for percent in (50, 99)
    }
