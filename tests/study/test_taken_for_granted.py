"""An arm that pays well in every context does not end the search for better ones in some."""

import numpy as np

import windfall as wf


def pays(arm: int, z: float) -> float:
    """Arm 0 is safe; where z is high, arm 2 pays far more."""
    return 1.2 if arm == 0 else 20.0 if arm == 2 and z > 0.75 else 1.0


def outside(seed: int) -> list[int]:
    """The arms chosen where another one than the safe one pays, in 50 rounds."""
    rng, chosen = np.random.default_rng(seed), []
    bandit = wf.Bandit(np.eye(3), context={"z": (0.0, 1.0)}, seed=seed)
    for z in rng.random(50):
        choice = bandit.ask(context=[z])
        bandit.tell(choice, pays(choice.arm, z) + 0.01 * rng.normal())
        if z > 0.75:
            chosen.append(choice.arm)
    return chosen


def test_a_windfall_in_some_contexts_is_found_and_kept():
    # A dozen contexts of 50 pay, few of them are looked at: now and then none with the right arm.
    late = [np.mean(np.array(outside(seed)[-4:]) == 2) for seed in range(3)]
    assert sum(share >= 0.75 for share in late) >= 2, late
