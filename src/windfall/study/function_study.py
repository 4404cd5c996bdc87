"""A study of a Python function: ask, call it, tell, and keep a log."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from windfall.checks import finite
from windfall.errors import InputError
from windfall.study.bandit import Bandit
from windfall.study.choice import Choice
from windfall.study.log import Call, StudyLog
from windfall.study.pull import LARGEST

__all__ = ["FunctionStudy"]

#: When nothing has ever succeeded, so many failures end a study: the function is broken.
PATIENCE = 5
#: Characters of an error that are kept.
LONGEST = 500


@dataclass
class FunctionStudy:
    """Calls a function again and again, at the points that a bandit chooses.

    Attributes:
        bandit: Makes the choices; a new one.
        function: Called with the parameters by name, returns a number. An exception, or what is
            not a finite number or beyond ±1e150, is a failed pull: it is recorded and the study
            goes on.
        batch: Points chosen, and called side by side in threads, at a time.
        minimize: Whether small values are good.
        log: Where pulls are kept. Those that it holds already are not made again.
        finished: Called after each pull that was made.
        pulls: All pulls so far, in order; those of the batch being called as they finish.
        drifted: Whether a log's pulls are not the ones that this bandit would have chosen, as
            after an upgrade; its rewards count all the same.
    """

    bandit: Bandit
    function: Callable[..., Any]
    batch: int = 1
    minimize: bool = False
    log: StudyLog | None = None
    finished: Callable[[Call], None] = lambda pull: None
    pulls: list[Call] = field(default_factory=list)
    drifted: bool = False

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

    def run(self, pulls: int) -> None:
        """Go on until there are so many pulls, those in the log included.

        A study that is resumed asks again for every choice in its log, so that its model goes
        through the same steps and the next choice is the one that would have come.
        """
        recorded = {pull.number: pull for pull in (self.log.calls if self.log else [])}
        made = 0
        while len(self.pulls) < max(pulls, len(recorded)):
            first = len(self.pulls) + 1
            known = [p for p in recorded.values() if p.first == first]
            size = known[0].size if known else min(self.batch, pulls + 1 - first)
            choices = self.bandit.ask(size)
            self._tell(choices, self._call(choices, known, first))
            made += size - len(known)
            if made >= PATIENCE or len(self.pulls) >= pulls:
                self._check_hope()

    def _call(self, choices: Sequence[Choice], known: list[Call], first: int) -> list[Call]:
        """The pulls of a batch in its order; those that are known are not made again."""
        size, numbers = len(choices), {pull.number for pull in known}
        todo = [(n, c) for n, c in enumerate(choices, first) if n not in numbers]

        def call(number: int, choice: Choice) -> Call:
            begin = time.perf_counter()
            value, failed = _outcome(self.function, choice.parameters)
            seconds = time.perf_counter() - begin
            return Call(number, first, size, dict(choice.parameters), value, failed, seconds)

        def keep(pull: Call) -> None:
            if self.log is not None:
                self.log.append(pull)
            self.pulls.append(pull)
            self.finished(pull)

        self.pulls += known
        if len(todo) == 1:  # in this thread: many libraries are happier there
            keep(call(*todo[0]))
        elif todo:
            with ThreadPoolExecutor(len(todo)) as threads:
                for future in as_completed([threads.submit(call, *item) for item in todo]):
                    keep(future.result())
        self.pulls.sort(key=lambda pull: pull.number)
        return self.pulls[first - 1 :]

    def _tell(self, choices: Sequence[Choice], pulls: list[Call]) -> None:
        """Tell the outcomes of a batch, wherever its pulls were made."""
        points: list[Any] = list(choices)
        for i, (choice, pull) in enumerate(zip(choices, pulls, strict=True)):
            if pull.parameters != choice.parameters:
                self.drifted = True
                self.bandit.forget(choice)  # before any is told: that may settle this one
                points[i] = pull.parameters
        for point, pull in zip(points, pulls, strict=True):
            if pull.value is None:
                self.bandit.fail(point)
            else:
                self.bandit.tell(point, self._reward(pull))

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
