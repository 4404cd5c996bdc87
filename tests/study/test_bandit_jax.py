"""Bandit and JAX: the user's settings stay, and little is compiled."""

import os
import subprocess
import sys

import jax
from bandit_study import ARMS, PAYOFF

import windfall as wf

USER_CODE = """
import jax, jax.numpy as jnp, numpy as np
before = dict(jax.config.values)
mine = jnp.arange(3.0)
import windfall as wf
bandit = wf.Bandit(np.linspace(0, 1, 12)[:, None], "v-ucb", seed=0)
for _ in range(5):
    choice = bandit.ask()
    bandit.tell(choice, mine[0] + 0.1 * choice.arm)
bandit.explain()
assert not jax.config.jax_enable_x64
assert {k for k, v in before.items() if jax.config.values[k] != v} == set()
assert mine.dtype == jnp.arange(3.0).dtype == (mine + 1.5).dtype == jnp.float32
assert jax.jit(jnp.sin)(mine).dtype == jnp.float32
assert jax.random.normal(jax.random.key(0)).dtype == jnp.float32
print("untouched")
"""


def test_a_users_own_jax_is_left_alone():
    environment = {k: v for k, v in os.environ.items() if k != "JAX_ENABLE_X64"}
    done = subprocess.run(
        [sys.executable, "-c", USER_CODE],
        capture_output=True,
        text=True,
        timeout=200,
        env=environment,
        check=False,
    )
    assert done.stdout.strip() == "untouched", done.stderr


def test_compiles_a_handful_of_programs_per_bucket():
    """Thirty rounds through two buckets; anything per round would show."""
    compiled: dict[str, int] = {}
    settings = wf.Policy(wf.VUCB(), wf.GP(fit=wf.Fit(restarts=1)))  # as no other test has them

    def listen(event: str, duration: float, fun_name: str = "", **_) -> None:
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            compiled[fun_name] = compiled.get(fun_name, 0) + 1

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        bandit = wf.Bandit(ARMS, settings, seed=0)
        for arm in range(30):  # every arm is new, so that the buckets 16 and 32 are met
            bandit.ask()
            bandit.tell(arm, PAYOFF[arm])
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert bandit._decider._note(bandit._record).capacity == 32
    assert sum(compiled.values()) > 0
    assert sum(compiled.values()) <= 4 * 2 + 4, compiled  # and a few for the random key
