"""Specs that are wrong, strange or hostile: refused in one line, and nothing is imported or run."""

import copy
import json
import sys

import own_parts
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_strategies import everything, json_values, quietly

from windfall.errors import InputError
from windfall.registry import SPEC_TYPES, TYPES
from windfall.space import Real
from windfall.specs import check_spec, describe, differences, from_spec, to_spec


def refused(spec, **options):
    """The message, in one line."""
    with pytest.raises(InputError) as error:
        from_spec(spec, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def only_input_errors(spec):
    for allowed in (False, True):
        message = ""
        try:
            value = from_spec(spec, allow_imports=allowed)
        except InputError as error:
            message = str(error)
        else:
            assert describe(value) == to_spec(value)  # what was read can be saved again
        assert "\n" not in message


KNOWN = sorted(SPEC_TYPES)


@given(json_values)
def test_random_json_is_refused_or_read(value):
    only_input_errors(value)


@given(st.sampled_from(KNOWN), st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_random_arguments_are_refused_or_read(name, arguments):
    only_input_errors({**arguments, "type": name})


def places(spec, path=()):
    yield path
    if isinstance(spec, dict | list):
        for key in spec if isinstance(spec, dict) else range(len(spec)):
            yield from places(spec[key], (*path, key))


def at(spec, path):
    for key in path:
        spec = spec[key]
    return spec


@st.composite
def mutated(draw):
    """A valid spec with one value replaced by another of its own or by anything, or left out."""
    spec = {"whole": quietly(to_spec)(draw(everything))}
    found = [place for place in places(spec) if place]
    place = draw(st.sampled_from(found))
    *path, last = place
    holder = at(spec, path)
    how = draw(st.sampled_from(["drop", "swap", "any", "type"]))
    if how == "drop" and path:
        del holder[last]
    elif how == "swap":
        holder[last] = copy.deepcopy(at(spec, draw(st.sampled_from(found))))
    elif how == "type":
        holder[last] = {"type": draw(st.sampled_from(KNOWN))}
    else:
        holder[last] = draw(json_values)
    return spec["whole"]


@settings(max_examples=300)
@given(mutated())
def test_mutated_specs_are_refused_or_read(spec):
    only_input_errors(spec)


@pytest.mark.parametrize("name", KNOWN)
def test_every_type_refuses_arguments_of_every_kind_with_words(name):
    from windfall.registry import find

    for wrong in ({"unheard_of": 1}, {"type": 5}, {"type": None}, {"local": True}):
        refused({"type": name, **wrong})
    make = getattr(find(name), "from_spec_arguments", None)
    if make is not None:
        assert "has no argument" in refused({"type": name})


HOSTILE = [
    "os:system",
    "posix:system",
    "builtins:eval",
    "builtins:exec",
    "subprocess:run",
    "windfall.cli:main",
    "windfall:simulate",
    "antigravity:fly",
    "own_parts:Stranger",
]


@pytest.mark.parametrize("home", HOSTILE)
def test_hostile_addresses_import_and_call_nothing(home):
    module = home.partition(":")[0]
    before, made = set(sys.modules), own_parts.Stranger.made
    for spec in (
        {"type": home},
        {"type": home, "command": "touch hostile"},
        {"function": home},
        {"type": "Custom", "function": {"function": home}, "parameters": []},
        {
            "type": "Parameters",
            "parameters": [["x", {"type": "Real", "low": 0, "high": 1}]],
            "constraints": [{"function": home}],
        },
    ):
        assert "allow_imports" in refused(spec)
    assert set(sys.modules) - before == set()
    assert module != "antigravity" or module not in sys.modules
    assert own_parts.Stranger.made == made


@pytest.mark.parametrize("home", [h for h in HOSTILE if not h.startswith("antigravity")])
def test_only_types_that_take_part_are_made_where_imports_are_allowed(home):
    made = own_parts.Stranger.made
    assert home in refused({"type": home}, allow_imports=True)
    assert own_parts.Stranger.made == made


@pytest.mark.parametrize(
    "home", ["os:system", "posix:system", "builtins:eval", "own_parts:jnp.sum"]
)
def test_functions_are_those_defined_where_the_address_says(home):
    assert "not defined there" in refused({"function": home}, allow_imports=True)


@pytest.mark.parametrize("name", sorted(TYPES.keys() - SPEC_TYPES.keys()))
def test_public_names_that_are_no_types_of_specs_are_not_called(name):
    assert "expected a type that can stand in a spec" in refused({"type": name})


def test_a_spec_is_checked_as_a_whole_before_anything_is_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "own_parts")
    spec = [{"function": "own_parts:brownian"}, {"type": "Matern5"}]
    assert refused(spec, allow_imports=True).startswith("spec[1].type is 'Matern5'")
    assert "own_parts" not in sys.modules


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"type": "GP", "kernel": {"type": "Matern5"}},
            "spec.kernel.type is 'Matern5' (did you mean 'Matern52'?); expected a type that can "
            "stand in a spec",
        ),
        (
            {"type": "Real", "low": 0},
            "spec has no argument 'high'; expected those of Real: low, high, log",
        ),
        ({"type": "VUCB", "kappa": -1}, "spec: kappa is -1; expected a finite number, 0 or more"),
        (
            {"type": "Policy", "acquisition": {"type": "Real", "low": 0, "high": 1}},
            "spec: acquisition is Real(0.0, 1.0); expected an object such as VUCB(kappa=1.0)",
        ),
        (
            {"type": "Sum", "left": "a", "right": 1},
            "spec: kernel is 'a'; expected a windfall kernel, a function k(x1, x2) or a number",
        ),
        (
            {"type": "AtMost", "coefficients": {"x": 1}, "bound": 1},
            "spec.coefficients is {'x': 1}; expected {'type': NAME, ...} or {'function': ADDRESS}",
        ),
        (
            {"type": "AtMost", "coefficients": [["x", 1], ["x", 2]], "bound": 1},
            "spec: coefficients is [['x', 1], ['x', 2]]; expected a list of [name, value], all "
            "names different",
        ),
        (
            {"function": "m:<lambda>", "local": True},
            "spec.function is 'm:<lambda>', known only to the process that described it; expected "
            "one that can be imported",
        ),
        ({"function": "sqrt"}, "spec.function is 'sqrt'; expected MODULE:NAME"),
        ([1.0, float("-inf")], "spec[1] is -inf; expected a finite number"),
        ([10**400], "spec[0] is a whole number beyond all floats; expected a finite number"),
        ({1: 2}, "spec is {1: 2}; expected {'type': NAME, ...} or {'function': ADDRESS}"),
        (object, "spec is <class 'object'>; expected what JSON can hold"),
    ],
)
def test_what_is_wrong_is_said(spec, message):
    assert refused(spec) == message


