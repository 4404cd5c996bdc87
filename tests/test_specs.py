"""Specs: everything that can be saved comes back as it was, the rest is refused with words."""

import functools
import json
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import own_parts
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_strategies import acquisitions, all_kernels, everything, finite, models, policies, spaces

import windfall as wf
from windfall.errors import InputError
from windfall.models.gp import kernels
from windfall.models.gp.means import Function, Zero
from windfall.specs import describe, differences, from_spec, to_spec


def through_json(value):
    return json.loads(json.dumps(to_spec(value), allow_nan=False))


def again(value):
    return from_spec(through_json(value), allow_imports=True)


@given(everything)
def test_everything_comes_back_as_it_was(value):
    back = again(value)
    assert type(back) is type(value)
    assert describe(back) == describe(value) == to_spec(value)
    assert repr(back) == repr(value)
    assert differences(through_json(value), to_spec(back)) == []


@given(st.one_of(all_kernels, models, acquisitions, policies))
def test_every_number_of_a_model_is_exact(value):
    assert eqx.tree_equal(again(value), value) is True


@given(spaces)
def test_spaces_are_equal_and_keep_the_order_of_their_parameters(space):
    back = again(space)
    assert back == space
    assert back.names == space.names
    if isinstance(space, wf.Parameters):
        assert [type(p) for p in back.parameters.values()] == [
            type(p) for p in space.parameters.values()
        ]


@given(finite | st.sampled_from([-0.0, 5e-324, -5e-324, 1.7976931348623157e308]))
def test_floats_are_exact_to_the_last_bit(number):
    for value in (number, np.float64(number), np.array(number)):
        back = again(value)
        assert type(back) is float
        assert (back, math.copysign(1, back)) == (number, math.copysign(1, number))


def test_numpy_and_jax_numbers_become_python_numbers_of_the_same_value():
    third = np.float32(1 / 3)
    assert to_spec(third) == float(third) != 1 / 3
    assert to_spec(jnp.float32(1 / 3)) == float(third)
    assert to_spec(np.bool_(True)) is True
    assert to_spec([np.int64(3), np.str_("a")]) == [3, "a"]
    assert type(to_spec(np.int64(3))) is int
    assert to_spec((np.arange(4.0).reshape(2, 2), None)) == [[[0.0, 1.0], [2.0, 3.0]], None]
    assert to_spec(wf.VUCB(jnp.asarray(0.5))) == {"type": "VUCB", "kappa": 0.5}


def test_what_comes_back_behaves_the_same():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(5, 2))
    kernel = (kernels.Matern52([0.3, 0.7], 2.0) + 0.1) * kernels.Periodic(0.4) + (
        kernels.Custom(own_parts.triangle, width=0.5) * own_parts.Tent([0.2, 0.9])
    )
    prior = wf.independent([wf.gaussian(0.2, 0.5), [1.0, 3.0]])
    points = np.column_stack([x[:, 0], np.round(x[:, 1])])
    space = wf.Parameters(
        {"x": wf.Real(1, 9, log=True), "n": wf.Integer(0, 4), "kind": wf.Categorical(["a", 1.5])},
        [wf.AtMost({"x": 1.0, "n": 2.0}, 9.0), own_parts.near],
    )
    with jax.enable_x64(True):
        np.testing.assert_array_equal(again(kernel).gram(x, x), kernel.gram(x, x))
        mean = again(Function(own_parts.slope))
        np.testing.assert_array_equal(mean.offset(x), 2.0 * x[:, 0])
        np.testing.assert_array_equal(again(space).fill(16), space.fill(16))
    np.testing.assert_array_equal(again(prior)(points), prior(points))
    assert again(space).decode(space.encode({"x": 2.0, "n": 3, "kind": 1.5}))["kind"] == 1.5


def test_specs_read_as_users_write():
    assert to_spec(wf.Policy(wf.VUCB(1), wf.GP(kernels.Matern52(0.5), mean=own_parts.slope))) == {
        "type": "Policy",
        "acquisition": {"type": "VUCB", "kappa": 1.0},
        "model": {
            "type": "GP",
            "kernel": {"type": "Matern52", "lengthscale": 0.5, "variance": 1.0},
            "noise": 1e-4,
            "mean": {"type": "means.Function", "function": {"function": "own_parts:slope"}},
            "fit": {"type": "Fit", "restarts": 3, "iterations": 50, "prior": None, "lean": False},
            "refit_every": 1,
            "ard": True,
            "contexts": None,
            "apiece": None,
            "effects": 0.0,
            "compress": False,
            "own": 0.0,
        },
    }
    assert to_spec(wf.Parameters({"type": wf.Integer(1, 8)}, wf.AtMost({"type": 2}, 9))) == {
        "type": "Parameters",
        "parameters": [["type", {"type": "Integer", "low": 1, "high": 8, "log": False}]],
        "constraints": [{"type": "AtMost", "coefficients": [["type", 2.0]], "bound": 9.0}],
    }
    assert to_spec(own_parts.Greedy(0.5)) == {
        "type": "own_parts:Greedy",
        "kappa": 0.5,
        "label": "greedy",
    }


