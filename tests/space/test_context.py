"""Contexts: what users write, and the columns that a model sees."""

import numpy as np
import pytest
from refusals import refused

from windfall.space import Arms, AtMost, Box, Categorical, Context, Integer, Parameters, Real
from windfall.space.context import as_context
from windfall.space.joint import Joint
from windfall.specs import from_spec, to_spec

MIXED = Parameters({"load": Real(0, 10), "kind": Categorical(["a", "b", "c"])})
DESCRIBED = {
    "names": (["heat", "load"], {"heat": 20, "load": 3.5}, (20.0, 3.5)),
    "bounds": ({"load": (0, 10)}, {"load": 2.5}, (2.5,)),
    "parameters by name": ({"n": Integer(1, 4)}, [3], (3.0,)),
    "box": (Box([0], [1], names=["x"]), np.array([0.5]), (0.5,)),
    "parameters": (MIXED, {"load": 5, "kind": "c"}, (5.0, 2.0)),
}


@pytest.mark.parametrize("case", DESCRIBED)
def test_a_context_is_read_named_and_described(case):
    described, given, expected = DESCRIBED[case]
    context = as_context(described)
    point = context.point(given)
    assert point == expected
    assert context.point(context.named(point)) == point == context.point(list(point))
    again = from_spec(to_spec(context))
    assert again == context
    assert again != Context(described, additive=True)
    assert repr(again) == repr(context)
    assert context.point([np.array(number) for number in point]) == point
    assert context.points([np.array(number) for number in point], 2) == [point, point]
    assert context.points(given, 2) == [point, point] == context.points([given, list(point)], 2)


def test_bounds_that_grow_hold_all_that_was_seen_and_leave_out_what_never_varied():
    context = Context(["a", "b", "c"])
    rng = np.random.default_rng(0)
    rows = [tuple(row) for row in np.c_[rng.normal(size=(9, 2)), np.full(9, 7.0)].tolist()]
    seen = None
    for row in rows:
        seen = context.including(seen, [row, None])
    assert np.array_equal(seen, [np.min(rows, axis=0), np.max(rows, axis=0)])
    unit = context.frame(seen).unit(rows)
    expected = (np.array(rows) - np.min(rows, axis=0))[:, :2] / np.ptp(rows, axis=0)[:2]
    np.testing.assert_allclose(unit, expected, rtol=1e-15)
    first = context.frame(context.including(None, rows[:1]))
    assert first.width == 0
    assert first.unit(rows).shape == (9, 0)


def test_a_length_in_older_bounds_is_known_in_new_ones():
    context = Context(["a", "b"])
    old, new = ((0.0, 5.0), (2.0, 5.0)), ((-1.0, 5.0), (7.0, 5.0))
    assert context.frame(new).since(old).tolist() == [0.25]
    assert context.frame(((0.0, 5.0), (2.0, 6.0))).since(old) is None  # another column
    given = as_context({"a": (0, 1)})
    assert given.frame(None).since(None).tolist() == [1.0]


def test_options_of_a_choice_are_tied_beside_those_of_arms():
    hot = Arms([[0.3, 1, 0], [0.5, 0, 1]])
    context = Context(MIXED)
    assert Joint(hot, context, context.frame(None)).ties == (0, 1, 1, 2, 3, 3, 3)
    plain = Context(["a"])
    frame = plain.frame(((0.0,), (1.0,)))
    assert Joint(hot, plain, frame).ties == (0, 1, 1, 2)
    joint = Joint(Arms([[0.0], [1.0]]), plain, frame)
    assert joint.ties is None
    assert joint.anchors().shape == (2, joint.dimension) == (2, 2)


BAD = {
    "no text": (lambda: Context([1, 2]), r"context is \[1, 2\]; expected different names"),
    "twice": (lambda: Context(["a", "a"]), "context is .*; expected different names"),
    "nothing": (lambda: Context([]), r"context is \[\]; expected a list of names"),
    "text for names": (lambda: Context("heat"), "context is 'heat'; expected a list of names"),
    "bounds": (lambda: Context({"a": (1, 0)}), "context a: low is 1 and high is 0"),
    "no bounds": (lambda: Context({"a": 3}), r"context a is 3; expected \(low, high\)"),
    "constraints": (
        lambda: Context(Box([0], [1], constraints=[AtMost({"x1": 1.0}, 0.5)])),
        "context has constraints; expected none",
    ),
    "missing": (lambda: Context(["a"]).point(None), "context is missing; expected a$"),
    "unknown": (lambda: Context(["a"]).point({"b": 1}), r"context is \{'b': 1\}; expected a$"),
    "too few": (lambda: Context(["a", "b"]).point([1]), r"context is \[1\]; expected values of a,"),
    "text": (lambda: Context(["a"]).point("5"), "context is '5'; expected values of a,"),
    "bytes": (lambda: Context(["a"]).point(b"5"), "context is b'5'; expected values of a,"),
    "a number": (lambda: Context(["a"]).point(5.0), r"context is 5\.0; expected values of a, by"),
    "no axes": (lambda: Context(["a"]).point(np.array(5.0)), r"context is 5\.0; expected values"),
    "no axes for all": (lambda: Context(["a"]).points(np.array(5.0), 1), r"context is 5\.0; expec"),
    "a choice by its name in a list": (
        lambda: Context({"kind": Categorical(["a", "b"]), "load": (0, 9)}).point(["a", 3]),
        "context number of kind is 'a'; expected a whole number from 0 to 1",
    ),
    "the same for all": (
        lambda: Context({"kind": Categorical(["a", "b"]), "load": (0, 9)}).points(["a", 3], 1),
        "context number of kind is 'a'; expected a whole number from 0 to 1",
    ),
    "nan": (lambda: Context(["a"]).point([np.nan]), "context a is nan; expected a finite number"),
    "not a number": (lambda: Context(["a"]).point({"a": "x"}), "context a is 'x'; expected"),
    "outside": (lambda: Context({"a": (0, 1)}).point([2]), "context a is 2; expected a number fr"),
    "no choice": (lambda: Context(MIXED).point({"load": 1, "kind": "d"}), "context kind is 'd'"),
    "how many": (lambda: Context(["a"]).points([[1], [2]], 3), "context has 2 entries; expected 3"),
    "too wide": (
        lambda: Context(["a"]).including(((-1e308,), (0.0,)), [(1e308,)]),
        "context has a range from",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_context_is_refused_in_one_line(case):
    call, message = BAD[case]
    with refused(message):
        call()
