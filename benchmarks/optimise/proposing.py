"""The conversation with a peer that proposes points; runs in the peers' environment.

A line of JSON on standard input is a question: the points of the unit box evaluated so far, their
rewards and a seed. The answer is a line with the next point; the empty question asks for versions.
"""

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import torch


def answer_all(propose: Callable[[dict[str, Any]], list[float]], packages: Sequence[str]) -> None:
    """Answer questions until there are no more."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # about fits that are tried again, and experimental samplers
    versions = {name: version(name) for name in packages}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"x": propose(question)} if question else {"versions": versions}
        except Exception as error:  # the run is lost, the next one is not
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
