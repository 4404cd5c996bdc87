"""Draw the pictures of docs/policies.md: every policy's choice after the same six rewards."""

from pathlib import Path

import numpy as np

import windfall as wf
from windfall.policy import NAMES

ARMS = np.linspace(0.0, 1.0, 120)[:, None]
#: On both flanks of the broad hill, and at the foot of the narrow one.
TOLD = (6, 22, 40, 58, 77, 92)


def payoff(x: np.ndarray) -> np.ndarray:
    """Two hills: a broad one, and one that is narrow and pays three times as much."""
    return np.exp(-(((x - 0.25) / 0.15) ** 2)) + 3.0 * np.exp(-(((x - 0.9) / 0.05) ** 2))


def main() -> None:
    """Write one PNG per policy beside this file."""
    for name in NAMES:
        bandit = wf.Bandit(ARMS, policy=name, seed=0)
        for arm in TOLD:
            bandit.tell(arm, float(payoff(ARMS[arm, 0])))
        figure = wf.plot.decision(bandit, title=wf.plot.style.display(name))
        wf.plot.save(figure, Path(__file__).with_name(f"{name}.png"))


if __name__ == "__main__":
    main()
