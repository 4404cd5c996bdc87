"""Finished runs: one small JSON file each, written whole, so that work can be resumed and split."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from windfall.runtime.files import write_atomically


@dataclass(frozen=True)
class Run:
    """One method on one function from one initial design.

    Attributes:
        points: Where the function was evaluated, in order, the initial design first.
        rewards: What it paid there.
        seconds: How long the run took.
        versions: Of what made the choices.
    """

    method: str
    function: str
    seed: int
    points: list[list[float]]
    rewards: list[float]
    seconds: float
    versions: dict[str, str]


@dataclass(frozen=True)
class Store:
    folder: Path

    def path(self, method: str, function: str, seed: int) -> Path:
        return self.folder / method.replace(" ", "-") / function / f"{seed:03}.json"

    def load(self, method: str, function: str, seed: int) -> Run | None:
        path = self.path(method, function, seed)
        return Run(**json.loads(path.read_text())) if path.exists() else None

    def save(self, run: Run) -> None:
        path = self.path(run.method, run.function, run.seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(asdict(run)).encode())
