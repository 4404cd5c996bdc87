"""How often the default finds one of four jackpots among 144 arms in 60 pulls.

    python -m benchmarks.jackpots [--first SEED] [--seeds N] [--land NAME ...]

Arms on a grid of 12 by 12, jackpots wherever a seed puts them: until one is found no reward says
where they are, so that nothing can do better than 60 different arms, which find one with the
probability 1 − C(140, 60)/C(144, 60) = 0.888. What is missing to that was spent on repeats.
"""

import argparse
import time

import numpy as np

import windfall as wf

SIDE = np.linspace(0.0, 1.0, 12)
ARMS = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
PULLS, JACKPOTS = 60, 4


def zeros(rng: np.random.Generator) -> np.ndarray:
    del rng
    return np.zeros(len(ARMS))


def exponential(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.uniform(size=len(ARMS)) > 0.9, rng.exponential(size=len(ARMS)), 0.0)


def lognormal(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.uniform(size=len(ARMS)) > 0.9, rng.lognormal(size=len(ARMS)), 0.0)


#: What the other arms pay, what a jackpot pays, and the noise.
LANDS = {
    "equal": (zeros, 1.0, 0.0),
    "noise": (zeros, 1.0, 1e-3),
    "exponential": (exponential, 20.0, 0.0),
    "lognormal": (lognormal, 20.0, 0.0),
}


def played(land: str, seed: int) -> tuple[bool, int]:
    """Whether a study found a jackpot, and how many pulls it spent on arms that it had tried."""
    others, jackpot, noise = LANDS[land]
    rng = np.random.default_rng([seed, 7])
    where = rng.choice(len(ARMS), JACKPOTS, replace=False)
    payoff = others(rng)
    payoff[where] = jackpot
    bandit, tried = wf.Bandit(ARMS, seed=seed), []
    for _ in range(PULLS):
        choice = bandit.ask()
        tried.append(choice.arm)
        if choice.arm in where:
            return True, len(tried) - len(set(tried))
        bandit.tell(choice, float(payoff[choice.arm] + noise * rng.standard_normal()))
    return False, len(tried) - len(set(tried))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--land", nargs="*", choices=LANDS, default=[*LANDS])
    given = parser.parse_args()
    for land in given.land:
        begin = time.process_time()
        studies = [played(land, given.first + i) for i in range(given.seeds)]
        found = np.mean([one for one, _ in studies])
        error = np.sqrt(found * (1.0 - found) / given.seeds)
        stuck = sum(repeats > 3 for one, repeats in studies if not one)
        seconds = time.process_time() - begin
        print(
            f"{land}: found {found:.3f} ({error:.3f}) of {given.seeds}; "
            f"{stuck} misses with more than three repeats; {seconds:.0f} s of CPU"
        )


if __name__ == "__main__":
    main()
