"""The functions of BBOB, from ``ioh``; runs in the peers' environment, which has no windfall.

A question names a function and a dimension. With points its answer is their values, without any
where the function is best. BBOB minimises; what is answered is to be **maximised**.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

import ioh

#: Of the variants that BBOB has of each function.
INSTANCE = 1


def answer(question: dict[str, Any]) -> dict[str, Any]:
    if not question:
        return {"versions": {"ioh": version("ioh")}}
    number, dimension = question["function"], question["dimension"]
    problem = ioh.get_problem(number, INSTANCE, dimension, ioh.ProblemClass.BBOB)
    if "x" in question:
        return {"y": [-float(problem(point)) for point in question["x"]]}
    return {
        "lower": problem.bounds.lb.tolist(),
        "upper": problem.bounds.ub.tolist(),
        "optimiser": list(problem.optimum.x),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
