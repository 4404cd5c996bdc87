"""Progress on standard error: a bar on a terminal, else a line now and then."""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

__all__ = ["Progress"]

QUIET_SECONDS = 30.0


class Progress:
    """Counts what is finished up to a total, by default trial-rounds of several policies.

    Without a terminal nothing is printed in the first half minute, and then at most one line per
    half minute, so that logs stay short and silence does not look like a hang.
    """

    def __init__(self, total: int, unit: str = "trial-rounds"):
        self.total = total
        self.unit = unit
        self.done = 0
        self.policy = ""
        self.spoke = time.monotonic()
        self.first: tuple[float, int] | None = None
        console = Console(stderr=True)
        self.bar = Bar(
            TextColumn("{task.description:8}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(f"{unit},"),
            TimeElapsedColumn(),
            TextColumn("elapsed,"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.task = self.bar.add_task("", total=total)

    def __enter__(self) -> "Progress":
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def begin(self, policy: str) -> None:
        """What is played from here on: another policy, or where things stand."""
        self.policy = policy
        self.bar.update(self.task, description=policy)

    def advance(self, rounds: int) -> None:
        """So much more is finished."""
        self.done += rounds
        self.bar.advance(self.task, rounds)
        now = time.monotonic()
        if self.first is None:  # what came before was start-up and compilation: no measure of speed
            self.first = now, self.done
        if self.bar.disable and now - self.spoke >= QUIET_SECONDS:
            self.spoke = now
            count = f"{self.done} of {self.total} {self.unit}"
            print(f"windfall: {self.policy}: {count}{self._left(now)}", file=sys.stderr, flush=True)

    def _left(self, now: float) -> str:
        begun, done = self.first or (now, self.done)
        if self.done == done:
            return ""
        seconds = (now - begun) / (self.done - done) * (self.total - self.done)
        return f", about {seconds:.0f} s left"
