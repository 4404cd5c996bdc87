"""No user meets the deadlock of XLA's thread pool, and nobody's settings are changed for good."""

import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lapack_calls import batches

import windfall as wf
from windfall.policy import as_policy, learn
from windfall.runtime import threads
from windfall.space import Arms

BAYES = wf.GP(fit=wf.Bayes(samples=3, warmup=20, thinning=1))

#: Batched Cholesky factors that run side by side: without the guard this hangs within seconds on
#: two cores with jaxlib 0.10 (seven of eight runs), and takes about ten seconds where it does not.
WEDGE = """
    import {first}
    import windfall
    import jax, jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    def step(_, gram):
        factors = [jnp.linalg.cholesky(gram + (k + 1) * jnp.eye(64)) for k in range(8)]
        return gram + 1e-9 * sum(factor @ factor.T for factor in factors)
    wedge = jax.jit(jax.vmap(lambda gram: jax.lax.fori_loop(0, 600, step, gram)))
    root = jax.random.normal(jax.random.key(0), (16, 64, 64))
    print(float(wedge(root @ root.swapaxes(1, 2)).sum()))
"""
#: What windfall would play as one batch, in a process whose JAX was started without the guard.
LATE = """
    import jax
    jax.numpy.ones(3).block_until_ready()
    import numpy as np, windfall as wf
    from windfall.runtime.threads import wedge_possible
    assert wedge_possible() == (jax.local_device_count() > 0)
    arms = np.linspace(0, 1, 80)[:, None]
    problem = wf.Problem(arms=arms, payoff=lambda x: np.sin(9 * x[:, 0]))
    result = wf.simulate(problem, "lw-ucb", rounds=13, trials=4, batch=4, workers=1)
    assert result.settings["batch"] == 0
    print(result.median[-1])
"""

#: How many threads XLA's pool has, and whether windfall takes it for one that could wedge.
POOL = """
    import {first}
    import os, windfall, jax
    from windfall.runtime.threads import wedge_possible
    jax.numpy.ones(3).block_until_ready()
    tasks = os.listdir("/proc/self/task")
    names = [open(f"/proc/self/task/{{task}}/comm").read() for task in tasks]
    print(sum("XLAEigen" in name for name in names), wedge_possible())
"""
CHILDREN = """
    import os, subprocess, sys
    def child():
        code = "import os; print(os.environ.get('NPROC'), os.environ.get('PJRT_NPROC'))"
        subprocess.run([sys.executable, "-c", code], check=True)
    import windfall
    child()
    import jax
    child()
    jax.numpy.ones(3).block_until_ready()
    child()
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    clean = {k: v for k, v in os.environ.items() if k not in ("NPROC", "PJRT_NPROC")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=clean | environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("first", ["windfall", "jax"])
def test_the_wedging_workload_ends(first):
    done = run(WEDGE.format(first=first))
    assert done.returncode == 0, done.stderr


def test_windfall_itself_never_wedges_even_when_jax_was_started_before_it():
    done = run(LATE)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
@pytest.mark.parametrize("first", ["windfall", "jax"])
def test_xlas_pool_has_one_thread_or_as_many_as_the_user_has_set(first):
    code = POOL.format(first=first)
    assert run(code).stdout.split() == ["1", "False"]
    assert run(code, NPROC="4").stdout.split() == ["4", "True"]
    assert run(code, PJRT_NPROC="3").stdout.split() == ["3", "True"]
    assert run(code, PJRT_NPROC="1", NPROC="3").stdout.split() == ["1", "False"]


def test_a_child_process_gets_the_environment_that_the_user_has_set():
    """Before JAX is imported, before it computes, and after."""
    assert run(CHILDREN).stdout.split() == ["None", "None"] * 3
    assert run(CHILDREN, NPROC="4").stdout.split() == ["4", "None"] * 3
    assert run(CHILDREN, PJRT_NPROC="3").stdout.split() == ["None", "3"] * 3


def test_a_jax_that_keeps_its_clients_elsewhere_is_guarded_by_the_environment(monkeypatch):
    monkeypatch.setattr("os.environ", {})
    assert threads._guard_client(object())
    assert os.environ == {"PJRT_NPROC": "1"}


def test_the_environment_of_blas_is_left_as_it_was():
    code = "import os, windfall.runtime.execution; print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    assert run(code, OPENBLAS_NUM_THREADS="2").stdout.split() == ["2"]
    clean = "import os; os.environ.pop('OPENBLAS_NUM_THREADS', None); " + code.removeprefix(
        "import os, "
    ).replace("windfall.runtime.execution;", "import os, windfall.runtime.execution;")
    assert run(clean).stdout.split() == ["None"]


@pytest.mark.parametrize("first", ["scipy.linalg", "jax", "windfall.runtime.execution"])
def test_scipys_blas_has_one_thread_whoever_came_first(first):
    """Or as many as the user has set; NumPy's own, where it has one, keeps its threads."""
    code = f"""
        import os, numpy, threadpoolctl
        os.environ.pop("OPENBLAS_NUM_THREADS") if not {{user}} else None
        import {first}, windfall.runtime.execution
        for library in threadpoolctl.threadpool_info():
            if library["internal_api"] == "openblas" and "numpy.libs" not in library["filepath"]:
                print(library["num_threads"])
    """
    for user, count in ((False, "1"), (True, "2")):
        done = run(code.format(user=user), OPENBLAS_NUM_THREADS="2")
        assert done.returncode == 0, done.stderr
        assert set(done.stdout.split()) == {count}


@pytest.mark.parametrize(
    "policy",
    [
        *map(as_policy, ("lw-ucb", "ts", "ei")),
        wf.Policy(wf.LWUCB(components=2, points=64), BAYES),
        wf.Policy(wf.TS(), BAYES),
    ],
    ids=["lw-ucb", "ts", "ei", "lw-ucb, full Bayes", "ts, full Bayes"],
)
def test_no_program_of_windfall_has_batched_linear_algebra_on_a_cpu(policy):
    """A LAPACK call with a batch of one never splits, so it cannot wait for others."""

    def round(state):
        return policy.select(learn(policy.model, state))[0]

    with jax.enable_x64(True):
        space = Arms(np.random.default_rng(0).uniform(size=(50, 2)))
        state = policy.begin(jax.random.key(0), space, capacity=64)
        assert set(batches(round, state)) == {1}


def test_batched_linear_algebra_would_be_noticed():
    def solve(matrix):
        return jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(matrix), jnp.ones(4))

    with jax.enable_x64(True):
        assert batches(solve, np.eye(4)) == [1, 1]
        assert batches(jax.vmap(solve), np.stack([np.eye(4)] * 3)) == [3, 3]
