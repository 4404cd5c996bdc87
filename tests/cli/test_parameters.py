"""Parameters as text on the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windfall.cli.parameters import parameters
from windfall.errors import InputError
from windfall.space import Categorical, Integer, Real

numbers = st.floats(-1e6, 1e6)


@given(ends=st.tuples(numbers, numbers).filter(lambda p: p[0] != p[1]).map(sorted))
def test_numbers_are_read_exactly(ends):
    low, high = ends
    space = parameters([f"x={low!r}:{high!r}"])
    assert space.parameters == {"x": Real(low, high)}


@given(ends=st.lists(st.integers(1, 10**6), min_size=2, max_size=2, unique=True).map(sorted))
def test_whole_numbers_and_logarithmic_scales(ends):
    low, high = ends
    space = parameters([f"a={low}:{high}:log"], [f"b={low}:{high}", f"c={low}:{high}:log"])
    assert space.parameters == {
        "a": Real(float(low), float(high), log=True),
        "b": Integer(low, high),
        "c": Integer(low, high, log=True),
    }


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("relu,tanh", ("relu", "tanh")),
        ("a, b , c", ("a", "b", "c")),
        ("32,64", (32, 64)),
        ("0.5,1", (0.5, 1.0)),
        ("1,two", ("1", "two")),
        ("1,10,inf", ("1", "10", "inf")),
        ("0.5,nan", ("0.5", "nan")),
        ("1,1e999", ("1", "1e999")),
    ],
)
def test_choices_are_numbers_if_all_of_them_are_finite_ones(text, choices):
    (kind,) = parameters(choices=[f"kind={text}"]).parameters.values()
    assert kind == Categorical(choices)
    assert [type(c) for c in kind.choices] == [type(c) for c in choices]


@pytest.mark.parametrize(
    "text",
    ["x", "x=", "x=0", "=0:1", "x=0:1:2:3", "x=0:1:lin", "x=a:b", "2x=0:1", "x y=0:1", "x=0;1", ""],
)
def test_bad_text_is_quoted_with_the_form_expected(text):
    with pytest.raises(InputError) as error:
        parameters([text])
    assert str(error.value) == (f"--box is {text!r}; expected NAME=LOW:HIGH or NAME=LOW:HIGH:log")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"boxes": ["x=1:0"]}, "--box 'x=1:0': low is 1 and high is 0.*swap them"),
        ({"boxes": ["x=1:1"]}, "--box 'x=1:1': low is 1 and high is 1"),
        ({"boxes": ["x=0:inf"]}, "--box 'x=0:inf': high is inf; expected a finite number"),
        ({"boxes": ["x=nan:1"]}, "--box 'x=nan:1': low is nan"),
        ({"boxes": ["x=0:1:log"]}, "--box 'x=0:1:log': low is 0 on a logarithmic scale"),
        ({"integers": ["n=1.5:3"]}, "--integer is 'n=1.5:3'; expected .* whole numbers"),
        ({"choices": ["kind=a"]}, "--choice is 'kind=a'; expected NAME=FIRST,SECOND"),
        ({"choices": ["kind=a,,b"]}, "--choice is 'kind=a,,b'"),
        ({"choices": ["kind=a,a"]}, "--choice 'kind=a,a': .* all different"),
        ({"choices": ["kind=1,1.0"]}, "--choice 'kind=1,1.0': .* all different"),
        ({"boxes": ["x=0:1", "x=0:2"]}, "--box 'x=0:2': there is another 'x'"),
        ({"boxes": ["x=0:1"], "choices": ["x=a,b"]}, "--choice 'x=a,b': there is another 'x'"),
        ({}, "no parameters; give at least one --box, --integer or --choice"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(InputError, match=words):
        parameters(**options)
