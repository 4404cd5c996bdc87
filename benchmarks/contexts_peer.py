"""MABWiser's LinUCB and LinTS on rounds of the wheel: a line of JSON in, a line of JSON out."""

import json
import sys
from importlib.metadata import version

import numpy as np
from mabwiser.mab import MAB, LearningPolicy


def answer(question: dict) -> dict:
    """The arms that a policy pulls; each arm once first, as MABWiser must have seen some rewards.

    The context has a constant beside it: without one a linear model cannot even say "always 1".
    """
    if not question:
        return {"versions": {name: version(name) for name in ("mabwiser", "numpy")}}
    rewards = np.array(question["rewards"])
    contexts = np.concatenate([np.ones((len(rewards), 1)), question["contexts"]], axis=1)
    learning = getattr(LearningPolicy, question["policy"])(alpha=question["alpha"])
    count = rewards.shape[1]
    mab = MAB(list(range(count)), learning, seed=question["seed"])
    arms = list(range(count))
    mab.fit(arms, rewards[np.arange(count), arms], contexts[:count])
    for t in range(count, len(rewards)):
        arm = mab.predict(contexts[t : t + 1])
        mab.partial_fit([arm], [rewards[t, arm]], contexts[t : t + 1])
        arms.append(int(arm))
    return {"arms": arms}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
