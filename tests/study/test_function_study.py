"""A study calls the function where the bandit says, survives what it does, and can be resumed."""

import threading

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.space import Parameters, Real
from windfall.study.bandit import Bandit, Choice
from windfall.study.function_study import PATIENCE, FunctionStudy
from windfall.study.log import Call, StudyLog

SETTINGS = {"seed": 0}


class Scripted(Bandit):
    """Chooses quickly, by all that happened: whoever differs in one event differs ever after."""

    def __init__(self):
        self.events: list[tuple] = []
        self.waiting: list[float] = []

    def ask(self, n):  # pyright: ignore[reportIncompatibleMethodOverride]
        choices = []
        for _ in range(n):
            x = (len(self.events) * 0.37 + len(self.waiting) * 0.11) % 1.0
            x = (x + sum(e[2] for e in self.events if e[0] == "tell") * 0.618) % 1.0
            self.waiting.append(x)
            choices.append(Choice(None, np.array([x]), "scripted", {"x": x}))
        return choices

    def tell(self, choice, reward):  # pyright: ignore[reportIncompatibleMethodOverride]
        self.events.append(("tell", self.settle(choice), reward))

    def fail(self, choice):
        self.events.append(("fail", self.settle(choice)))

    def forget(self, choice):
        self.waiting.remove(choice.parameters["x"])
        self.events.append(("forget",))

    def settle(self, choice):
        x = choice["x"] if isinstance(choice, dict) else choice.parameters["x"]
        if not isinstance(choice, dict):
            self.waiting.remove(x)
        return x


def square(x):
    return -((x - 0.7) ** 2)


def places(study):
    return [pull.parameters["x"] for pull in study.pulls]


def test_the_function_is_called_where_the_bandit_says_and_told():
    study = FunctionStudy(Scripted(), square)
    study.run(6)
    assert [p.number for p in study.pulls] == [1, 2, 3, 4, 5, 6]
    assert study.bandit.events == [("tell", p.parameters["x"], p.value) for p in study.pulls]
    assert all(p.value == square(**p.parameters) for p in study.pulls)
    assert study.bandit.waiting == []


@pytest.mark.parametrize("minimize", [False, True])
def test_the_best_and_the_improvements(minimize):
    values = iter([3.0, 3.0, 5.0, 1.0, 5.0, 0.5])
    study = FunctionStudy(Scripted(), lambda x: next(values), minimize=minimize)
    study.run(6)
    if minimize:
        assert [p.number for p in study.improvements] == [1, 4, 6]
        assert [e[2] for e in study.bandit.events] == [-3.0, -3.0, -5.0, -1.0, -5.0, -0.5]
    else:
        assert [p.number for p in study.improvements] == [1, 3]
    assert study.best == study.improvements[-1]
    assert study.best.value == (0.5 if minimize else 5.0)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (ValueError("no\n  luck"), "ValueError: no luck"),
        (SystemExit(3), "SystemExit: 3"),
        (float("nan"), "returned nan; expected a finite number"),
        (float("-inf"), "returned -inf; expected a finite number"),
        (1e151, "returned 1e+151; expected no more than 1e+150 in size"),
        (-1e200, "returned -1e+200; expected no more than 1e+150 in size"),
        (None, "returned None; expected a finite number"),
        ("0.5", "returned '0.5'; expected a finite number"),
        ([1.0, 2.0], "returned [1.0, 2.0]; expected a finite number"),
        (RuntimeError("x" * 9999), f"RuntimeError: {'x' * 486}"),
    ],
)
def test_a_failed_pull_is_recorded_and_the_study_goes_on(tmp_path, outcome, message):
    calls = []

    def sometimes(x):
        calls.append(x)
        if len(calls) != 2:
            return square(x)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    with StudyLog(tmp_path / "log", SETTINGS) as log:
        study = FunctionStudy(Scripted(), sometimes, log=log)
        study.run(4)
    assert [p.failed for p in study.pulls] == [None, message, None, None]
    assert study.pulls[1].value is None
    assert [event[0] for event in study.bandit.events] == ["tell", "fail", "tell", "tell"]


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.array(0.5), np.array([0.5])[0], True, 1, -1e150]
)
def test_whatever_is_a_number_is_a_value(value):
    study = FunctionStudy(Scripted(), lambda x: value)
    study.run(1)
    assert study.pulls[0].value == float(value)
    assert type(study.pulls[0].value) is float


def broken(x):
    raise RuntimeError("unplugged")


@pytest.mark.parametrize(("pulls", "made"), [(50, PATIENCE), (2, 2)])
def test_a_function_that_always_fails_ends_the_study(pulls, made):
    study = FunctionStudy(Scripted(), broken)
    with pytest.raises(InputError, match=f"all {made} pulls have failed.*unplugged; mend"):
        study.run(pulls)
    assert len(study.pulls) == made


def test_after_one_success_any_number_of_failures_is_borne():
    calls = []

    def once(x):
        calls.append(x)
        return square(x) if len(calls) == 1 else broken(x)

    study = FunctionStudy(Scripted(), once)
    study.run(4 * PATIENCE)
    assert len(study.pulls) == 4 * PATIENCE


