"""Bandit on a box: choices by name, decisions, tells in any form, noise, replicates, failures."""

import numpy as np
import pandas as pd
import pytest
from box_study import BOX, GP, VUCB, payoff, play
from policies import ALL, DIRECT, small
from refusals import refused

import windfall as wf
from windfall.errors import InputError

POLICIES = {name: small(name, kappa=1.0) for name in ALL} | {"direct": DIRECT}


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_finds_the_optimum(name):
    bandit = wf.Bandit(BOX, wf.Policy(POLICIES[name], GP), seed=1)
    play(bandit, 14)
    choice = bandit.ask()
    assert choice.arm is None
    assert list(choice.parameters) == ["dose", "heat"]
    np.testing.assert_array_equal(choice.features, list(choice.parameters.values()))
    assert choice.search.evaluations > 1000
    assert np.isfinite([choice.search.value, choice.search.gradient_norm]).all()
    if name not in ("mean", "gp-ucb"):  # one may stop early, the other still explores
        assert payoff(**bandit.best.parameters) > -0.15
    assert bandit.ask() == choice  # asking only looks
    table = bandit.explain()
    assert list(table) == ["dose", "heat", "mean", "std", "ratio", "acquisition", "pulls"]
    assert all(np.all(np.isfinite(column)) for column in table.values())
    assert table["pulls"].sum() == 14
    pd.DataFrame(table)
    if name in ("windfall", "lw-ucb", "ts"):  # draws, a mixture: a batch could differ
        hands_out_a_batch(bandit, choice)


def hands_out_a_batch(bandit, choice):
    batch = bandit.ask(3)
    assert batch[0] == choice
    assert bandit.pending == batch
    points = BOX.unit(np.array([c.features for c in batch]))
    gaps = np.abs(points[:, None] - points[None]).max(axis=-1) + np.eye(3)
    assert gaps.min() > 1e-6
    following = bandit.ask()
    assert all(following.parameters != c.parameters for c in batch)


def test_choices_stay_in_the_box_and_reach_its_edge():
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    for _ in range(9):
        choice = bandit.ask()
        bandit.tell(choice, choice.parameters["dose"] + choice.parameters["heat"])
    assert bandit.best.parameters == {"dose": 3.0, "heat": 20.0}


def test_initial_points_fill_the_space_and_depend_on_the_seed():
    bandit = wf.Bandit(BOX, VUCB, seed=3, initial=8)
    assert bandit.ask().why == "initial point 1 of 8, space-filling"
    batch = bandit.ask(8)
    natural = np.array([c.features for c in batch])
    assert len(np.unique(natural, axis=0)) == 8
    unit = BOX.unit(natural)
    assert all(np.histogram(unit[:, i], 4, (0, 1))[0].tolist() == [2] * 4 for i in range(2))
    other = wf.Bandit(BOX, VUCB, seed=4, initial=8).ask(8)
    assert {c.features.tobytes() for c in batch}.isdisjoint(c.features.tobytes() for c in other)
    assert wf.Bandit(BOX).initial == 6
    assert bandit.ask().why == "no reward yet: another point, space-filling"
    more = bandit.ask(70)
    assert len({c.features.tobytes() for c in [*batch, *more]}) == 78


def test_tells_in_any_form_are_the_same_point():
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    choice = bandit.ask()
    forms = [choice, choice.parameters, choice.features, list(choice.features),
             dict(reversed(choice.parameters.items()))]  # fmt: skip
    for form in forms:
        bandit.tell(form, 1.0)
    assert bandit.pulls.tolist() == [5]
    assert bandit.rewards == [(choice.parameters, 1.0)] * 5
    assert bandit.best.parameters == choice.parameters
    bandit.tell({"dose": 0.0, "heat": 15.0}, 2.0)
    assert bandit.best.parameters == {"dose": 0.0, "heat": 15.0}
    assert bandit.names == ["dose", "heat"]
    assert bandit.arms is None


