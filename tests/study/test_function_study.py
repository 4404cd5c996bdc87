"""A function is called where a study says; the study survives what it does, and goes on."""

import threading

import numpy as np
import pytest

import windfall as wf
from windfall.errors import InputError
from windfall.study.function_study import PATIENCE, Call, FunctionStudy
from windfall.study.stores import MemoryStore

SPACE = wf.Parameters({"x": wf.Real(0.0, 1.0)})


def kept(store=None) -> wf.Study:
    """A study whose choices need no model: none of them comes after the initial ones."""
    return wf.Study("lab", SPACE, "mean", store=store or MemoryStore(), initial=99)


def square(x):
    return -((x - 0.7) ** 2)


def places(study):
    return [pull.parameters["x"] for pull in study.pulls]


def test_the_function_is_called_where_the_study_says_and_told():
    study = FunctionStudy(kept(), square)
    study.run(6)
    assert [p.number for p in study.pulls] == [1, 2, 3, 4, 5, 6]
    bandit = wf.Bandit(SPACE, "mean", initial=99)
    for pull in study.pulls:
        (choice,) = bandit.ask(1)
        assert pull.parameters == choice.parameters
        assert pull.value == square(**pull.parameters)
        bandit.tell(choice, pull.value)
    assert study.study.rewards == bandit.rewards
    assert study.study.pending == []


@pytest.mark.parametrize("minimize", [False, True])
def test_the_best_and_the_improvements(minimize):
    values = iter([3.0, 3.0, 5.0, 1.0, 5.0, 0.5])
    study = FunctionStudy(kept(), lambda x: next(values), minimize=minimize)
    study.run(6)
    if minimize:
        assert [p.number for p in study.improvements] == [1, 4, 6]
        assert [r for _, r in study.study.rewards] == [-3.0, -3.0, -5.0, -1.0, -5.0, -0.5]
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
def test_a_failed_pull_is_recorded_and_the_study_goes_on(outcome, message):
    calls = []

    def sometimes(x):
        calls.append(x)
        if len(calls) != 2:
            return square(x)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    study = FunctionStudy(kept(), sometimes)
    study.run(4)
    assert [p.failed for p in study.pulls] == [None, message, None, None]
    assert study.pulls[1].value is None
    assert study.study.history()["kind"][1::2] == ["told", "failed", "told", "told"]


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.array(0.5), np.array([0.5])[0], True, 1, -1e150]
)
def test_whatever_is_a_number_is_a_value(value):
    study = FunctionStudy(kept(), lambda x: value)
    study.run(1)
    assert study.pulls[0].value == float(value)
    assert type(study.pulls[0].value) is float


def broken(x):
    raise RuntimeError("unplugged")


@pytest.mark.parametrize(("pulls", "made"), [(50, PATIENCE), (2, 2)])
def test_a_function_that_always_fails_ends_the_study(pulls, made):
    study = FunctionStudy(kept(), broken)
    with pytest.raises(InputError, match=f"all {made} pulls have failed.*unplugged; mend"):
        study.run(pulls)
    assert len(study.pulls) == made


def test_after_one_success_any_number_of_failures_is_borne():
    calls = []

    def once(x):
        calls.append(x)
        return square(x) if len(calls) == 1 else broken(x)

    study = FunctionStudy(kept(), once)
    study.run(4 * PATIENCE)
    assert len(study.pulls) == 4 * PATIENCE


def test_a_mended_function_gets_another_chance_in_the_same_study():
    store = MemoryStore()
    with pytest.raises(InputError, match="unplugged"):
        FunctionStudy(kept(store), broken).run(20)
    study = FunctionStudy(kept(store), square)
    study.run(20)
    assert [p.value is None for p in study.pulls] == [True] * PATIENCE + [False] * 15


class KilledError(BaseException):
    """Not an Exception: nothing catches it, as nothing catches a kill."""


def shaky(x):
    """Fails on part of the line."""
    return broken(x) if 0.1 < x < 0.5 else square(x)


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("dies_at", [1, 2, 7, 11])
def test_a_study_that_is_killed_goes_on_as_if_nothing_had_happened(workers, dies_at):
    whole = FunctionStudy(kept(), shaky)
    whole.run(11)
    assert any(p.failed for p in whole.pulls)
    store, calls, lock = MemoryStore(), [], threading.Lock()

    def mortal(x):
        with lock:
            calls.append(x)
            if len(calls) == dies_at:
                raise KilledError
        return shaky(x)

    with pytest.raises(KilledError):
        FunctionStudy(kept(store), mortal, workers).run(11)
    before, again = len(FunctionStudy(kept(store), shaky).pulls), []

    def counted(x):
        with lock:
            again.append(x)
        return shaky(x)

    study = FunctionStudy(kept(store), counted, workers)
    study.run(11)
    assert len(again) == 11 - before  # nothing that was told is made twice
    assert sorted(places(study)) == sorted(places(whole))
    assert study.study.pending == []
    if workers == 1:
        assert study.pulls == whole.pulls


def test_more_pulls_later_and_never_fewer_than_there_are():
    store = MemoryStore()
    for pulls, expected in ((5, 5), (9, 9), (3, 9)):
        study = FunctionStudy(kept(store), square, workers=2)
        study.run(pulls)
        assert len(study.pulls) == expected


def test_choices_of_workers_that_are_gone_are_dropped():
    """Fewer workers than were killed; those of others stay."""
    store = MemoryStore()
    before = kept(store)
    for worker in ("lab/1", "lab/2", "lab/3", "other/2"):
        before.ask(worker=worker)
    first, *_, other = before.pending
    study = FunctionStudy(kept(store), square, workers=1, name="lab")
    study.run(1)
    assert places(study) == [first.parameters["x"]]
    assert study.study.pending == [other]


def test_a_log_of_an_earlier_version_is_taken_over_once():
    store = MemoryStore()
    calls = [Call(1, {"x": 0.125}, 4.0, None), Call(2, {"x": 0.5}, None, "broken")]
    study = FunctionStudy(kept(store), square, minimize=True)
    for _ in range(2):
        study.take_over(calls)
        assert [(p.parameters["x"], p.value, p.failed) for p in study.pulls] == [
            (0.125, 4.0, None),
            (0.5, None, "broken"),
        ]
    assert [reward for _, reward in study.study.rewards] == [-4.0]
    study.run(3)
    assert len(study.pulls) == 3


def test_workers_call_side_by_side_and_do_not_wait_for_one_another():
    together = threading.Barrier(3, timeout=30)
    four_ended, release = threading.Event(), threading.Event()
    calls, lock = [], threading.Lock()

    def first_one_waits(x):
        with lock:
            calls.append(x)
            number = len(calls)
        if number <= 3:
            together.wait()
        if number == 1:
            assert release.wait(30)
        if number == 6:
            assert four_ended.wait(30)  # the second to the fifth, at whatever pace
            release.set()
        return x

    seen = []

    def finished(call):
        seen.append(call)
        if len(seen) == 4:
            four_ended.set()

    study = FunctionStudy(kept(), first_one_waits, workers=3, finished=finished)
    study.run(6)
    assert [p.number for p in seen] == [1, 2, 3, 4, 5, 6]
    assert calls[0] in places(study)[-2:]  # others went on while it waited for the sixth
    assert sorted(places(study)) == sorted(calls)


def test_one_at_a_time_stays_in_its_thread():
    threads = set()
    FunctionStudy(kept(), lambda x: threads.add(threading.get_ident()) or 0.0).run(3)
    assert threads == {threading.get_ident()}