def test_a_mended_function_gets_another_chance_from_the_same_log(tmp_path):
    path = tmp_path / "log"
    with (
        StudyLog(path, SETTINGS) as log,
        pytest.raises(InputError, match="unplugged"),
    ):
        FunctionStudy(Scripted(), broken, log=log).run(20)
    with StudyLog(path, SETTINGS) as log:
        study = FunctionStudy(Scripted(), square, log=log)
        study.run(20)
    assert [p.value is None for p in study.pulls] == [True] * PATIENCE + [False] * 15


class KilledError(BaseException):
    """Not an Exception: nothing catches it, as nothing catches a kill."""


def untimed(pulls):
    return [(p.number, p.first, p.size, p.parameters, p.value, p.failed) for p in pulls]


def shaky(x):
    """Fails on part of the line, which a resumed study must go through as well."""
    return broken(x) if 0.1 < x < 0.5 else square(x)


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("dies_at", [1, 2, 5, 7, 11])
def test_a_study_that_is_killed_goes_on_as_if_nothing_had_happened(tmp_path, batch, dies_at):
    whole = FunctionStudy(Scripted(), shaky, batch=batch)
    whole.run(11)
    assert any(p.failed for p in whole.pulls)
    calls, lock = [], threading.Lock()

    def mortal(x):
        with lock:
            calls.append(x)
            if len(calls) == dies_at:
                raise KilledError
        return shaky(x)

    path = tmp_path / "log"
    with StudyLog(path, SETTINGS) as log, pytest.raises(KilledError):
        FunctionStudy(Scripted(), mortal, batch=batch, log=log).run(11)
    before = len(path.read_text().splitlines()) - 1
    again = []

    def counted(x):
        with lock:
            again.append(x)
        return shaky(x)

    with StudyLog(path, SETTINGS) as log:
        study = FunctionStudy(Scripted(), counted, batch=batch, log=log)
        study.run(11)
    assert len(again) == 11 - before  # nothing is made twice
    assert untimed(study.pulls) == untimed(whole.pulls)
    assert study.bandit.events == whole.bandit.events
    assert not study.drifted
    with StudyLog(path, SETTINGS) as log:
        assert untimed(sorted(log.calls, key=lambda p: p.number)) == untimed(whole.pulls)


def test_more_pulls_later_and_never_fewer_than_there_are(tmp_path):
    path = tmp_path / "log"
    for pulls, expected in ((5, 5), (9, 9), (3, 9)):
        with StudyLog(path, SETTINGS) as log:
            study = FunctionStudy(Scripted(), square, batch=2, log=log)
            study.run(pulls)
        assert len(study.pulls) == expected
    assert [p.size for p in study.pulls] == [2, 2, 2, 2, 1, 2, 2, 2, 2]


def test_a_log_of_other_choices_counts_all_the_same(tmp_path):
    path = tmp_path / "log"
    with StudyLog(path, SETTINGS) as log:
        log.append(Call(1, 1, 1, {"x": 0.123}, 4.0, None, 0.0))
        log.append(Call(2, 2, 1, {"x": 0.456}, None, "broken", 0.0))
        study = FunctionStudy(Scripted(), square, log=log)
        study.run(3)
    assert study.drifted
    assert study.bandit.events[:4] == [
        ("forget",), ("tell", 0.123, 4.0), ("forget",), ("fail", 0.456),
    ]  # fmt: skip
    assert study.bandit.waiting == []
    assert study.best.value == 4.0


def test_a_log_of_a_batch_in_another_order_counts_all_the_same(tmp_path):
    def bandit():
        return Bandit(Parameters({"x": Real(0.0, 1.0)}), seed=0, initial=4)

    asked = [choice.parameters for choice in bandit().ask(4)]
    with StudyLog(tmp_path / "log", SETTINGS) as log:
        for number, parameters in enumerate(asked[::-1], 1):
            log.append(Call(number, 1, 4, parameters, float(number), None, 0.0))
        study = FunctionStudy(bandit(), broken, batch=4, log=log)
        study.run(4)
    assert study.drifted
    assert study.bandit.rewards == [(p, float(n)) for n, p in enumerate(asked[::-1], 1)]
    assert study.bandit.pending == []


def test_a_batch_is_called_side_by_side_and_told_in_its_order():
    together = threading.Barrier(3, timeout=30)

    def waits_for_the_others(x):
        together.wait()
        return x

    seen = []
    study = FunctionStudy(Scripted(), waits_for_the_others, batch=3, finished=seen.append)
    study.run(6)
    assert [p.number for p in study.pulls] == [1, 2, 3, 4, 5, 6]
    assert [e[1] for e in study.bandit.events] == places(study)
    assert sorted(p.number for p in seen) == [1, 2, 3, 4, 5, 6]


def test_one_at_a_time_stays_in_its_thread():
    threads = set()
    FunctionStudy(Scripted(), lambda x: threads.add(threading.get_ident()) or 0.0).run(3)
    assert threads == {threading.get_ident()}
