"""Runs are split into blocks of trials, kept when whole, and found again."""

from dataclasses import replace

import numpy as np
import pytest
from lottery import Lottery
from small_problems import line

import windfall as wf
from windfall.compare.execute import _interleaved, _Unfinished, execute
from windfall.compare.experiment import Experiment, Run


@pytest.fixture
def experiment() -> Experiment:
    problem = line()
    runs = [Run("line", name, wf.Policy(wf.VUCB(k)), 4, 5, 1) for k, name in enumerate("abc", 1)]
    return Experiment("line", problem, tuple(runs), (), ())


def test_blocks_are_put_together_in_the_order_of_trials(experiment, tmp_path):
    engine, seen = Lottery(), []
    outcome = execute(
        [experiment], tmp_path, executor=engine, progress=lambda run, n: seen.append((run.label, n))
    )["line"]
    assert engine.submitted == [[0, 1, 2], [3, 4]] * 3
    assert engine.shared == 3
    assert sorted(seen) == [(label, n) for label in "abc" for n in (8, 12)]
    for label, result in outcome.items():
        alone = wf.simulate(line(), wf.VUCB(), rounds=4, trials=5, seed=1, executor=Lottery())
        np.testing.assert_array_equal(result.arms, alone.arms)
        np.testing.assert_array_equal(result.regret, alone.regret)
        assert result.label == label
        assert result.timings == {"total": 2.0, "compile": 0.5, "trial_rounds": 15}


def test_a_second_execution_plays_only_what_the_first_did_not_finish(experiment, tmp_path):
    def interrupt(run, rounds):
        if any(tmp_path.iterdir()):  # one run is finished, the next block is
            raise KeyboardInterrupt

    engine = Lottery()
    with pytest.raises(KeyboardInterrupt):
        execute([experiment], tmp_path, executor=engine, progress=interrupt)
    assert engine.stopped
    (kept,) = {path.stem for path in tmp_path.iterdir()}
    again = Lottery()
    outcome = execute([experiment], tmp_path, executor=again)["line"]
    assert again.submitted == [[0, 1, 2], [3, 4]] * 2
    assert list(outcome) == ["a", "b", "c"]
    assert kept in {path.stem for path in tmp_path.iterdir()}


def test_runs_of_all_experiments_begin_together_where_programs_are_shared():
    run = Run("", "", wf.Policy(wf.VUCB()), 4, 5, 1)
    names = [("one", "a"), ("one", "b"), ("one", "c"), ("two", "a"), ("three", "a"), ("three", "b")]
    todo = [_Unfinished(replace(run, problem=p, label=label), line()) for p, label in names]
    order = [(part.run.problem, part.run.label) for part in _interleaved(todo)]
    first = [("three", "b"), ("two", "a"), ("one", "c")]
    assert order == [*first, ("three", "a"), ("one", "b"), ("one", "a")]
