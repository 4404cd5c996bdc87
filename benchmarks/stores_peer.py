"""Optuna's RDB storage under the same crowd: ``python -m benchmarks.stores_peer URL N SECONDS``."""

import json
import sys
from typing import Any

import optuna

from benchmarks.crowd import crowd


def main() -> None:
    url, processes, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="crowd", storage=url)._storage.remove_session()

    def begin(place: int) -> tuple[Any, Any]:
        sampler = optuna.samplers.RandomSampler(seed=place)  # as cheap as an initial choice
        study = optuna.load_study(study_name="crowd", storage=url, sampler=sampler)

        def ask() -> Any:
            trial = study.ask()
            trial.suggest_float("x", 0.0, 1.0)
            return trial

        return ask, lambda trial: study.tell(trial, 1.0)

    numbers = crowd(begin, processes, seconds)
    trials = optuna.load_study(study_name="crowd", storage=url).get_trials(deepcopy=False)
    told = sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in trials)
    print(json.dumps(numbers | {"kept": told, "version": optuna.__version__}))


if __name__ == "__main__":
    main()