def test_the_posterior_in_reward_units_at_points_in_any_form():
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    told = play(bandit, 10)
    mean, deviation = bandit.posterior(told)
    np.testing.assert_allclose(mean, [payoff(**p) for p in told], atol=0.05)
    np.testing.assert_allclose(bandit.posterior()[0], mean)  # by default where it was told
    rows = np.array([list(p.values()) for p in told])
    for same in (rows, rows.tolist(), pd.DataFrame(told)):
        np.testing.assert_allclose(bandit.posterior(same), (mean, deviation))
    np.testing.assert_allclose(bandit.posterior(p for p in told), (mean, deviation))
    for one in (told[3], rows[3], list(rows[3])):
        np.testing.assert_allclose(bandit.posterior(one)[0], mean[3:4])


@pytest.mark.parametrize("features", [5, pd.Series([0.0, 15.0])])
def test_features_that_are_no_points_are_refused(features):
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    bandit.tell([0.0, 15.0], 1.0)
    with refused(r"features is .*; expected a point of dose"):
        bandit.posterior(features)


def test_a_parameter_called_like_a_column_of_explain_is_marked():
    space = wf.Parameters({"ratio": wf.Real(10, 20), "x": wf.Real(0, 1)})
    bandit = wf.Bandit(space, VUCB, seed=0)
    for value in (11.0, 19.0):
        bandit.tell({"ratio": value, "x": 0.5}, value)
    table = bandit.explain()
    assert list(table)[:2] == ["ratio (parameter)", "x"]
    np.testing.assert_array_equal(table["ratio (parameter)"], [11.0, 19.0])
    assert np.all(table["ratio"] < 10)


def test_known_noise_and_replicates():
    """A reward known exactly pins the mean; replicates count by their number."""
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    play(bandit, 6)
    here = {"dose": 1.0, "heat": 15.0}
    bandit.tell(here, 1.0, noise=5.0)
    bandit.tell(here, 3.0, noise=0.01)
    assert bandit.posterior(here)[0][0] == pytest.approx(3.0, abs=0.1)
    there = {"dose": 0.0, "heat": 11.0}
    bandit.tell(there, 2.0, count=8, deviation=0.5)
    bandit.tell(there, 4.0)
    assert bandit.pulls.tolist() == [1] * 6 + [2, 9]
    assert bandit.best.parameters == here
    assert bandit.best.why.startswith("highest mean reward, 3 over 2")
    naive, merged = (wf.Bandit(BOX, VUCB, seed=0) for _ in range(2))
    rewards = np.array([1.0, 2.5, 2.0])
    for reward in rewards:
        naive.tell(there, reward)
    merged.tell(there, rewards.mean(), count=3, deviation=rewards.std(ddof=1))
    ours, theirs = (b._decider._note(b._record).rewards for b in (naive, merged))
    for name in ("count", "mean", "squares"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"noise": -1.0}, "noise is -1.0; expected 0 or more"),
        ({"noise": np.nan}, "noise is nan; expected a finite number"),
        ({"noise": "x"}, "noise is 'x'; expected a finite number"),
        ({"noise": 1.0, "count": 2, "deviation": 1.0}, "noise is 1.0 beside count and deviation"),
        ({"count": 3}, "count is 3 without deviation; give both"),
        ({"deviation": 0.1}, "deviation is 0.1 without count; give both"),
        ({"count": 0, "deviation": 0.1}, "count is 0; expected a whole number, at least 1"),
        ({"count": 2.5, "deviation": 0.1}, "count is 2.5; expected a whole number"),
        ({"count": 2, "deviation": -0.1}, "deviation is -0.1; expected 0 or more"),
        ({"count": 2, "deviation": np.inf}, "deviation is inf; expected a finite number"),
    ],
)
def test_bad_noise_and_replicates_are_refused(told, message):
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    before = bandit.state_dict()
    with pytest.raises(InputError, match=f"^{message}"):
        bandit.tell({"dose": 0.0, "heat": 15.0}, 1.0, **told)
    assert bandit.state_dict() == before


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"dose": 0.0}, r"parameters are \['dose'\] \(missing 'heat'\); expected dose, heat"),
        ({"dose": 0.0, "heat": 15.0, "x": 1}, "parameters are .*unknown 'x'"),
        ({"dose": 4.0, "heat": 15.0}, "dose is 4; expected a number from -1 to 3"),
        ([0.0, 15.0, 1.0], "point is .*; expected a dictionary of dose, heat, or 2 numbers"),
        (7, r"point is \[?7\]?; expected a dictionary of dose, heat"),
        ([0.0, np.nan], "heat is nan; expected a number from 10 to 20"),
        ([0.0, [15.0, 1.0]], r"heat is \[15.0, 1.0\]; expected a number from 10 to 20"),
    ],
)
def test_points_that_are_none_are_refused_and_nothing_changes(point, message):
    bandit = wf.Bandit(BOX, VUCB, seed=0)
    bandit.tell([0.0, 15.0], 1.0)
    before = bandit.state_dict()
    for act in (lambda: bandit.tell(point, 1.0), lambda: bandit.fail(point),
                lambda: bandit.forget(point), lambda: bandit.posterior([point])):  # fmt: skip
        with refused(message):
            act()
    assert bandit.state_dict() == before


