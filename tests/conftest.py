"""What every test runs under: checked shapes, fixed examples, a warm compiler, no display."""

import os
from pathlib import Path

import hypothesis
import jaxtyping
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

# Environment variables, so that the processes that tests start inherit them.
os.environ["MPLBACKEND"] = "agg"
# `make test-portable` keeps what is compiled for other processors apart.
CACHE = ROOT / os.environ.get("WINDFALL_TEST_CACHE", ".cache")
os.environ["WINDFALL_CACHE"] = str(CACHE)  # windfall's own cache of compiled programs...
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(CACHE / "jax")  # ...and that of other code
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
# A pool of workers inside a test worker would wait for cores that are not there. Tests of pools
# say how many workers they want.
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")
# Nearly all of the tests' time is compilation, and half of that was spent on a way of writing fused
# loops that gains nothing here: the programs run as fast without it. A program is also compiled in
# one piece: pieces can be compiled side by side, but the other cores run tests already.
FLAGS = os.environ.get("XLA_FLAGS", "").split()
for flag, value in (("use_fusion_emitters", "false"), ("parallel_codegen_split_count", "1")):
    if not any(flag in given for given in FLAGS):  # a test worker inherits it
        FLAGS.append(f"--xla_cpu_{flag}={value}")
os.environ["XLA_FLAGS"] = " ".join(FLAGS)

# Every shape and type in an annotation of windfall is checked at every call. It has to be arranged
# before windfall is imported; WINDFALL_TYPECHECK=0 leaves it out.
if os.environ.get("WINDFALL_TYPECHECK", "1") != "0":
    jaxtyping.install_import_hook("windfall", "beartype.beartype")

# Before anything imports JAX: windfall guards against its thread-pool deadlock while it still can.
import windfall  # noqa: E402, F401

hypothesis.settings.register_profile(
    "windfall",
    derandomize=True,
    deadline=None,  # the first example compiles
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # for the same reason
)
hypothesis.settings.load_profile("windfall")


@pytest.fixture(scope="session", autouse=True)
def _stop_the_server():
    """The PostgreSQL server, where a test has started it."""
    yield
    from store_kinds import server

    if server.cache_info().currsize:
        server().__exit__(None, None, None)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the checkout with real data and reference results, where there is one."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no folder 'shared' beside the checkout")
    return folder


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory) -> Path:
    """Nine sensors, four snapshots."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(5)
    readings = 20 + rng.normal(size=(4, 9))
    np.savez(folder / "temperature.npz", locations=rng.uniform(0, 9, (9, 2)), readings=readings)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_warming():
    """Tests leave studies lying about that nobody will ever ask again."""
    from windfall.study import warming

    warming.PATIENCE = float("inf")


@pytest.fixture(scope="module", autouse=True)
def _enough_memory_maps():
    """A test process compiles more programs than any user; it must not run out of memory maps."""
    from windfall.runtime.compilation import relieve_memory_maps

    relieve_memory_maps()


@pytest.fixture(name="windfall")
def _windfall():
    """Call ``windfall ARGUMENTS``: gives exit_code, stdout, stderr and exception."""
    from typer.testing import CliRunner

    from windfall.cli import app

    def call(*arguments: object):
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="windfall")

    return call
