"""A long list on four devices leads to the choice of one; in a process that has four."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from policies import FEW

TESTS = Path(__file__).parents[1]
#: Each policy chooses on one device and on four.
SCRIPT = """
import dataclasses, json, sys
import jax, numpy as np
import windfall as wf
from models.gp.believing import studying
from models.gp.naive import observed, pulls
from policies import small
from windfall.models.gp.evidence import Hyper
from windfall.models.gp.kernels import Matern52
from windfall.space import Arms
from windfall.study import compiled

features = np.random.default_rng(0).uniform(size=(33_001, 2))  # four parts are not equal
hyper = Hyper(Matern52(0.3), np.float64(0.05))
found = {}
with jax.enable_x64(True):
    for name in sys.argv[1:]:
        policy = wf.Policy(small(name))
        state = studying(policy, Arms(features), hyper, observed(*pulls(True)))
        spread = dataclasses.replace(state, candidates=state.candidates.placed())
        avoid = compiled.padded(state.candidates.arms[[7, 33_000]], np.nan)
        both = [compiled.select(policy, s, avoid, np.int32(0)) for s in (state, spread)]
        chosen = [[int(arm), float(info.score), bool(info.healthy)] for arm, info in both]
        found[name] = [*chosen, spread.candidates.mesh.size, spread.candidates.size]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    env = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-c", SCRIPT, *FEW]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", FEW)
def test_four_devices_choose_what_one_chooses(found, name):
    one, four, devices, size = found[name]
    assert (devices, size) == (4, 33_001)
    assert one[0] == four[0]
    assert one[1] == pytest.approx(four[1], rel=1e-12)
    assert one[2]
    assert four[2]