def test_arguments_with_defaults_may_be_left_out():
    bare = from_spec({"type": "Policy", "acquisition": {"type": "Windfall"}})
    assert repr(bare) == repr(wf.Policy(wf.Windfall()))
    assert from_spec({"type": "Real", "low": 0, "high": 1}) == wf.Real(0, 1)
    assert from_spec({"type": "means.Zero"}) == Zero()


def test_units_of_a_study_are_no_part_of_a_mean_function():
    bound = Function(own_parts.slope).bound(wf.Box([0.0], [2.0]))
    assert again(bound) == Function(own_parts.slope)


def a_local_function(x1, x2):
    return 1.0


def local_parts():
    def inside(x1, x2):
        return 1.0

    class Inside(kernels.Kernel):
        width: float = 1.0

    return inside, Inside()


IMPORTABLE = "expected a function that can be imported: define it at the top level of a module"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            wf.GP(kernels.Custom(lambda a, b: 1.0)),
            f"GP.kernel.function is function <lambda>; {IMPORTABLE}",
        ),
        (
            {"k": wf.Fit(prior=local_parts()[0])},
            f"value.k.prior is function inside; {IMPORTABLE}",
        ),
        (
            local_parts()[1],
            "Inside is class Inside; expected a class that can be imported: define it at the top "
            "level of a module",
        ),
        (kernels.Custom(max), f"Custom.function is function max; {IMPORTABLE}"),
        (
            [1.0, np.nan],
            "value[1] is nan; expected a finite number",
        ),
        (
            wf.Categorical([("a", 1), "b"]),
            "choice is ('a', 1); expected text, a number, True, False or None",
        ),
        ([kernels.Matern52], "value[0] is the class Matern52; expected an object"),
        (
            own_parts.Forgetful(1.0),
            "Forgetful is a Forgetful, whose constructor takes 'diameter'; expected an attribute "
            "'diameter', or a method spec_arguments",
        ),
        (
            own_parts.Typed(),
            "Typed is a Typed, which has an argument 'type'; expected another name: specs use this "
            "one",
        ),
    ],
)
def test_what_cannot_be_rebuilt_elsewhere_is_refused(value, message):
    with pytest.raises(InputError) as error:
        to_spec(value)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "value",
    [
        own_parts.Halves(1.0),
        own_parts.Drifting(1.0),
        wf.LogDensity(own_parts.Stranger()),
        wf.LogDensity(functools.partial(own_parts.log_bump)),
        wf.LogDensity(kernels.Matern52().diagonal),
        wf.Categorical([b"a", b"b"]),
        wf.Categorical([10**400, 1]),
        {1: 2.0},
        {1.0},
        object(),
        1j,
        float("inf"),
        np.longdouble(1.0),
        np.datetime64("2026-01-01"),
        jax.random.key(0),
        functools.reduce(lambda a, _: a + 1.0, range(70), kernels.White()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_to_spec_refuses_in_one_line_what_describe_still_names(value):
    with pytest.raises(InputError) as error:
        to_spec(value)
    assert "\n" not in str(error.value)
    json.dumps(describe(value), allow_nan=False)


def test_values_that_jax_is_tracing_have_no_spec():
    def traced(kappa):
        with pytest.raises(InputError, match=r"VUCB\.kappa is .*; expected numbers"):
            to_spec(wf.VUCB(kappa))
        return kappa

    jax.jit(traced)(1.0)


def test_functions_of_a_script_are_to_move_to_a_module(monkeypatch):
    monkeypatch.setattr(a_local_function, "__module__", "__main__")
    with pytest.raises(InputError, match="move it to the top level of a module, out of the script"):
        to_spec(kernels.Custom(a_local_function))


def test_describe_marks_what_is_local_and_keeps_the_rest():
    inside, kernel = local_parts()
    assert describe(kernels.Custom(inside))["function"] == {
        "function": f"{__name__}:local_parts.<locals>.inside",
        "local": True,
    }
    assert describe(kernel) == {
        "type": f"{__name__}:local_parts.<locals>.Inside",
        "local": True,
        "width": 1.0,
    }
    assert describe(wf.LogDensity(own_parts.Stranger()))["log"] == {
        "type": "own_parts:Stranger",
        "local": True,
    }
    assert describe([float("nan"), own_parts.brownian]) == [
        "nan",
        {"function": "own_parts:brownian"},
    ]
