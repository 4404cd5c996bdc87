"""What spaces refuse, in one line each: parameter, value and remedy."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from windfall.errors import InputError
from windfall.space import AtMost, Box, Categorical, Integer, Parameters, Real

SPACE = Parameters({
    "rate": Real(1e-3, 1.0, log=True), "layers": Integer(1, 8), "kind": Categorical(["relu", None]),
})  # fmt: skip
POINT = {"rate": 0.1, "layers": 3, "kind": None}

BAD_SPACES = {
    "inverted": (lambda: Real(1, 0), "low is 1 and high is 0; expected low below high: swap"),
    "equal": (lambda: Real(1, 1), "low is 1 and high is 1; .* leave out a parameter"),
    "infinite": (lambda: Real(0, np.inf), "high is inf; expected a finite number"),
    "minus infinity": (lambda: Real(-np.inf, 0), "low is -inf; expected a finite number"),
    "nan": (lambda: Real(np.nan, 1), "low is nan; expected a finite number"),
    "text": (lambda: Real("0", 1), "low is '0'; expected a finite number"),
    "too wide": (lambda: Real(-1e308, 1e308), "low is -1e.308 and high is 1e.308; expected a s"),
    "log of 0": (lambda: Real(0, 1, log=True), "low is 0 on a logarithmic scale"),
    "log of a base": (lambda: Real(1, 2, log=10), "log is 10; expected True or False"),
    "log in words": (lambda: Integer(1, 2, log="no"), "log is 'no'; expected True or False"),
    "half an integer": (lambda: Integer(0.5, 3), "low is 0.5; expected a whole number"),
    "inverted integers": (lambda: Integer(3, 1), "low is 3 and high is 1"),
    "log of an integer 0": (lambda: Integer(0, 9, log=True), "low is 0 on a logarithmic scale"),
    "one choice": (lambda: Categorical(["a"]), "choices is .*; expected a list of 2 or more"),
    "equal choices": (lambda: Categorical(["a", "a"]), "choices is .*all different"),
    "text for choices": (lambda: Categorical("ab"), "choices is 'ab'; expected a list"),
    "no choices": (lambda: Categorical(3), "choices is 3; expected a list"),
    "lists for choices": (lambda: Categorical([[1], [2]]), "choices is .*; expected a list of t"),
    "nothing": (lambda: Parameters({}), "parameters is {}; expected parameters by name"),
    "a list": (lambda: Parameters([Real(0, 1)]), "parameters is .*; expected parameters by name"),
    "a pair": (lambda: Parameters({"x": (0, 1)}), r"x is \(0, 1\); expected Real, Integer or"),
    "a number for a name": (lambda: Parameters({1: Real(0, 1)}), "parameter name is 1; expected"),
    "corners": (lambda: Box([0, 0], [1]), "lower has 2 numbers and upper has 1"),
    "an empty corner": (lambda: Box([], []), r"lower is \[\]; expected one number per parameter"),
    "a number for a corner": (lambda: Box(0, 1), "lower is 0; expected one number per parameter"),
    "inverted box": (lambda: Box([0, 2], [1, 1]), "x2: low is 2 and high is 1; expected low below"),
    "infinite box": (lambda: Box([0], [np.inf], ["t"]), "t: high is inf; expected a finite number"),
    "names": (lambda: Box([0, 0], [1, 1], names=["a"]), r"names is \['a'\]; expected 2 different"),
    "equal names": (lambda: Box([0, 0], [1, 1], names=["a", "a"]), "names is .*2 different names"),
    "a number for names": (lambda: Box([0], [1], names=5), "names is 5; expected 1 different name"),
    "text for names": (lambda: Box([0], [1], names="a"), "names is 'a'; expected 1 different name"),
    "lists for names": (lambda: Box([0], [1], [["a"]]), r"names is \[\['a'\]\]; expected 1 diff"),
    "coefficients": (lambda: AtMost([1.0], 1.0), "coefficients is .*; expected numbers by name"),
    "nan coefficient": (lambda: AtMost({"x": np.nan}, 1.0), "coefficient of x is nan"),
    "zeros": (lambda: AtMost({"x": 0.0}, 1.0), "coefficients is .*; expected one that is not 0"),
    "bound": (lambda: AtMost({"x": 1.0}, np.inf), "bound is inf; expected a finite number"),
    "unknown name": (
        lambda: Box([0], [1], constraints=[AtMost({"y": 1.0}, 1.0)]),
        r"AtMost.* names 'y'; expected numeric parameters: x1",
    ),
    "a choice in a sum": (
        lambda: Parameters(SPACE.parameters, [AtMost({"kind": 1.0}, 1.0)]),
        "AtMost.* names 'kind'; expected numeric parameters: rate, layers",
    ),
    "text for a constraint": (
        lambda: Box([0], [1], constraints=["x1 < 1"]), "constraint is 'x1 < 1'; expected AtMost or",
    ),
    "text for constraints": (
        lambda: Box([0], [1], constraints="x1 < 1"), "constraints is 'x1 < 1'; expected a list",
    ),
    "number for constraints": (lambda: Box([0], [1], constraints=3), "constraints is 3; expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_SPACES)
def test_bad_spaces(case):
    make, message = BAD_SPACES[case]
    with refused(message):
        make()


BAD_POINTS = {
    "unknown name": ({**POINT, "extra": 1}, r"parameters are .*\(unknown 'extra'\); expected rate"),
    "missing name": ({"rate": 0.1, "layers": 3}, r"parameters are .*\(missing 'kind'\); expected"),
    "both": ({"rate": 0.1, "layers": 3, "kid": 1}, r".*\(unknown 'kid'; missing 'kind'\)"),
    "below": ({**POINT, "rate": 1e-4}, "rate is 0.0001; expected a number from 0.001 to 1"),
    "above": ({**POINT, "rate": 2.0}, "rate is 2; expected a number from 0.001 to 1"),
    "nan": ({**POINT, "rate": np.nan}, "rate is nan; expected a number from"),
    "infinite": ({**POINT, "rate": np.inf}, "rate is inf; expected a number from"),
    "text": ({**POINT, "rate": "0.1"}, "rate is '0.1'; expected a number from"),
    "truth": ({**POINT, "layers": True}, "layers is True; expected a whole number from 1 to 8"),
    "no layers": ({**POINT, "layers": 0}, "layers is 0; expected a whole number from 1 to 8"),
    "half a layer": ({**POINT, "layers": 2.5}, "layers is 2.5; expected a whole number from"),
    "no choice": ({**POINT, "kind": "tanh"}, "kind is 'tanh'; expected one of 'relu', None"),
    "too few numbers": (
        [0.1, 3],
        r"point is \[0.1, 3\]; expected a dictionary of rate, layers, kind",
    ),
    "text for a point": ("abc", "point is 'abc'; expected a dictionary of"),
    "nothing": (None, "point is None; expected a dictionary of"),
    "a number": (3, "point is 3; expected a dictionary of"),
    "an array without axes": (np.array(3), r"point is array\(3\); expected a dictionary of"),
    "a choice by its name in a list": (
        [0.1, 3, "relu"],
        "number of kind is 'relu'; expected a whole",
    ),
    "choice number": ([0.1, 3, 2], "number of kind is 2; expected a whole number from 0 to 1"),
}


@pytest.mark.parametrize("case", BAD_POINTS)
def test_bad_points(case):
    point, message = BAD_POINTS[case]
    with refused(message):
        SPACE.encode(point)


@pytest.mark.parametrize(
    "point",
    [POINT, (0.1, 3, 1), [0.1, 3.0, 1.0], np.array([0.1, 3, 1]), jnp.array([0.1, 3, 1]),
     {"kind": None, "rate": np.float32(0.1), "layers": np.int64(3)}],
)  # fmt: skip
def test_points_in_any_form(point):
    np.testing.assert_allclose(SPACE.point(point), [0.1, 3.0, 1.0], rtol=1e-6)


def test_rounding_at_the_edge_is_forgiven():
    box = Box([0.0], [0.3])
    assert box.point([0.1 + 0.2])[0] == 0.3
    with pytest.raises(InputError, match=r"^x1 is 0.3001"):
        box.point([0.3001])


def test_whole_numbers_beyond_the_edge_are_refused():
    for parameter in (Integer(0, 10**12), Integer(1, 10**12, log=True)):
        assert parameter.number("n", 10**12) == 1e12
        with pytest.raises(InputError, match=r"^n is 1000000000001; expected a whole number from"):
            parameter.number("n", 10**12 + 1)


def test_the_edge_of_a_logarithmic_scale_is_forgiving_in_proportion():
    rate = Real(1e-10, 1.0, log=True)
    assert rate.number("rate", 1e-10 * (1 - 1e-12)) == 1e-10
    assert rate.number("rate", 1 + 1e-12) == 1.0
    for value in (0.0, -5e-10, 1e-12, 0.999e-10, 1 + 1e-8):
        with pytest.raises(InputError, match=rf"^rate is {value:.15g}; expected a number from"):
            rate.number("rate", value)


def test_log_may_be_the_truth_of_numpy():
    assert Real(1, 2, log=np.True_) == Real(1, 2, log=True)
    assert repr(Real(1, 2, log=np.True_)) == "Real(1.0, 2.0, log=True)"
    assert repr(Integer(1, 2, log=np.False_)) == "Integer(1, 2)"


def test_constraints_that_nothing_satisfies_say_how_many_points_were_tried():
    def never(p):
        return -1.0 - p["x1"]

    for constraints in ([never], [AtMost({"x1": 1.0}, -1.0)]):
        with pytest.raises(InputError, match=r"^constraints \[.*\] hold at none of") as caught:
            Box([0], [1], constraints=constraints).fill(8)
        tried = int(re.search(r"none of (\d+) points", str(caught.value))[1])
        assert 10_000 < tried < 1_000_000
        assert "loosen them" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_constraint_that_is_no_function_of_the_parameters():
    for constraint, message in (
        (lambda p: p["y"], "failed: KeyError: 'y'; expected a function of the parameters by name"),
        (lambda p: 1.0 if p["x1"] > 0 else -1.0, "failed: TracerBoolConversionError"),
        (
            lambda p: jnp.ones(2) * p["x1"],
            r"returned an array of shape \(2,\); expected one number",
        ),
        (lambda p: p["x1"] < 0.5, "returned True or False; expected a number that is 0 or more"),
        (lambda p: True, "returned True or False; expected a number that is 0 or more"),
    ):
        with refused(rf"constraint .*{message}"):
            Box([0], [1], constraints=[constraint])


def test_only_the_constraint_that_is_a_truth_is_named():
    def small(p):
        return p["x1"] <= 0.5

    with pytest.raises(InputError, match=r"^constraint .*small returned True or False"):
        Parameters({"x1": Real(0, 1)}, [AtMost({"x1": 1.0}, 0.7), small])


def test_a_constraint_that_is_nan_somewhere_is_broken_there():
    box = Box([-1], [1], constraints=[lambda p: jnp.sqrt(p["x1"])])
    assert box.natural(box.fill(32)).min() >= 0.0