def test_bad_studies_on_a_box():
    for make, message in (
        (lambda: wf.Bandit(BOX, initial=0), "initial is 0; expected a whole number, at least 1"),
        (
            lambda: wf.Bandit(BOX, wf.LWUCB(prior=np.ones(3))),
            "prior is a list of weights and a box",
        ),
        (lambda: wf.Bandit(BOX, wf.LWUCB(domain="arms")), "domain is 'arms' and a box has no arms"),
        (lambda: wf.Bandit(BOX, VUCB).ask(0), "n is 0; expected a whole number, at least 1"),
        (lambda: wf.Bandit(BOX, VUCB).ask(1.5), "n is 1.5; expected a whole number"),
        (lambda: wf.Bandit(BOX, VUCB).best, "best is unknown before the first reward"),
        (
            lambda: wf.Bandit(BOX, VUCB).forget([0.0, 15.0]),
            "choice is .*; expected one of the pend",
        ),
    ):
        with pytest.raises(InputError, match=f"^{message}"):
            make()


def test_parameters_of_every_kind_under_a_constraint():
    space = wf.Parameters(
        {"rate": wf.Real(1e-4, 1.0, log=True), "layers": wf.Integer(1, 6),
         "kind": wf.Categorical(["relu", "tanh", None])},
        constraints=[lambda p: 5.0 - p["layers"] - p["rate"]],
    )  # fmt: skip

    def score(rate, layers, kind):
        return (
            -((np.log10(rate) + 2) ** 2)
            + 0.5 * layers
            + {"relu": 0.0, "tanh": 1.0, None: 0.5}[kind]
        )

    bandit = wf.Bandit(space, VUCB, seed=0, initial=17)  # all decisions in one size: 17 to 32
    for _ in range(27):
        choice = bandit.ask()
        assert isinstance(choice.parameters["layers"], int)
        assert choice.parameters["layers"] + choice.parameters["rate"] <= 5.0 + 1e-9
        bandit.tell(choice, score(**choice.parameters))
    best = bandit.best.parameters
    assert (best["layers"], best["kind"]) == (4, "tanh")
    assert score(**best) > 2.9  # of 3
    # A point that breaks the constraint may be told, but is not recommended.
    bandit.tell({"rate": 0.01, "layers": 6, "kind": "tanh"}, 100.0)
    assert bandit.best.parameters["layers"] == 4


def test_a_kernel_that_is_none_says_so_instead_of_nan():
    import jax.numpy as jnp

    def distance(a, b):
        return -10.0 * jnp.sum(jnp.abs(a - b))

    gp = wf.GP(kernel=distance, fit=wf.Fit(restarts=0, iterations=2))
    bandit = wf.Bandit(BOX, wf.Policy(wf.VUCB(), gp), seed=0)
    for i, choice in enumerate(bandit.ask(6)):
        bandit.tell(choice, float(i % 2))
    with pytest.raises(wf.NumericalError, match="not positive definite"):
        bandit.ask()
    assert len(bandit.rewards) == 6
