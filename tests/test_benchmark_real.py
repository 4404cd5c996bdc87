"""The comparison on candidate lists: equal luck, resumable, and a table that is right."""

import itertools
import json

import numpy as np
import pytest
from made_up import made_up
from small_problems import line as peak
from small_problems import snapshots

import windfall as wf

plan = pytest.importorskip("benchmarks.real.plan", reason="not in a source distribution")

from benchmarks.real import __main__ as command  # noqa: E402
from benchmarks.real import batches, botorch, luck, table  # noqa: E402


def measured() -> wf.Problem:
    return wf.Problem(
        arms=[[0.0], [0.3], [0.6], [1.0]], replicates=[[1.0, 2.0, 6.0], [5.0], [0.0, 4.0], [7.0]]
    )


@pytest.mark.parametrize("problem", [snapshots(), measured()], ids=["normal", "replicates"])
def test_luck_is_what_windfall_s_policies_meet(problem):
    result = wf.simulate(problem, "v-ucb", rounds=6, trials=3, seed=plan.SEED, workers=1)
    for trial in range(3):
        first = luck.rewards(problem, plan.SEED, trial, 0, result.initial[trial])
        best = problem.payoffs(trial)[result.initial[trial]].argmax()
        assert first[best] == pytest.approx(result.rewards[trial, 0], abs=1e-12)
        for t in range(1, 6):
            reward = luck.rewards(problem, plan.SEED, trial, t, result.arms[trial, t])
            assert float(reward) == pytest.approx(result.rewards[trial, t], abs=1e-12)


class FakePeer:
    """Pulls arms in turn and writes down what it is asked."""

    def __init__(self):
        self.arms, self.questions = [], []
        self.versions = {"botorch": "fake"}

    def ask(self, question):
        if "arms" in question:
            self.arms = question["arms"]
            return {"versions": self.versions}
        self.questions.append(json.loads(json.dumps(question)))
        return {"arm": len(question["pulled"]) % len(self.arms)}


def test_a_peer_starts_from_the_same_arms_and_finished_trials_are_kept(tmp_path):
    problem = snapshots()
    initial = np.array([[3, 1, 2], [5, 4, 0]])
    peer = FakePeer()
    botorch.play(peer, problem, initial, 5, tmp_path)
    assert np.min(peer.arms) == 0.0
    assert np.max(peer.arms) == 1.0
    assert [q["pulled"][:3] for q in peer.questions] == [[3, 1, 2]] * 4 + [[5, 4, 0]] * 4
    assert [len(q["rewards"]) for q in peer.questions] == [3, 4, 5, 6] * 2
    kept = botorch.gather(problem, initial, 5, tmp_path)
    assert kept is not None
    for trial in range(2):
        payoff = problem.payoffs(trial)
        assert kept.arms[trial, 1:].tolist() == [3, 4, 5, 6]
        np.testing.assert_allclose(kept.regret[trial], payoff.max() - payoff[kept.arms[trial]])
        assert payoff[kept.arms[trial, 0]] == payoff[initial[trial]].max()
    botorch.play(FakePeer(), problem, initial, 5, tmp_path)  # nothing is asked again
    again = botorch.gather(problem, np.vstack([initial, [[7, 8, 9]]]), 5, tmp_path)
    assert again is not None
    assert again.trials == 2
    assert botorch.gather(problem, initial[::-1], 5, tmp_path) is None  # of other initial arms


@pytest.mark.parametrize("pulls", [0, 1, 2])
def test_blind_search_s_gap_against_every_possible_course(pulls):
    payoff = np.array([0.3, 1.0, -2.0, 0.9, 0.9])
    gaps = [
        payoff.max() - payoff[[*first, *then]].max()
        for first in itertools.permutations(range(5), 2)
        for then in itertools.product(range(5), repeat=pulls)
    ]
    assert table.random_gap(payoff, 2, pulls) == pytest.approx(np.mean(gaps))


def results(**regrets) -> dict:
    return {
        label.replace("_", "-"): made_up(np.asarray(r, float), label, problem="line")
        for label, r in regrets.items()
    }


