"""``import windfall`` is light and still offers every public name."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import windfall as wf
from windfall.registry import TYPES

INIT = Path(wf.__file__)


def python(code: str, **environment: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.endswith("NPROC")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=120, check=True, env=clean | environment,
    )  # fmt: skip
    return done.stdout.strip()


def test_import_leaves_jax_and_the_environment_alone():
    code = "import sys, os, windfall; print('jax' in sys.modules, os.environ.get('PJRT_NPROC'))"
    assert python(code) == "False None"


def test_every_public_name_is_there():
    for name in wf.__all__:
        assert getattr(wf, name) is not None
        assert name in dir(wf)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'bandit_'"):
        _ = wf.bandit_


def test_type_checkers_see_what_python_does():
    """The imports under TYPE_CHECKING name the same homes as the tables for Python."""
    declared = {}
    for node in ast.parse(INIT.read_text()).body:
        if isinstance(node, ast.If):
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                for alias in line.names:
                    declared[alias.name] = line.module
    modules = {name: home.rpartition(".")[0] for name, home in wf._MODULES.items()}
    homes = {name: TYPES[name].partition(":")[0] for name in TYPES.keys() & set(wf.__all__)}
    for name, home in homes.items():  # a room may pass on what its files define
        assert home.startswith(declared[name])
    assert declared.keys() == homes.keys() | modules.keys()
    assert {name: declared[name] for name in modules} == modules
    assert set(wf.__all__) - {"InputError", "NumericalError", "__version__"} == declared.keys()


@pytest.mark.parametrize(
    "first", ["import windfall.simulation", "import windfall.simulation.rollout", "pass"]
)
def test_simulate_is_the_function_whatever_was_imported_first(first):
    code = f"{first}\nimport windfall as wf\nprint(type(wf.simulate).__name__)"
    assert python(code) == "function"
