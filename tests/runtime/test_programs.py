"""Compiled programs: what they answer, compile and keep."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from windfall.runtime import cache
from windfall.runtime.cache import compilation_cache
from windfall.runtime.programs import Program, rehearsing
from windfall.space.fill import slack


class Labelled(eqx.Module):
    """Arrays and what is not one."""

    value: jax.Array
    label: str
    power: int = eqx.field(static=True)


def raised(thing, base):
    return Labelled(base**thing.power * thing.value, thing.label, thing.power)


@pytest.fixture
def built(monkeypatch):
    """How often something was lowered to be compiled or found."""
    calls = []
    original = cache.compiled

    def counted(*arguments):
        calls.append(threading.get_ident())
        return original(*arguments)

    monkeypatch.setattr(cache, "compiled", counted)
    return calls


def test_arrays_change_freely_and_settings_make_another_program(built):
    run = Program(raised)
    for power, label in [(2, "a"), (2, "a"), (3, "a"), (3, "b")]:
        for value in (1.0, 2.0):
            answer = run(Labelled(np.array([value]), label, power), np.float64(3.0))
            np.testing.assert_array_equal(answer.value, [value * 3.0**power])
            assert (answer.label, answer.power) == (label, power)
            assert answer.value.dtype == np.float64
    assert len(built) == 3
    run(Labelled(np.ones(2), "a", 2), np.float64(3.0))
    assert len(built) == 4  # another shape
    run.forget()
    run(Labelled(np.ones(2), "a", 2), np.float64(3.0))
    assert len(built) == 5


def test_what_is_handed_on_is_the_very_array_and_no_part_of_the_program():
    def first_of_two(thing, other):
        return thing, other.value + 1.0, Labelled(other.value, other.label, 2)

    run, given = Program(first_of_two), [Labelled(np.arange(n), "x", 1) for n in (2.0, 3.0)]
    for _ in range(2):
        same, more, turned = run(*given)
        assert same.value is given[0].value
        assert turned.value is given[1].value
        assert (turned.label, turned.power) == ("x", 2)
        np.testing.assert_array_equal(more, given[1].value + 1.0)
    (traced,) = run._traced.values()
    assert [out.shape for out in traced._shapes] == [(3,)]


def test_inside_another_program_it_is_the_function(built):
    run = Program(lambda x: jnp.sum(x**2))
    np.testing.assert_allclose(jax.grad(lambda x: run(x))(jnp.arange(3.0)), [0.0, 2.0, 4.0])
    assert not built


def test_threads_that_need_the_same_program_compile_it_once(built):
    run = Program(lambda x: jnp.cumsum(jnp.sin(x)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run(np.arange(5.0)), range(8)))
    assert len(built) == 1
    np.testing.assert_allclose(answers, np.tile(np.cumsum(np.sin(np.arange(5.0))), (8, 1)))


def test_what_was_rehearsed_is_compiled_beside_and_once(built):
    """Zeros of the right kind, keys among them, lead from one program to the next."""
    draw = Program(lambda key: (jax.random.split(key), jax.random.normal(key, (3,))))
    shift = Program(lambda key, x: x + jax.random.uniform(key))

    def both(key):
        keys, x = draw(key)
        return keys, x, shift(keys[0], x)

    with rehearsing():
        _, x, shifted = both(jax.random.key(1))
    np.testing.assert_array_equal([x, shifted], np.zeros((2, 3)))
    keys, x, shifted = both(jax.random.key(1))
    assert len(built) == 2
    with jax.enable_x64(True):
        np.testing.assert_array_equal(x, jax.random.normal(jax.random.key(1), (3,)))
        np.testing.assert_allclose(shifted, x + jax.random.uniform(keys[0]), rtol=1e-15)


@pytest.fixture
def no_jax_cache():
    """As for most users: without the cache that JAX has in tests."""
    folder = jax.config.jax_compilation_cache_dir
    assert folder
    jax.config.update("jax_compilation_cache_dir", None)
    reset_cache()
    yield
    jax.config.update("jax_compilation_cache_dir", folder)
    reset_cache()


@pytest.fixture
def kept(tmp_path, monkeypatch, no_jax_cache):
    """The files of a cache of one's own."""
    monkeypatch.setattr(cache, "_chosen", [tmp_path])
    return lambda: sorted(path for path in tmp_path.rglob("*") if path.is_file())


