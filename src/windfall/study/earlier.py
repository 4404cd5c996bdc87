"""What a model made of rewards up to a round number of them, for models that build upon it.

A study that goes on and one that is opened again build upon the same rewards, and so decide alike
to the last bit.
"""

from windfall.models.base import Belief, Model
from windfall.study import compiled

__all__ = ["ROUND", "Earlier"]

#: Every so many rewards all are added up anew: seldom, and before rounding adds up, too.
ROUND = 64


class Earlier:
    """A belief with a round number of rewards, and what was made of them with the latest settings.

    Attributes:
        count: How many rewards.
        rewards: The belief that has noted these and no others; None if it has noted none.
    """

    def __init__(self, model: Model):
        """For a study with this model."""
        self.count: int = 0
        self.rewards: Belief | None = None
        self._model = model
        self._known: tuple[tuple, Belief] | None = None

    def below(self, belief: Belief) -> Belief:
        """A cumulative belief with all rewards and settings that were found, upon the earlier."""
        if self.rewards is None:
            return belief
        settings = {name: value for name, value in belief.dump().items() if name != "misfit"}
        key = self.count, belief.capacity, settings
        if self._known is None or self._known[0] != key:
            self._known = key, compiled.condition(self._model, belief.before(self.rewards))
        return belief.upon(self._known[1])
