"""A small study on a box that the tests of Bandit share."""

import windfall as wf

BOX = wf.Box([-1.0, 10.0], [3.0, 20.0], names=["dose", "heat"])
#: Small settings, so that programs are quick to compile and to run.
GP = wf.GP(fit=wf.Fit(restarts=1, iterations=20))
VUCB = wf.Policy(wf.VUCB(kappa=1.0), GP)


def payoff(dose: float, heat: float) -> float:
    """Highest, 0, at dose 2 and heat 12."""
    return -((dose - 2.0) ** 2) - ((heat - 12.0) / 4.0) ** 2


def play(bandit: wf.Bandit, rounds: int) -> list[dict]:
    """The parameters chosen in so many rounds."""
    chosen = []
    for _ in range(rounds):
        choice = bandit.ask()
        bandit.tell(choice, payoff(**choice.parameters))
        chosen.append(choice.parameters)
    return chosen
