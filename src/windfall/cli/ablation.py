"""``windfall ablation``: what each ingredient of the default policy is worth."""

from typing import Annotated

import typer

from windfall.cli import options
from windfall.cli.suite import play_suite

__all__ = ["ablation"]

Suite = Annotated[
    str,
    typer.Option(help="paper, extremes, one of its halves, varying, all, or real.", metavar="NAME"),
]


def ablation(
    suite: Suite = "extremes",
    rounds: options.Rounds = None,
    trials: options.Trials = None,
    seed: options.Seed = 0,
    data_dir: options.DataDir = None,
    workers: options.Workers = None,
    executor: options.Executor = None,
    json: options.Json = False,
    save: options.Save = None,
    plot: options.Plot = None,
) -> None:
    """Play the default policy on a suite, whole and without each of its ingredients in turn.

    Regrets are printed as multiples of the whole policy's: above 1 the ingredient helps. With
    --save finished runs are kept, and the same command goes on where it was interrupted.
    """

    def prepare():
        from windfall.compare.ablation import FULL, variants
        from windfall.compare.suite import Contest

        return Contest.prepare(
            suite,
            variants(),
            rounds=rounds,
            trials=trials,
            seed=seed,
            reference=[FULL],
            data_dir=data_dir,
        )

    play_suite(
        "ablation",
        prepare,
        workers=workers,
        executor=executor,
        json=json,
        save=save,
        plot=plot,
    )
