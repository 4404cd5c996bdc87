"""Progress goes to standard error: a bar on a terminal, seldom a line elsewhere."""

import windfall as wf
from windfall.cli import progress
from windfall.cli.progress import Progress


def finish(total: int, steps: int) -> None:
    with Progress(total) as bar:
        bar.begin("lw-ucb")
        for _ in range(steps):
            bar.advance(total // steps)


def test_without_a_terminal_a_short_run_is_silent(capsys):
    finish(100, 4)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_a_long_run_tells_the_time_left(capsys, monkeypatch):
    clock = iter([0.0, 40.0, 80.0, 90.0, 120.0])  # made, and after each of four steps
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    finish(100, 4)
    assert capsys.readouterr().err.splitlines() == [
        "windfall: lw-ucb: 25 of 100 trial-rounds",  # the first 40 s may have been compilation
        "windfall: lw-ucb: 50 of 100 trial-rounds, about 80 s left",
        "windfall: lw-ucb: 100 of 100 trial-rounds, about 0 s left",
    ]


def test_on_a_terminal_there_is_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TTY_INTERACTIVE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    finish(100, 4)
    out, err = capsys.readouterr()
    assert out == ""
    assert "lw-ucb" in err
    assert "100/100" in err
    assert "trial-rounds" in err


def test_a_simulation_counts_up_to_the_total(folder):
    counted = []
    problem = wf.problems.load(folder)
    wf.simulate(problem, "v-ucb", rounds=5, trials=3, workers=1, progress=counted.append)
    assert sum(counted) == 5 * 3
