"""A long row of different programs must not use up the process's memory maps."""

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import windfall, jax, jax.numpy as jnp
from windfall.runtime import compilation as runtime

def maps():
    return sum(1 for _ in open("/proc/self/maps"))

def compile_some(first):
    for n in range(first, first + 20):
        jax.jit(lambda x, n=n: jnp.linalg.cholesky(jnp.exp(x * n) + n))(jnp.eye(n + 2))

compile_some(0)
before = maps()
compile_some(20)
grown = maps()
runtime.relieve_memory_maps()
assert maps() > 0.9 * grown, "plenty left, yet programs were forgotten"
limit = before // 2
class Limit(type(runtime.Path())):
    def read_text(self):
        return str(limit)
runtime.Path = Limit
runtime.relieve_memory_maps()
print(grown - before, grown - maps())
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="memory maps are Linux's")
def test_compiled_programs_are_forgotten_when_maps_run_short():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    growth, relief = map(int, done.stdout.split())
    assert growth > 0
    assert relief > 0.5 * growth