def test_modules_and_names_that_are_not_there_are_said():
    assert refused({"function": "no.such:thing"}, allow_imports=True) == (
        "spec: importing 'no.such:thing' fails with ModuleNotFoundError: No module named 'no'"
    )
    assert "has no attribute 'thing'" in refused({"function": "json:thing"}, allow_imports=True)
    assert "script that is run" in refused({"function": "__main__:f"}, allow_imports=True)
    assert "expected the address of a function" in refused(
        {"function": "own_parts:Tent"}, allow_imports=True
    )


def test_deep_nesting_is_refused_before_the_stack_is_full():
    deep = json.loads("[" * 500 + "]" * 500)
    assert refused(deep) == "spec is nested too deep; expected 64 levels at most"


def test_check_spec_makes_nothing():
    check_spec({"type": "Matern52", "lengthscale": -1.0})
    with pytest.raises(InputError, match="lengthscale is -1"):
        from_spec({"type": "Matern52", "lengthscale": -1.0})


def plain(value):
    """JSON whose equality Python agrees with: True is not 1, and nothing is NaN."""
    return json.dumps(value, sort_keys=True)


finite_json = json_values.filter(lambda value: "NaN" not in plain(value))


@given(finite_json, finite_json)
def test_differences_are_none_exactly_where_specs_are_the_same(one, other):
    assert differences(one, one) == []
    found, back = differences(one, other), differences(other, one)
    assert len(found) == len(back)
    if plain(one) != plain(other):
        same_numbers = one == other and not any(
            isinstance(at(one, p), bool) != isinstance(at(other, p), bool) for p in places(one)
        )
        assert bool(found) != same_numbers  # 1 is 1.0
    assert all("\n" not in line for line in found)


def test_differences_say_where():
    kinds = [Real(0, 1), Real(0, 2, log=False)]
    here, saved = ({"space": to_spec({"type": k, "b": 1}), "seed": 0} for k in kinds)
    assert differences(here, saved) == ["space.type.high: 1.0 here, 2.0 saved"]
    lw, v = {"type": "LWUCB", "kappa": 1.0}, {"type": "VUCB", "kappa": 2.0}
    assert differences({"policy": {"acquisition": lw}}, {"policy": {"acquisition": v}}) == [
        "policy.acquisition: LWUCB here, VUCB saved"
    ]
    f, g = {"function": "mine:f"}, {"function": "mine:g", "local": True}
    assert differences([f, None], [g, 0]) == [
        "[0]: mine:f here, mine:g saved",
        "[1]: None here, 0 saved",
    ]
    assert differences({"a": 1}, {"b": 1}) == [
        "a: 1 here, nothing saved",
        "b: nothing here, 1 saved",
    ]
    assert differences([["a", 1], ["b", 2]], [["b", 2], ["a", 1]]) == [
        "spec: in the order ['a', 'b'] here, ['b', 'a'] saved"
    ]
    assert differences(True, 1) == ["spec: True here, 1 saved"]
    assert differences([1, 2], [1]) == ["spec: 2 entries here, 1 saved"]
    assert differences(list(range(9)), [0] * 9)[-2:] == [
        "[5]: 5 here, 0 saved",
        "spec: 3 more differences",
    ]
