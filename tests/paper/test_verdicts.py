"""The sentences say what the numbers say."""

from windfall.paper.verdicts import experiment_verdict, variant_verdict


def authors(place: str = "below", like: bool = True) -> dict:
    return {"median": 0.3, "mad": 0.04, "place": place, "inside": 0.25, "gap": 0.05,
            "like_for_like": like}  # fmt: skip


def policy(label: str, median: float, saved: dict | None = None) -> dict:
    return {"label": label, "median": median, "trials": 100, "rounds": 150, "authors": saved}


def pair(baseline: str, verdict: str, trials: int = 100) -> dict:
    return {"baseline": baseline, "verdict": verdict, "trials": trials}


def test_lowest_of_all():
    policies = [
        policy("lw-ucb", 0.2, authors()),
        policy("ei", 0.5, authors("above", like=False)),
        policy("v-ucb", 0.4, authors("within")),
    ]
    text = experiment_verdict(policies, [pair("ei", "better"), pair("v-ucb", "undecided")])
    assert text == (
        "Over 100 trials of 150 rounds LW-UCB's median R_T/T is 0.2, the lowest of all; next is "
        "V-UCB (0.4). Compared trial by trial it is better than EI and not told apart from V-UCB. "
        "At T it lies below the MAD band of the authors' saved runs, 0.3 ± 0.04, and its curve is "
        "inside that band in 25 % of the rounds. V-UCB lies within the authors' MAD band."
    )


def test_not_the_lowest_and_nothing_saved():
    policies = [policy("lw-ucb", 0.8), policy("ei", 0.5), policy("ts", 0.4)]
    text = experiment_verdict(policies, [pair("ei", "worse"), pair("ts", "worse")])
    assert "is 0.8; TS (0.4) and EI (0.5) are lower." in text
    assert "it is worse than EI and TS." in text
    assert "no saved runs of the authors" in text
    assert "MAD band" not in text


def test_too_few_trials_decide_nothing():
    text = experiment_verdict(
        [policy("lw-ucb", 0.1), policy("ei", 0.5)], [pair("ei", "undecided", trials=2)]
    )
    assert "Fewer than 6 trials cannot decide" in text


def test_variants():
    moved = policy("gp-ucb (scaled β)", 0.31, authors("within"))
    moved |= {"base_median": 0.41, "gap_before": 0.2}
    assert variant_verdict(moved) == (
        "GP-UCB (scaled β): R_T/T 0.31 instead of 0.41; the mean distance to the authors' curve "
        "falls from 0.200 to 0.050 in log10, and at T it lies within the MAD band of 0.3 ± 0.04."
    )
    assert "rises from 0.010 to 0.050" in variant_verdict(moved | {"gap_before": 0.01})
    same = moved | {"base_median": 0.31, "gap_before": 0.0501}
    assert "0.31 as before" in variant_verdict(same)
    assert "stays at 0.050" in variant_verdict(same)
    alone = moved | {"authors": None, "gap_before": None}
    assert variant_verdict(alone).endswith("no saved runs of the authors to compare with.")
