"""Draw the picture of docs/guides/contexts.md: which dose is believed best at which temperature."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import windfall as wf

DOSES = np.linspace(0.0, 10.0, 41)[:, None]
HEATS = np.linspace(15.0, 35.0, 41)


def best_dose(heat):
    """The warmer it is, the less is needed."""
    return 9.0 - 0.3 * (np.asarray(heat) - 15.0)


def main() -> None:
    """Write the PNG beside the other pictures."""
    bandit, rng = wf.Bandit(DOSES, context=["heat"], seed=0), np.random.default_rng(0)
    for heat in rng.uniform(15.0, 35.0, 30):
        choice = bandit.ask(context=[heat])
        bandit.tell(choice, -((choice.features[0] - best_dose(heat)) ** 2))
    mean = np.stack([bandit.posterior(context=[heat])[0] for heat in HEATS], axis=1)
    told = [(pull.context[0], DOSES[pull.point, 0]) for pull in bandit._record.told]
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    picture = axes.pcolormesh(HEATS, DOSES[:, 0], mean, shading="nearest", cmap="viridis")
    axes.plot(HEATS, best_dose(HEATS), color="white", linewidth=1.0, label="best dose")
    axes.scatter(*zip(*told, strict=True), s=14, color="black", label="told")
    axes.set(xlabel="heat (context)", ylabel="dose (arms)")
    axes.legend(loc="lower left", framealpha=0.8)
    figure.colorbar(picture, label="predicted mean")
    wf.plot.save(figure, Path(__file__).parents[1] / "img" / "contexts.png")


if __name__ == "__main__":
    main()
