"""obp's estimators on logs that windfall evaluated: a line of JSON in, a line of JSON out."""

import json
import sys
from importlib.metadata import version

import numpy as np
from obp.ope import (
    DirectMethod,
    DoublyRobust,
    InverseProbabilityWeighting,
    SelfNormalizedInverseProbabilityWeighting,
)


def answer(question: dict) -> dict:
    if not question:
        return {"versions": {name: version(name) for name in ("obp", "numpy")}}
    reward, pscore = np.array(question["reward"]), np.array(question["propensity"])
    action = np.array(question["arm"])
    logged = {"reward": reward, "action": action, "pscore": pscore}
    target = {"action_dist": np.array(question["probable"])[:, :, None]}
    model = {"estimated_rewards_by_reg_model": np.array(question["predicted"])[:, :, None]}
    return {
        "direct": float(DirectMethod().estimate_policy_value(**target, **model)),
        "ips": float(InverseProbabilityWeighting().estimate_policy_value(**logged, **target)),
        "snips": float(
            SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**logged, **target)
        ),
        "doubly_robust": float(DoublyRobust().estimate_policy_value(**logged, **target, **model)),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
