"""Specs: spaces, models, acquisitions and policies as plain JSON, and back. No pickle, no eval.

- an object is ``{"type": NAME, …}`` with its constructor's arguments; NAME is one of
  ``windfall.registry.SPEC_TYPES``, or ``module:Class`` for a class of the user's own;
- a function is ``{"function": "module:name"}``;
- a mapping whose keys are the user's names is a list of ``[name, value]`` pairs, in order;
- arrays and tuples are lists; numbers, text, True, False and None are themselves.

A class takes part by attributes with the names of its constructor's arguments. Where the two differ
it has a method ``spec_arguments()`` that gives the arguments by name, and where its constructor
does not take them as a spec has them, a class method ``from_spec_arguments(**arguments)``.

Example:
    >>> from windfall.space import Box
    >>> to_spec(Box([0], [1], names=["dose"]))
    {'type': 'Box', 'lower': [0.0], 'upper': [1.0], 'names': ['dose'], 'constraints': []}
    >>> from_spec({"type": "Box", "lower": [0.0], "upper": [1.0]})
    Box([0.0], [1.0], names=['x1'])
"""

from windfall.specs.compare import differences
from windfall.specs.read import by_name, check_spec, from_spec
from windfall.specs.write import describe, to_spec

__all__ = ["by_name", "check_spec", "describe", "differences", "from_spec", "to_spec"]
