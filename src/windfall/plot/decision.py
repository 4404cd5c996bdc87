"""How a policy decides: what the model believes about arms on a line, and how each is valued."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from windfall.errors import InputError
from windfall.plot.style import COLOURS, styled

if TYPE_CHECKING:
    from windfall.study.bandit import Bandit

__all__ = ["decision"]


@styled
def decision(bandit: "Bandit", title: str = "") -> Figure:
    """The model of a study with one feature, the score of every arm, and the next choice.

    Above, the predicted payoff with a band of ± one deviation and the mean rewards so far. Below,
    the score that the policy maximises, and the attention that it pays where it pays any.

    Args:
        bandit: A study on arms with one feature, after the initial arms.
        title: Above the figure.

    Example:
        >>> import numpy as np
        >>> import windfall as wf
        >>> bandit = wf.Bandit(np.linspace(0.0, 1.0, 30)[:, None], seed=0)
        >>> for arm in (3, 11, 24):
        ...     bandit.tell(arm, np.sin(arm))
        >>> [ax.get_ylabel() for ax in decision(bandit).axes[:2]]
        ['payoff', 'score']
    """
    arms = bandit.arms
    if arms is None or arms.shape[1] != 1:
        features = "a box" if arms is None else f"{arms.shape[1]} features"
        raise InputError(f"bandit has {features}; expected arms with one feature")
    x, order = arms[:, 0], np.argsort(arms[:, 0], kind="stable")
    beliefs, choice = bandit.explain(), bandit.ask()
    mean, std, score = (beliefs[k][order] for k in ("mean", "std", "acquisition"))
    figure = Figure(figsize=(5.6, 3.9), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    above.fill_between(x[order], mean - std, mean + std, color=COLOURS["v-ucb"], alpha=0.15, lw=0)
    above.plot(x[order], mean, color=COLOURS["v-ucb"], lw=1.8, label="predicted ± deviation")
    told = bandit._record.means()
    rewards = [reward for reward, _ in told.values()]
    above.plot(x[np.array(list(told))], rewards, "o", ms=5, color="black", label="mean reward")
    below.plot(x[order], score, color=COLOURS["gp-ucb"], lw=1.8)
    below.set_ylim(*_worth_seeing(score))
    for ax in (above, below):
        ax.axvline(x[choice.arm], color=COLOURS["lw-ucb"], lw=1.5, ls=(0, (4, 2)))
    above.plot([], [], color=COLOURS["lw-ucb"], ls=(0, (4, 2)), label="next choice")
    above.legend(frameon=False, fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    above.set(ylabel="payoff")
    above.set_title(title, pad=24)
    below.set(xlabel=bandit.names[0], ylabel="score")
    if np.ptp(beliefs["ratio"]) > 0:
        _attention(below.twinx(), x[order], beliefs["ratio"][order])
    return figure


def _worth_seeing(score: np.ndarray) -> tuple[float, float]:
    """Limits of the score's axis: log EI falls without end at arms that are known.

    Example:
        >>> _worth_seeing(np.array([0.0, 1.0, 2.0, -1e6]))[0] > -10
        True
    """
    top, middle = float(score.max()), float(np.median(score))
    bottom = max(float(score.min()), middle - 2.0 * (top - middle))
    margin = 0.08 * ((top - bottom) or abs(top) or 1.0)
    return bottom - margin, top + margin


def _attention(ax, x: np.ndarray, ratio: np.ndarray) -> None:
    """The attention, on an axis of its own at the right."""
    colour = COLOURS["ts"]
    ax.plot(x, ratio, color=colour, lw=1.2)
    ax.set_ylim(0.0, 1.05 * float(ratio.max()))
    ax.set_ylabel("attention", color=colour)
    ax.spines["right"].set(visible=True, color=colour)
    ax.tick_params(axis="y", colors=colour)
