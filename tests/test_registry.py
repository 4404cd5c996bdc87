"""The table of names: every name leads somewhere, and to the right place."""

import importlib
import subprocess
import sys

import pytest

import windfall
from windfall.errors import InputError
from windfall.policy import as_policy
from windfall.registry import BASES, DEFAULT_POLICY, POLICIES, SPEC_TYPES, TYPES, find


@pytest.mark.parametrize("name", SPEC_TYPES)
def test_a_type_is_found_where_it_is_defined(name):
    """Writing a spec looks types up by where they are defined."""
    cls = find(name)
    assert isinstance(cls, type)
    assert TYPES[name] == f"{cls.__module__}:{cls.__qualname__}"
    assert cls.__qualname__ == name.removeprefix("means.")


@pytest.mark.parametrize("name", sorted(TYPES.keys() & set(windfall.__all__)))
def test_everything_public_has_a_name(name):
    assert find(name) is getattr(windfall, name)


@pytest.mark.parametrize("home", BASES)
def test_bases_are_where_the_table_says(home):
    module, _, name = home.partition(":")
    cls = getattr(importlib.import_module(module), name)
    assert (cls.__module__, cls.__qualname__) == (module, name)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_by_name_are_those_of_the_library(name):
    assert repr(find(POLICIES[name])()) == repr(as_policy(name).acquisition)


def test_the_default_policy_is_that_of_the_library():
    assert repr(find(POLICIES[DEFAULT_POLICY])()) == repr(as_policy().acquisition)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("matern52", " (did you mean 'Matern52'?)"),
        ("LWUBC", " (did you mean 'LWUCB'?)"),
        ("GPUCB.scale", ""),
        ("os:system", ""),
        ("", ""),
    ],
)
def test_unknown_names_are_told_with_a_guess(name, hint):
    with pytest.raises(InputError) as error:
        find(name)
    if hint:
        assert str(error.value) == f"type is {name!r}{hint}; expected a name that windfall knows"
    assert str(error.value).startswith(f"type is {name!r}")


def test_names_and_plain_specs_cost_no_jax():
    program = """
import sys
import windfall.registry, windfall.specs
from windfall.specs import check_spec, differences, from_spec, to_spec
spec = {"type": "Box", "lower": [0.0], "upper": [1.0], "names": ["x"], "constraints": []}
assert to_spec(from_spec(spec)) == spec
policy = {"type": "Policy", "acquisition": {"type": "VUCB", "kappa": 1.0}}
check_spec(policy)
assert differences(policy, policy) == []
print([name for name in ("jax", "equinox", "scipy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
