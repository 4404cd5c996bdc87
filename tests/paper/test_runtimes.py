"""Only rounds that ran warm are counted; known cells are not measured again."""

import json

import numpy as np
import pytest

from windfall.paper import runtimes
from windfall.paper.plan import paper
from windfall.paper.runtimes import PAPER, POLICIES, cells, known_runtimes, measure
from windfall.paper.tables import runtimes as table


class Clockwork:
    """Stands in for ``simulate``: a millisecond a trial-round, and compilations as told."""

    def __init__(self, compiles):
        self.compiles, self.calls = list(compiles), []

    def __call__(self, problem, policy, *, rounds, trials, seed, workers, batch):
        self.calls.append((trials, batch))
        compiled = self.compiles.pop(0) if self.compiles else 0.0
        work = trials * (rounds - 1)
        seconds = {"total": compiled + 1e-3 * work, "compile": compiled, "trial_rounds": work}
        return type("Played", (), {"timings": seconds})


@pytest.fixture
def cosine():
    return paper("quick", only="cosine", trials=2, rounds=5)


def test_compilation_is_told_apart(cosine, monkeypatch):
    (run, problem), *_ = cells(cosine)
    clockwork = Clockwork([4.0, 0.5, 0.0])  # trial 1 compiles, a later one once more, then none
    monkeypatch.setattr(runtimes, "simulate", clockwork)
    seconds, compiled = runtimes._steady(run, problem, trials=10, batch=0)
    assert clockwork.calls == [(1, 0), (10, 0), (10, 0)]
    assert seconds == pytest.approx(1e-3)
    assert compiled == 4.5


def test_found_programs_still_give_the_mean_of_all_experiments(cosine, monkeypatch):
    (run, problem), *_ = cells(cosine)
    clockwork = Clockwork([])
    monkeypatch.setattr(runtimes, "simulate", clockwork)
    runtimes._steady(run, problem, trials=10, batch=0)
    assert clockwork.calls[-1] == (10, 0)


def test_an_accelerator_has_one_trial_and_a_stack(cosine, monkeypatch, tmp_path):
    clockwork = Clockwork([])
    monkeypatch.setattr(runtimes, "simulate", clockwork)
    monkeypatch.setattr(runtimes, "on_accelerator", lambda: True)
    measure(cosine, tmp_path, repeats=10)
    assert set(clockwork.calls) == {(1, 1), (100, 100)}
    (measured,) = known_runtimes(tmp_path)
    assert measured["repeats"] == 1
    stacked = [cell["stacked"] for cell in measured["cells"].values()]
    assert stacked == pytest.approx([1e-3] * 5)
    assert [c for c in table([measured]).columns if "together" in c]


def test_cells_are_kept_and_found(cosine, monkeypatch, tmp_path):
    clockwork = Clockwork([])
    monkeypatch.setattr(runtimes, "simulate", clockwork)
    seen = []
    measure(cosine, tmp_path, repeats=3, progress=lambda run: seen.append(run.label))
    assert seen == list(POLICIES)
    calls = len(clockwork.calls)
    measure(cosine, tmp_path, repeats=3)
    assert len(clockwork.calls) == calls
    measure(paper("quick", only="cosine", trials=2, rounds=6), tmp_path, repeats=3)
    assert len(clockwork.calls) == 2 * calls  # other rounds are another measurement


def test_a_damaged_file_is_named_and_measured_again(cosine, monkeypatch, tmp_path):
    monkeypatch.setattr(runtimes, "simulate", Clockwork([]))
    measure(cosine, tmp_path)
    (path,) = tmp_path.glob("runtimes-*.json")
    whole = path.read_text()
    path.write_text(whole[:40])
    assert known_runtimes(tmp_path) == []
    said = []
    measure(cosine, tmp_path, complain=said.append)
    assert len(said) == 1
    assert f"{path} is damaged" in said[0]
    assert json.loads(path.read_text())["cells"].keys() == json.loads(whole)["cells"].keys()


def test_wheels_have_no_cells():
    assert cells(paper("quick", only="wheel-0.5")) == []


def test_the_paper_s_numbers():
    means = {policy: np.mean(list(row.values())) for policy, row in PAPER.items()}
    assert means["ei"] == pytest.approx((0.49 + 0.52 + 0.68) / 3)
    assert PAPER["lw-ucb"]["cosine"] == 4.19
    assert all(len(row) == 3 for row in PAPER.values())
