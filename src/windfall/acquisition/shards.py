"""A long list spread over several devices: each looks at its part, and the best of the parts wins.

Nothing but the winners travels between devices. A device computes for an arm what one device alone
would, so that the choice is the same however many there are.
"""

import dataclasses
from collections.abc import Sequence
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Bool, Float

from windfall.acquisition.base import Score
from windfall.acquisition.highest import Highest, better, glanced, highest
from windfall.models.glance import Glance
from windfall.runtime.arrays import Array

__all__ = ["highest_of_shards", "spread"]

_AXIS = "arms"


def spread(points: np.ndarray, devices: Sequence[Any]) -> tuple[Array, Glance | None, Mesh]:
    """Arms and what is needed for a first look at them, in equal parts.

    The last part is filled up with copies of the last arm, which never win against the original.
    """
    mesh = Mesh(np.array(devices), (_AXIS,))
    rows = -(-len(points) // len(devices))
    parts = np.minimum(np.arange(rows * len(devices)), len(points) - 1).reshape(len(devices), rows)
    split, whole = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in ((_AXIS,), ()))
    arms = jax.device_put(points[parts.reshape(-1)], split)
    glances = [glance.x for glance in map(glanced, points[parts]) if glance is not None]
    if not glances:
        return arms, None, mesh
    blocks = jax.device_put(np.concatenate(glances), split)
    reach = jax.device_put(np.abs(points).max(axis=0), whole)
    return arms, Glance.stack(blocks, reach), mesh


def highest_of_shards(
    mesh: Mesh,
    score: Score,
    arms: Float[Array, "m d"],
    glance: Glance | None,
    avoid: Float[Array, "p d"] | None,
    among: Bool[Array, " m"] | None,
) -> Highest:
    """What ``highest`` finds, each device looking at its own arms."""
    numbers, settings = eqx.partition(score, eqx.is_array)
    mine, all_of_it = PartitionSpec(_AXIS), PartitionSpec()
    parts = (arms, None if glance is None else glance.x, among)
    known = (numbers, None if glance is None else glance.reach, avoid)

    def look(parts, known):
        (arms, blocks, among), (numbers, reach, avoid) = parts, known
        own = None if glance is None else Glance.stack(blocks, reach)
        found = highest(eqx.combine(numbers, settings), arms, own, avoid, among)
        first = jax.lax.axis_index(_AXIS) * arms.shape[0]
        found = dataclasses.replace(found, arm=found.arm + first)
        return jax.tree.map(lambda value: value[None], found)

    look = jax.shard_map(
        look, mesh=mesh, in_specs=(mine, all_of_it), out_specs=mine, check_vma=False
    )
    found = look(parts, known)
    each = [jax.tree.map(lambda a, i=i: a[i], found) for i in range(mesh.size)]
    return reduce(better, each)
