"""An arm that pays well in every context does not end the search for better ones in some."""

import numpy as np

import windfall as wf


def pays(arm: int, z: float) -> float:
    """Arm 0 is safe; where z is high, arm 2 pays far more."""
    return 1.2 if arm == 0 else 20.0 if arm == 2 and z > 0.75 else 1.0


def test_a_windfall_in_some_contexts_is_found_and_kept():
    rng, outside = np.random.default_rng(0), []
    bandit = wf.Bandit(np.eye(3), context={"z": (0.0, 1.0)}, seed=0)
    for z in rng.random(50):
        choice = bandit.ask(context=[z])
        bandit.tell(choice, pays(choice.arm, z) + 0.01 * rng.normal())
        if z > 0.75:
            outside.append(choice.arm)
    late = np.array(outside[-4:])
    assert np.mean(late == 2) >= 0.75, outside