def compiled_events(action) -> int:
    """How often XLA compiled while something was done."""
    events = []

    def listen(event: str, duration: float, **_) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            events.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        action()
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    return len(events)


def wave(x):
    return jnp.sin(3.0 * x) + jnp.linalg.cholesky(jnp.eye(3) * (1.0 + x[0] ** 2)).sum()


def test_what_was_compiled_is_kept_and_found_whole(kept):
    x = np.linspace(0.0, 1.0, 7)
    run = Program(wave)
    assert compiled_events(lambda: run(x)) == 1
    (path,) = kept()
    again = Program(wave)
    assert compiled_events(lambda: again(x)) == 0
    np.testing.assert_array_equal(again(x), run(x))
    for damage in (b"", path.read_bytes()[:1000], b"nonsense"):
        path.write_bytes(damage)
        mended = Program(wave)
        assert compiled_events(lambda mended=mended: mended(x)) == 1
        np.testing.assert_array_equal(mended(x), run(x))
    assert kept() == [path]  # nothing half-written is left beside it
    assert compiled_events(lambda: Program(wave)(x)) == 0


def test_constraints_are_told_apart_by_what_they_compute(kept):
    """Not by their names, which tell nothing, nor by their addresses, which change."""
    x = np.linspace(0.0, 1.0, 5)[:, None]

    def above(bound):
        return [lambda p: p["x"] - bound]

    assert compiled_events(lambda: slack(("x",), above(0.5), x)) == 1
    assert compiled_events(lambda: slack(("x",), above(0.5), x)) == 0
    np.testing.assert_array_equal(slack(("x",), above(0.25), x), x[:, 0] - 0.25)
    assert len(kept()) == 2


@pytest.mark.usefixtures("no_jax_cache")
def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setattr(cache, "_chosen", [file])
    assert Program(lambda x: x + 17.0)(np.ones(2)).tolist() == [18.0, 18.0]


@pytest.mark.usefixtures("no_jax_cache")
def test_where_programs_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_chosen", [])
    monkeypatch.setenv("WINDFALL_CACHE", str(tmp_path))
    assert compilation_cache() == tmp_path
    monkeypatch.setenv("WINDFALL_CACHE", "")
    assert cache.folder() is None
    assert compilation_cache(tmp_path / "other") == tmp_path / "other"
    folder = cache.folder()
    assert folder is not None
    assert folder.is_relative_to(tmp_path / "other")
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    assert cache.folder() is None  # one cache is enough


def test_a_compiler_without_the_option_still_compiles(monkeypatch):
    monkeypatch.setattr(cache, "CPU_OPTIONS", {"xla_no_such_option": True})
    monkeypatch.setattr(cache, "_ACCELERATOR_OPTIONS", {"xla_no_such_option": True})
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert Program(lambda x: x - 19.0)(np.ones(1)).tolist() == [-18.0]


STUDY = """
import json, sys
import jax.monitoring, numpy as np, windfall as wf
from windfall.study import warming
warming.PATIENCE = float("inf")
events = []
jax.monitoring.register_event_duration_secs_listener(lambda name, d, **_: events.append(name))
chosen = []
line = wf.Parameters({"x": wf.Real(0, 1)}, constraints=[lambda p: p["x"] - 0.1])
for space in (np.linspace(0, 1, 7)[:, None], line):
    policy = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1, iterations=5)))
    bandit = wf.Bandit(space, policy, seed=1, initial=2)
    for _ in range(4):
        choice = bandit.ask()
        bandit.tell(choice, float(np.sin(5 * choice.features[0])))
        chosen.append(choice.features.tolist())
compiled = events.count("/jax/core/compile/backend_compile_duration")
print(json.dumps([chosen, compiled]))
"""


def test_a_second_process_of_the_same_study_compiles_nothing_and_chooses_the_same(tmp_path):
    kept = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    env = kept | {"WINDFALL_CACHE": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", STUDY], env=env, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    (cold, some), (warm, none) = map(json.loads, outputs)
    assert cold == warm
    assert some > 0
    assert none == 0
    assert not list(Path(tmp_path).rglob(".windfall-*"))
