"""``windfall run``: one policy on one problem."""

from typing import Annotated

import typer

from windfall.cli import options
from windfall.cli.experiment import Experiment
from windfall.cli.report import print_json, print_table
from windfall.registry import wanted

__all__ = ["run"]

PolicyName = Annotated[
    str | None,
    typer.Option(
        help=f"One of {options.POLICY_HELP}",
        show_default="the goal's own",
        metavar="NAME",
    ),
]


def run(
    problem: options.ProblemName,
    policy: PolicyName = None,
    goal: options.Goal = None,
    budget: options.Budget = None,
    rounds: options.Rounds = None,
    trials: options.Trials = None,
    seed: options.Seed = 0,
    kappa: options.Kappa = None,
    components: options.Components = None,
    data_dir: options.DataDir = None,
    workers: options.Workers = None,
    executor: options.Executor = None,
    json: options.Json = False,
    save: options.Save = None,
    plot: options.Plot = None,
) -> None:
    """Play many trials of one policy on a problem and print its regret."""
    experiment = Experiment.prepare(
        problem, [wanted(policy, goal)], goal, budget, rounds, trials, seed, kappa, components,
        data_dir, workers, executor, save, plot,
    )  # fmt: skip
    (result,) = experiment.play()
    files = experiment.write([result])
    if json:
        said = result.summary() | {"goal": experiment.goal, "budget": budget}
        print_json(said | {"timings": result.timings, "files": files})
    else:
        print_table([result], files, experiment.goal)
