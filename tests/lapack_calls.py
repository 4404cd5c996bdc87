"""The calls of LAPACK in a program, for tests that none of them is batched."""

import math
import re
from typing import Any

import equinox as eqx

_RESULTS = re.compile(r"@lapack_\w+\(.*\) -> (.*)$")
_SHAPE = re.compile(r"tensor<((?:\d+x)*)f64>")


def batches(function, *arguments) -> list[int]:
    """How many matrices each call of LAPACK handles.

    Read before XLA compiles anything: JAX writes the calls, and XLA does not merge them.
    """
    program: Any = eqx.filter_jit(function)
    text = program.lower(*arguments).as_text()
    return [_batch(line) for line in text.splitlines() if "custom_call @lapack_" in line]


def _batch(call: str) -> int:
    results = _RESULTS.search(call)
    assert results, call
    shapes = [sizes.split("x")[:-1] for sizes in _SHAPE.findall(results.group(1))]
    return math.prod(map(int, max(shapes, key=len)[:-2]))  # the last two are a matrix's own
