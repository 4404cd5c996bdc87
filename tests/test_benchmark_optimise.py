"""The comparison on standard functions: equal conditions, resumable, and a table that is right."""

import math
from statistics import median

import numpy as np
import pytest

from windfall.problems import functions

plan = pytest.importorskip("benchmarks.optimise.plan", reason="not in a source distribution")

from benchmarks.optimise import methods, table  # noqa: E402
from benchmarks.optimise.methods import Ledger  # noqa: E402
from benchmarks.optimise.play import play  # noqa: E402
from benchmarks.optimise.store import Run, Store  # noqa: E402

BRANIN, NEEDLE = functions.load("branin"), functions.load("needle")


@pytest.mark.parametrize("name", functions.names())
def test_the_design_is_the_same_for_all_and_leaves_a_budget(name):
    function = functions.load(name)
    design = plan.design(function, 3)
    np.testing.assert_array_equal(design, plan.design(function, 3))
    assert not np.array_equal(design, plan.design(function, 4))
    assert np.all((function.lower <= design) & (design <= function.upper))
    assert 5 <= len(design) <= 0.5 * plan.budget(function.dimension)  # 5: evolution needs them


@pytest.mark.parametrize(
    ("play", "budget"),
    [(methods.random, 30), (methods.evolution, 30), (methods.windfall(policy="v-ucb"), 8)],
    ids=["random", "evolution", "windfall"],
)
def test_every_method_starts_from_the_design_and_spends_its_budget(play, budget):
    design = plan.design(BRANIN, 0)
    ledger = Ledger(BRANIN, budget)
    play(ledger, design, 0)
    assert len(ledger.rewards) == len(ledger.points) == budget
    np.testing.assert_allclose(ledger.points[: len(design)], design, rtol=1e-12)
    np.testing.assert_allclose(ledger.rewards, BRANIN(ledger.points), rtol=1e-12)
    assert np.all((BRANIN.lower <= ledger.points) & (ledger.points <= BRANIN.upper))
    with pytest.raises(Ledger.SpentError):
        ledger(design[0])


def test_finished_runs_are_kept_and_not_played_again(tmp_path, monkeypatch):
    store = Store(tmp_path)
    play(store, ["random"], [BRANIN, NEEDLE], plan.budget, range(2), peers="")
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    assert len(kept) == 4
    run = store.load("random", "branin", 1)
    assert len(run.rewards) == plan.budget(2)
    assert store.load("random", "branin", 2) is None
    monkeypatch.setattr(methods, "random", None)  # calling it would fail
    play(store, ["random"], [BRANIN, NEEDLE], plan.budget, range(2), peers="")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == kept


def test_a_cell_is_median_and_mad_of_log10_regret():
    regrets = [1e-3, 0.5, 0.02, 4.0, 0.0, 1e-12]
    logs = [math.log10(max(r, 1e-8)) for r in regrets]
    cell = table.Cell.of(regrets)
    assert cell.median == pytest.approx(median(logs))
    assert cell.deviation == pytest.approx(median(abs(v - median(logs)) for v in logs))
    assert cell.seeds == 6


def test_simple_regret_counts_the_budget_alone():
    rewards = [-9.0] * plan.budget(2) + [BRANIN.optimum]
    run = Run("random", "branin", 0, [], rewards, 0.0, {})
    assert table.simple_regret(run) == pytest.approx(BRANIN.optimum + 9.0)


def test_a_tie_is_within_the_deviation_of_the_best():
    cells = {
        ("branin", "random"): table.Cell(-2.0, 0.3, 20),
        ("branin", "windfall"): table.Cell(-1.75, 0.0, 20),
        ("branin", "windfall ei"): table.Cell(-1.6, 9.0, 20),
    }
    assert table.winners(cells, "branin", plan.METHODS) == ["windfall", "random"]
    assert table.winners(cells, "branin", ["windfall", "windfall ei"]) == ["windfall"]
    assert table.winners(cells, "needle", plan.METHODS) == []


def test_the_page_shows_what_was_measured():
    cells = {}
    for i, name in enumerate(functions.names()):
        cells[name, "windfall"] = table.Cell(-2.0, 0.1, 20)
        cells[name, "botorch logei"] = table.Cell(-1.0 if i < 3 else -2.05, 0.1, 20)
        cells[name, "random"] = table.Cell(0.5 if i < 11 else -4.0, 0.2, 20)
        if i > 0:  # on the first one the others have not been played yet
            cells[name, "botorch ucb"] = cells[name, "differential evolution"] = table.Cell(1, 0, 9)
    text = table.markdown(cells, {"date": "today"})
    lines = text.splitlines()
    assert lines[:2] == ["- date: today", "- seeds: 9 to 20"]
    heading = "windfall | botorch logei | botorch ucb | differential evolution | random"
    assert f"| function | evaluations | {heading} |" in lines
    assert "| branin | 30 | **−2.00 ± 0.10** | −1.00 ± 0.10 |  |  | 0.50 ± 0.20 |" in lines
    others = "1.00 ± 0.00 | 1.00 ± 0.00"
    row = f"| ackley-5 | 50 | −2.00 ± 0.10 | −2.05 ± 0.10 | {others} | **−4.00 ± 0.20** |"
    assert row in lines
    assert "| *best or tied* |  | 11 of 12 | 8 of 12 | 0 of 12 | 0 of 12 | 1 of 12 |" in lines
    assert "best or tied on 10 of 11 functions" in lines[-1]
    assert lines[-1].endswith("on: six-hump-camel, michalewicz-2.")


def test_bbob_is_summed_up_by_group_from_seeds_that_all_have_played(tmp_path):
    from benchmarks.bbob import table as bbob
    from benchmarks.bbob.functions import names

    store, optima = Store(tmp_path), {name: 5.0 for _, name, _, _ in names()}
    for seed, paid in enumerate([4.0, 4.75, 4.875]):
        for method in bbob.METHODS:
            if (seed, method) != (2, plan.OPTUNA):  # that seed does not count
                behind = 0.0 if method == plan.FINDING else 1.0
                store.save(Run(method, "bbob-07-5d", seed, [], [paid - behind, 0.0], 1.0, {}))
    cells = bbob.cells(store, optima, 10)
    assert set(cells) == {("bbob-07-5d", method) for method in bbob.METHODS}
    assert cells["bbob-07-5d", plan.FINDING] == table.Cell.of([1.0, 0.25])
    lines = bbob.markdown(cells).splitlines()
    assert "| moderate conditioning, d = 5 | 1 | 0 | 0 | 0 | 0 | 1 of 1 |" in lines
    assert "| separable, d = 2 | 0 | 0 | 0 | 0 | 0 | 0 of 0 |" in lines
