"""What drove a choice, in numbers and in a sentence."""

from jaxtyping import Bool, Float

from windfall.acquisition.maximise import Search
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Info"]


class Info(Module):
    """What drove a choice, for people to read; no policy depends on it.

    Attributes:
        score: The highest score.
        mean: Predicted payoff of the choice.
        deviation: Its deviation.
        ratio: The attention paid to it.
        best: The highest predicted payoff among what was tried.
        healthy: False if the computation failed.
        search: How the maximisation ended, where there are no arms to list.
        propensity: How probable the choice was, where it is known.
        explored: Whether it was drawn at random, if some choices are.
        settled: Whether what was fitted for the attention had converged; None if nothing was.
    """

    score: Float[Array, ""]
    mean: Float[Array, ""]
    deviation: Float[Array, ""]
    ratio: Float[Array, ""]
    best: Float[Array, ""]
    healthy: Bool[Array, ""]
    search: Search | None = None
    propensity: Float[Array, ""] | None = None
    explored: Bool[Array, ""] | None = None
    settled: Bool[Array, ""] | None = None

    @property
    def driver(self) -> str:
        """What carried the choice past the best of what was tried: mean, uncertainty or attention.

        Its mean if that is at least as high. Else its uncertainty, or attention if the same bonus
        would not have been enough without it: (score − mean)/ratio is below the gap.
        """
        gap = self.best - self.mean
        if gap <= 1e-9 * abs(self.best):
            return "mean"
        plain = (self.score - self.mean) / max(self.ratio, 1.0)
        return "attention" if self.ratio > 1.0 and plain < gap else "uncertainty"

    def why(self, name: str) -> str:
        """One sentence for a choice, once the numbers are plain Python ones."""
        attention = f", attention {self.ratio:.3g}" if self.ratio != 1.0 else ""
        how = "drawn at random" if self.explored else f"{name} chose it for its {self.driver}"
        doubt = "; the mixture of its attention had not settled" if self.settled is False else ""
        return (
            f"{how}: predicted mean {self.mean:.4g}, deviation {self.deviation:.3g}{attention}; "
            f"the best tried so far is predicted {self.best:.4g}{doubt}"
        )
