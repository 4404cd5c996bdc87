"""``windfall compare``: several policies on one problem, with equal luck."""

from typing import Annotated

import typer

from windfall.cli import options
from windfall.cli.experiment import Experiment
from windfall.cli.report import print_json, print_table, ranked

__all__ = ["compare"]

BASELINES = ["lw-ucb", "v-ucb", "gp-ucb", "ei", "ts"]
PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        help="Repeat it for several: lw-ucb, v-ucb, gp-ucb, gp-ucb-scaled, ei, ts, mean.",
        show_default=", ".join(BASELINES),
        metavar="NAME",
    ),
]


def compare(
    problem: options.ProblemName,
    policy: PolicyNames = None,
    rounds: options.Rounds = None,
    trials: options.Trials = None,
    seed: options.Seed = 0,
    kappa: options.Kappa = None,
    components: options.Components = None,
    data_dir: options.DataDir = None,
    workers: options.Workers = None,
    json: options.Json = False,
    save: options.Save = None,
    plot: options.Plot = None,
) -> None:
    """Play several policies on a problem and print a table, the best first.

    Every policy starts each trial from the same initial arms and meets the same noise.
    """
    names = list(dict.fromkeys(policy or BASELINES))
    experiment = Experiment.prepare(
        problem, names, rounds, trials, seed, kappa, components, data_dir, workers, save, plot
    )
    results = ranked(experiment.play())
    files = experiment.write(results)
    if json:
        rows = [result.summary() | {"timings": result.timings} for result in results]
        print_json({"problem": results[0].problem, "results": rows, "files": files})
    else:
        print_table(results, files)
