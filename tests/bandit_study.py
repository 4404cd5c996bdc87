"""A small study that the tests of Bandit share."""

import numpy as np

#: One size for most tests, so that they share compiled programs.
ARMS = np.linspace(-3.0, 5.0, 60)[:, None]
PAYOFF = -((ARMS[:, 0] - 2.0) ** 2)


def play(bandit, rounds, payoff=PAYOFF, noise=0.0):
    """The arms chosen in so many rounds."""
    rng = np.random.default_rng(len(bandit.rewards))
    chosen = []
    for _ in range(rounds):
        choice = bandit.ask()
        bandit.tell(choice, float(payoff[choice.arm] + noise * rng.normal()))
        chosen.append(choice.arm)
    return chosen
