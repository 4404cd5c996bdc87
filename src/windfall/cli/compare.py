"""``windfall compare``: several policies on one problem or a suite of them, with equal luck."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from windfall.cli import options
from windfall.cli.experiment import Experiment
from windfall.cli.policies import chosen
from windfall.cli.report import print_json, print_table, ranked
from windfall.cli.suite import play_suite

if TYPE_CHECKING:
    from windfall.simulation.results import Result

__all__ = ["compare"]

PolicyNames = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Repeat it for several: {options.POLICY_HELP}",
        show_default="the goal's own, lw-ucb and the paper's baselines",
        metavar="NAME",
    ),
]
Suite = Annotated[
    str | None,
    typer.Option(
        help="Instead of PROBLEM: paper, extremes, extremes-tune, extremes-report, varying or all; "
        "real for every candidate list in --data-dir.",
        metavar="NAME",
    ),
]


def compare(
    problem: options.MaybeProblemName = None,
    suite: Suite = None,
    policy: PolicyNames = None,
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
    """Play several policies on a problem, or on all problems of a suite, and print a table.

    Every policy starts each trial from the same initial arms and meets the same noise. With --suite
    and --save finished runs are kept, and the same command goes on where it was interrupted. The
    goal decides what is played by default, and what the table is ordered by.
    """
    if suite is not None and problem is not None:
        raise typer.BadParameter(f"give PROBLEM ({problem}) or --suite ({suite}), not both")
    if suite is not None:

        def prepare():
            from windfall.compare.suite import Contest

            return Contest.prepare(
                suite,
                chosen(policy) if policy else None,
                goal=goal,
                budget=budget,
                rounds=rounds,
                trials=trials,
                seed=seed,
                kappa=kappa,
                components=components,
                data_dir=data_dir,
            )

        play_suite(
            "compare",
            prepare,
            workers=workers,
            executor=executor,
            json=json,
            save=save,
            plot=plot,
        )
    elif problem is None:
        raise typer.BadParameter("give a PROBLEM, or a suite of them with --suite")
    else:
        experiment = Experiment.prepare(
            problem, policy, goal, budget, rounds, trials, seed, kappa, components, data_dir,
            workers, executor, save, plot,
        )  # fmt: skip
        _one_problem(experiment, budget, json)


def _one_problem(experiment: Experiment, budget: int | None, json: bool) -> None:
    """The best policy first, each compared with the one that was named first."""
    played = experiment.play()
    results, baseline = ranked(played, experiment.goal), played[0]
    files = experiment.write(results)
    if json:
        rows = [_row(result, baseline) for result in results]
        said = {"problem": baseline.problem, "goal": experiment.goal, "budget": budget}
        print_json(said | {"results": rows, "files": files})
    else:
        print_table(results, files, experiment.goal, baseline if len(results) > 1 else None)


def _row(result: "Result", baseline: "Result") -> dict[str, Any]:
    from windfall.compare.statistics import paired, paired_gap

    against = {"regret": paired(result, baseline), "gap": paired_gap(result, baseline)}
    return result.summary() | {
        "timings": result.timings,
        "paired": {name: pair.summary() for name, pair in against.items()},
    }
