"""Problems whose rounds differ: every trial is another, and the same whenever it is drawn."""

import numpy as np
import pytest

from windfall.acquisition.ucb import Mean
from windfall.errors import InputError
from windfall.models.linear import BayesianLinear
from windfall.policy import Policy
from windfall.problems import load, suite
from windfall.problems.varying import VARYING

COMPUTED = [name for name, known in VARYING.items() if not known.needs_data]
#: Of trial 3, twenty pulls: what the first arms pay in all, and in how many rounds ten to nineteen
#: some arm is hidden.
KNOWN: dict[str, tuple[float, int]] = {
    "contextual-wheel-0.5": (839, 0),
    "contextual-wheel-0.7": (447, 0),
    "contextual-wheel-0.9": (153, 0),
    "contextual-wheel-0.95": (153, 0),
    "contextual-wheel-0.99": (104, 0),
    "cosine-abrupt": (-80.270489, 0),
    "cosine-slow": (47.533937, 0),
    "cosine-hidden": (88.866213, 4),
    "michalewicz-abrupt": (-42.326418, 0),
    "michalewicz-slow": (11.225859, 0),
    "michalewicz-hidden": (-89.922438, 5),
    "modified-michalewicz-abrupt": (-45.665296, 0),
    "modified-michalewicz-slow": (-55.310284, 0),
    "modified-michalewicz-hidden": (-24.715656, 5),
}


def looked_at(problem) -> tuple[float, int]:
    drawn = problem.drawn(3, 20)
    hidden = 0 if drawn.available is None else int((~drawn.available[10:]).sum())
    return float(drawn.payoffs[:, :7].sum()), hidden


@pytest.fixture(scope="module")
def problems():
    return {name: load(name) for name in COMPUTED}


@pytest.mark.parametrize("name", COMPUTED)
def test_every_trial_has_rounds_of_its_own(problems, name):
    problem = problems[name]
    three, again, four = (problem.drawn(trial, 20) for trial in (3, 3, 4))
    for first, second in zip(three, again, strict=True):
        np.testing.assert_array_equal(first, second)
    assert any(a is not None and not np.array_equal(a, b) for a, b in zip(three, four, strict=True))
    assert (three.contexts is None) == (problem.context is None)


def test_what_differs_is_what_the_name_says(problems):
    for name, problem in problems.items():
        drawn = problem.drawn(0, 60)
        # One landscape in eight is turned over to where it was.
        moves = any(np.ptp(problem.drawn(trial, 60).payoffs, axis=0).any() for trial in range(3))
        assert (drawn.contexts is not None) == name.startswith("contextual-wheel")
        assert (drawn.available is not None) == name.endswith("hidden")
        assert moves != name.endswith("hidden")
    assert set(suite("varying")) == set(VARYING)


def test_the_problems_are_the_same_on_every_machine_and_version(problems):
    """A few sums, so that results saved today stay comparable."""
    assert problems.keys() == KNOWN.keys()
    for name, expected in KNOWN.items():
        assert looked_at(problems[name]) == pytest.approx(expected, rel=1e-6), name


def test_hours_go_round_and_the_drift_is_the_same_without_them(data_dir):
    """Nine sensors, four snapshots: ten minutes apart, every sixth is looked at."""
    hours, drift = (load(f"temperature-{kind}", data_dir) for kind in ("hours", "drift"))
    drawn = hours.drawn(2, 5)
    assert drawn.contexts is not None
    readings = load("temperature", data_dir).payoff
    for payoffs, (hour,) in zip(drawn.payoffs, drawn.contexts, strict=True):
        np.testing.assert_array_equal(payoffs, readings[round(6 * hour)])
    assert np.unique(np.diff(np.round(6 * drawn.contexts[:, 0])) % 4).tolist() == [2]
    assert drift.drawn(2, 5).contexts is None


def test_halides_of_the_real_list(shared):
    problem = load("buchwald-hartwig-halides", shared / "data" / "real")
    pulls, rounds = problem.protocol.rounds + problem.protocol.initial - 1, problem.rounds
    assert rounds is not None
    last = [rounds(trial, pulls).contexts[-30:] for trial in range(15)]
    assert all(len(np.unique(block, axis=0)) == 1 for block in last)
    assert len({tuple(block[0]) for block in last}) == 15
    early = rounds(4, pulls).contexts[:-30]
    numbers, counts = np.unique(early, axis=0, return_counts=True)
    assert len(numbers) == 14
    assert set(counts) == {20}
    assert not (early == last[4][0]).all(axis=1).any()


def test_a_folder_without_them_says_so(tmp_path):
    with pytest.raises(InputError, match="buchwald-hartwig-halides"):
        load("buchwald-hartwig-halides", tmp_path)


#: Quick to compile; named on the command line by its address.
QUICK = Policy(Mean(), BayesianLinear())


def test_they_are_played_by_name(windfall):
    size = ("--rounds", 4, "--trials", 1, "--workers", 1)
    done = windfall("run", "cosine-hidden", "--policy", f"{__name__}:QUICK", *size)
    assert done.exit_code == 0, done.stderr
    assert "cosine-hidden" in done.stdout
