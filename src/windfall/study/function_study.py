"""A study of a Python function: ask, call it, tell."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from windfall.checks import finite
from windfall.errors import InputError
from windfall.study.choice import Choice
from windfall.study.pull import LARGEST
from windfall.study.study import Study

__all__ = ["Call", "FunctionStudy"]

#: When nothing has ever succeeded, so many failures end a study: the function is broken.
PATIENCE = 5
#: Characters of an error that are kept.
LONGEST = 500


@dataclass(frozen=True)
class Call:
    """One call of the user's function.

    Attributes:
        number: Counted from 1, in the order in which calls ended.
        parameters: What the function was called with.
        value: What it returned; None if the pull failed.
        failed: Why it failed; None if it did not.
    """

    number: int
    parameters: dict[str, Any]
    value: float | None
    failed: str | None


@dataclass
class FunctionStudy:
    """Calls a function again and again, at the points that a study chooses.

    Attributes:
        study: Makes the choices, and keeps what came of them.
        function: Called with the parameters by name, returns a number. An exception, or what is
            not a finite number or beyond ±1e150, is a failed pull: it is recorded and the study
            goes on.
        workers: Calls side by side, in threads. A worker is handed a new choice as soon as it has
            told the last; one that was killed is given its choice back when it asks again.
        minimize: Whether small values are good.
        name: Of who calls; that of each worker begins with it.
        finished: Called after each pull that was made.
        pulls: All pulls so far, in order, also those that others made.
    """

    study: Study
    function: Callable[..., Any]
    workers: int = 1
    minimize: bool = False
    name: str = "optimize"
    finished: Callable[[Call], None] = lambda pull: None
    pulls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._look()

    @property
    def best(self) -> Call | None:
        """The first pull with the best value; None if none has succeeded."""
        return max(self._succeeded(), key=self._reward, default=None)

    @property
    def improvements(self) -> list[Call]:
        """The pulls that were better than all before them."""
        better: list[Call] = []
        for pull in self._succeeded():
            if not better or self._reward(pull) > self._reward(better[-1]):
                better.append(pull)
        return better

    def take_over(self, calls: Sequence[Call]) -> None:
        """Tell what a log of an earlier version holds; a second time nothing happens."""
        for call in calls:
            self._tell(call.parameters, call.value, call.failed, f"log/{call.number}")
        self._look()

    def run(self, pulls: int) -> None:
        """Go on until there are so many pulls, those of others included."""
        idle = self._workers()
        running: dict[Future[tuple[float | None, str | None]], tuple[str, Choice]] = {}
        made = 0
        with ThreadPoolExecutor(self.workers) as threads:
            while True:
                while idle and len(self.pulls) + len(running) < pulls:
                    worker = idle.pop(0)
                    choice = self.study.ask(worker=worker)
                    running[self._begin(threads, choice)] = (worker, choice)
                if not running:
                    break
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    worker, choice = running.pop(future)
                    self._tell(choice, *future.result(), f"call/{choice.id}")
                    idle.append(worker)
                    self._look()
                    self.finished(self.pulls[-1])
                made += len(ended)
                if made >= PATIENCE or len(self.pulls) >= pulls:
                    self._check_hope()

    def _begin(self, threads: ThreadPoolExecutor, choice: Choice) -> Future[Any]:
        """A call that is under way; a single worker is this thread: libraries are happier there."""
        if self.workers > 1:
            return threads.submit(_outcome, self.function, choice.parameters)
        future: Future[Any] = Future()
        future.set_result(_outcome(self.function, choice.parameters))
        return future

    def _tell(self, point: Any, value: float | None, failed: str | None, request: str) -> None:
        if value is None:
            self.study.fail(point, request=request, why=failed)
        else:
            self.study.tell(point, -value if self.minimize else value, request=request)

    def _workers(self) -> list[str]:
        """The names of this caller's workers, those first that still have a choice.

        Where there were more of them, nobody will tell what the others had: it is forgotten.
        """
        names = [f"{self.name}/{place + 1}" for place in range(self.workers)]
        held = {worker: choice for choice, worker in self.study.holders() if worker is not None}
        for worker, choice in held.items():
            if worker.startswith(f"{self.name}/") and worker not in names:
                self.study.forget(choice)
        return sorted(names, key=lambda name: name not in held)

    def _look(self) -> None:
        """See all that has happened by now."""
        self.pulls = [
            Call(number, parameters, _value(reward, self.minimize), why)
            for number, (parameters, reward, why) in enumerate(self.study.outcomes(), 1)
        ]

    def _succeeded(self) -> list[Call]:
        return [pull for pull in self.pulls if pull.value is not None]

    def _reward(self, pull: Call) -> float:
        assert pull.value is not None
        return -pull.value if self.minimize else pull.value

    def _check_hope(self) -> None:
        if self.pulls and not self._succeeded():
            raise InputError(
                f"all {len(self.pulls)} pulls have failed, the last with"
                f" {self.pulls[-1].failed}; mend the function"
            )


def _value(reward: float | None, minimize: bool) -> float | None:
    return -reward if minimize and reward is not None else reward


def _outcome(
    function: Callable[..., Any], parameters: dict[str, Any]
) -> tuple[float | None, str | None]:
    """What the function returned, or why that is no reward."""
    try:
        value = function(**parameters)
    except (Exception, SystemExit) as error:  # a function may well raise anything
        return None, " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
    try:
        number = finite("value", value)
    except InputError:
        return None, f"returned {value!r:.80}; expected a finite number"
    if abs(number) > LARGEST:
        return None, f"returned {number:g}; expected no more than {LARGEST:g} in size"
    return number, None
