"""What the page of a study has to know to draw it: axes, and how hyper-parameters moved."""

from itertools import islice
from typing import Any

import numpy as np

from windfall.serve.arms_table import OWN
from windfall.serve.described import plain, time
from windfall.serve.served import ServedStudy
from windfall.space import Arms, Space
from windfall.space.context import Context
from windfall.space.parameter import Categorical
from windfall.space.region import Parameters

__all__ = ["digest", "shape"]

#: With more arms a map shows points of its own instead of a cell for each.
_CELLS = 10_000
#: How much of the past a page draws: points on a map, fits, notes.
_POINTS, _FITS, _NOTES = 2000, 500, 50


def shape(study: ServedStudy) -> dict[str, Any]:
    """The axes of a study, and what a map can be made of.

    - ``axes``: of every feature or parameter its name, ends and kind; a choice goes by its place
      among ``labels``;
    - ``columns``: what the table of arms calls them;
    - ``size``: the number of arms, None where there is no list;
    - ``across``: the two features that a map shows first, and ``geometry``: whether it means much;
    - ``grid``: whether every arm can be a cell of the map;
    - ``contexts``: of what is known before each choice the name, and the ``labels`` of a choice.
    """
    space = study.space
    axes = _arms_axes(space) if isinstance(space, Arms) else _parameter_axes(space)
    wide = [i for i, axis in enumerate(axes) if axis.pop("values") > 2]
    across = [*wide, *(i for i in range(len(axes)) if i not in wide)][:2]
    return {
        "axes": axes,
        "columns": [f"{name} (parameter)" if name in OWN else name for name in space.names],
        "size": space.size if isinstance(space, Arms) else None,
        "titles": isinstance(space, Arms) and space.titles is not None,
        "across": across,
        "geometry": len(wide) >= 2,
        "grid": isinstance(space, Arms) and _on_a_grid(space.arms),
        "contexts": [] if study.context is None else _known_before(study.context),
    }


def digest(study: ServedStudy, after: int = 0) -> dict[str, Any]:
    """What charts and maps show of all that happened, however long that is.

    - ``total`` rewards so far, and those ``rewards`` that came after the first few;
    - ``points``: the last distinct ones that have rewards: arm, features, mean and pulls;
    - ``notes``: the last ones, the newest first;
    - ``hyper``: the hyper-parameters by name, and after how many ``pulls`` they were fitted.

    Args:
        study: Whose.
        after: How many rewards the page knows.
    """
    rewards = [reward for _, reward in study.rewards]
    notes = (event for event in reversed(study.events) if event.kind == "noted")
    return {
        "total": len(rewards),
        "rewards": rewards[after:],
        "points": _points(study),
        "notes": [
            {"text": event.contents["text"], "time": time(event.time), "worker": event.worker}
            for event in islice(notes, _NOTES)
        ],
        "hyper": _hyper(study),
    }


def _points(study: ServedStudy) -> list[dict[str, Any]]:
    space, means = study.space, study.means
    last = [*means][-_POINTS:]
    return [
        {
            "arm": point if isinstance(point, int) else None,
            "name": space.title(point),
            "values": [plain(value) for value in space.named(space.features(point)).values()],
            "mean": means[point][0],
            "pulls": means[point][1],
        }
        for point in last
    ]


def _hyper(study: ServedStudy) -> dict[str, Any]:
    found = [e.contents for e in study.events if e.contents.get("belief") is not None]
    fits = found[:: -(-len(found) // _FITS) or 1]
    names = _unit_names(study.space)
    rows = [_named(fit["belief"], names) for fit in fits]
    titles = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "pulls": [fit["searched"] for fit in fits],
        "columns": {title: [row.get(title) for row in rows] for title in titles},
    }


def _arms_axes(arms: Arms) -> list[dict[str, Any]]:
    axes = []
    for name, feature in zip(arms.names, arms.arms.T, strict=True):
        low, high = float(feature.min()), float(feature.max())
        if low == high:
            low, high = low - 0.5, high + 0.5
        axes.append(_axis(name, low, high) | {"values": len(np.unique(feature))})
    return axes


def _parameter_axes(space: Space) -> list[dict[str, Any]]:
    assert isinstance(space, Parameters)
    axes = []
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Categorical):
            labels = list(parameter.choices)
            axes.append(_axis(name, 0, len(labels) - 1, labels=labels) | {"values": 2})
        else:
            ends = parameter.low, parameter.high
            more = {"log": parameter.log, "whole": parameter.whole}
            axes.append(_axis(name, *ends, **more) | {"values": ends[1] - ends[0] + 2})
    return axes


def _known_before(context: Context) -> list[dict[str, Any]]:
    kinds = {} if context.space is None else context.space.parameters
    return [
        {
            "name": name,
            "labels": list(kind.choices) if isinstance(kind, Categorical) else None,
        }
        for name in context.names
        for kind in [kinds.get(name)]
    ]


def _axis(name: str, low: float | int, high: float | int, **more: Any) -> dict[str, Any]:
    usual = {"log": False, "whole": False, "labels": None}
    return {"name": name, "low": low, "high": high, **usual, **more}


def _unit_names(space: Space) -> list[str]:
    """What the columns of the unit box are called: a choice has one for each option."""
    if isinstance(space, Arms):
        return list(space.names)
    assert isinstance(space, Parameters)
    names: list[str] = []
    for name, parameter in space.parameters.items():
        options = parameter.choices if isinstance(parameter, Categorical) else None
        names += [name] if options is None else [f"{name} = {option}" for option in options]
    return names


def _on_a_grid(arms: np.ndarray) -> bool:
    if arms.shape[1] != 2 or len(arms) > _CELLS:
        return False
    columns, rows = (len(np.unique(feature)) for feature in arms.T)
    return columns * rows <= 4 * len(arms)


def _named(belief: dict[str, Any], names: list[str]) -> dict[str, float]:
    """Hyper-parameters by name.

    A Gaussian process has those of its kernel, in order, and then its noise; a list of numbers is
    one for each feature.

    >>> _named({"hyper": [[0.2, 0.5], 1.5, 0.01]}, ["dose", "heat"])
    {'length scale, dose': 0.2, 'length scale, heat': 0.5, 'variance': 1.5, 'noise': 0.01}
    >>> _named({"precision": 3.0}, ["dose"])
    {'precision': 3.0}
    """
    if "hyper" not in belief:
        return {name: value for name, value in belief.items() if isinstance(value, float)}
    found: dict[str, float] = {}
    *kernel, noise = belief["hyper"]
    for place, leaf in enumerate(kernel):
        values = np.atleast_1d(np.asarray(leaf, float))
        if values.ndim > 1:  # of several models at once
            values = values.mean(axis=0)
        scales = np.ndim(leaf) > 0
        for i, value in enumerate(values.tolist()):
            of = names[i] if len(values) == len(names) else str(i + 1)
            name = f"length scale, {of}" if scales else "variance"
            found[name if name not in found else f"{name} ({place + 1})"] = value
    return found | {"noise": float(np.mean(noise))}