def test_the_table_s_numbers_by_hand():
    problem = peak()
    flat = {name: np.full((4, 3), value) for name, value in
            (("v_ucb_1", 0.8), ("v_ucb_2", 0.5), ("ei", 0.9), ("ts", 0.7))}  # fmt: skip
    flat["ei"][:, 1] = [0.0, 0.8, 0.8, 0.0]  # its gap is 0.4, the lowest
    row = results(**flat, windfall=np.tile([0.4, 0.2, 0.3], (4, 1)))
    row[plan.BOTORCH] = made_up([[0.5, 0.3, 0.1], [0.5, 0.3, 0.1]], plan.BOTORCH, problem="line")
    ours = table.line("windfall", {"line": row}, {"line": problem})
    np.testing.assert_allclose(ours.earned, [0.3 / 0.5])
    np.testing.assert_allclose(ours.found, [0.2 / 0.4])
    assert ours.ahead == (0, 1)  # 0.2 against 0.1 in the first two trials
    theirs = table.line(plan.BOTORCH, {"line": row}, {"line": problem})
    np.testing.assert_allclose(theirs.found, [0.1 / 0.4])  # the reference's first two trials
    # Blind search on this peak: three arms, then two more.
    blind = table.random_gap(problem.payoffs(0), 3, 2)
    assert 0.2 < blind < 0.5
    assert (ours.blind, table.line("v-ucb-1", {"line": row}, {"line": problem}).blind) == (0, 1)
    text = table.markdown({"line": row}, {"line": problem})
    assert "| windfall | 1 | 0.60 | 0.60 | 0.50 | 0.50 | 0 of 1 | 0 of 1 |" in text
    assert "| 0.3, 0.2, 0% |" in text


def test_a_gap_below_the_floor_counts_as_the_floor():
    problem = peak()
    payoff = problem.payoffs(0)
    least = 0.01 * (payoff.max() - payoff.mean())
    names = [name.replace("-", "_") for name in plan.REFERENCE]
    row = results(**{name: np.full((2, 3), 0.3) for name in names}, windfall=np.zeros((2, 3)))
    ours = table.line("windfall", {"line": row}, {"line": problem})
    np.testing.assert_allclose(ours.found, [least / 0.3])


def test_the_plan_s_policies_can_be_named():
    assert list(command.wanted([])) == list(plan.policies())
    assert list(command.wanted(["windfall"])) == [*plan.REFERENCE, "windfall"]


ROW = np.linspace(0.0, 1.0, 12)[:, None]
YIELDS = 40.0 + 30.0 * np.sin(5.0 * ROW[:, 0])


def test_batches_are_played_once_and_again_for_another_policy(tmp_path, monkeypatch):
    """Random arms stand for a policy: the first batch is asked for in one, as all others are."""
    monkeypatch.setattr(batches, "BATCHES", 1)
    asked = []
    bandit = wf.Bandit

    def counted(*arguments, **named):
        asked.append(named)
        return bandit(*arguments, **named)

    monkeypatch.setattr(wf, "Bandit", counted)
    for seed in (0, 0, 1):
        batches.play(ROW, YIELDS, seed, tmp_path)
    assert asked[0] == {"goal": "best", "seed": 0, "initial": 5}
    kept = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    arms = batches.gather(range(2), tmp_path)
    assert arms.shape == (2, 5)
    assert [len(set(row)) for row in arms.tolist()] == [5, 5]
    assert arms[0].tolist() == [c.arm for c in bandit(ROW, seed=0, initial=5).ask(5)]
    batches.play(ROW, YIELDS, 0, tmp_path)
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == kept
    batches.play(ROW, YIELDS, 0, tmp_path, goal="reward")
    assert (tmp_path / "0.json").stat().st_mtime_ns > kept["0.json"]


def test_the_best_so_far_beside_the_reference_runs_in_their_unit():
    pays = np.array([0.0, 10.0, 50.0, 100.0])
    theirs = np.array([[10.0, 0.0, 100.0], [50.0, np.nan, np.nan]])
    scaled = (theirs - pays.mean()) / pays.std()
    standard = (pays - pays.mean()) / pays.std()
    problem = wf.Problem(arms=ROW[:4], payoff=standard, references={"chemists": scaled})
    curves = batches.best_so_far(problem, pays, np.array([[1, 0, 3], [2, 1, 0]]))
    np.testing.assert_allclose(curves[batches.OURS], [30.0, 30.0, 75.0])
    np.testing.assert_allclose(curves["chemists"], [30.0, 30.0, 75.0])
    long = {batches.OURS: np.arange(50.0), "chemists": np.arange(20.0)}
    lines = batches.table(long, 7).splitlines()
    assert lines[2:] == [
        f"| {batches.OURS} (7 seeds) | 9.0 | 24.0 | 49.0 |",
        "| chemists | 9.0 |  |  |",
    ]
    (ax,) = batches.figure(long, 7).axes
    drawn = {line.get_label(): len(line.get_xdata()) for line in ax.lines}
    assert drawn == {f"{batches.OURS} (7 seeds)": 50, "chemists": 20}


def test_payoffs_are_read_in_their_own_unit(tmp_path):
    path = tmp_path / "made.csv"
    path.write_text('\ufeff"base, solid",heat,payoff\n0,1,5.5\n1,2,100\n', encoding="utf-8")
    assert batches.payoffs(path).tolist() == [5.5, 100.0]
