"""Where choices are made: a list of arms, a box, or parameters of several kinds."""

from windfall.space.arms import Space
from windfall.space.constraints import AtMost
from windfall.space.parameter import Categorical, Integer, Real
from windfall.space.region import Box, Parameters

__all__ = ["AtMost", "Box", "Categorical", "Integer", "Parameters", "Real", "Space"]
