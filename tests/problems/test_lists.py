"""Candidate lists in a folder: what is found, how it is read, and what is refused in words."""

from pathlib import Path

import numpy as np
import pytest

from windfall.errors import InputError
from windfall.problems import describe_lists, load, load_lists, suite
from windfall.problems.lists import find_lists

ALLOYS = "copper,tin,payoff\n0.9,0.1,2\n0.8,0.2,9\n0.7,0.33333333,4\n"
REPLICATES = (
    "copper,tin,payoff\n0.7,0.333333334,3\n0.9,0.1,1\n0.8,0.2,9\n0.7,0.333333334,5\n0.9,0.1,3\n"
)
BOTS = ",0,1,2,3\n0,2,4,9,4\n1,4,2,4,4\n"
PEOPLE = "area,yield_2,yield_1,note_1\nlab,9,2,x\nplant,,4,y\n"


@pytest.fixture
def folder(tmp_path):
    """Two lists and a folder of readings, among files that are something else."""
    (tmp_path / "alloys.csv").write_text(ALLOYS)
    (tmp_path / "alloys_replicates.csv").write_text(REPLICATES)
    (tmp_path / "alloys_reference_bots.csv").write_text(BOTS)
    (tmp_path / "alloys_reference_people.csv").write_text("\ufeff" + PEOPLE)
    (tmp_path / "plain.csv").write_text('a;"Payoff"\n1;2,5\n2;3,5\n')
    (tmp_path / "stations.csv").write_text("x,y\n1,2\n")
    (tmp_path / "README.md").write_text("x,payoff\n")
    (tmp_path / "v1.5 sites").mkdir()
    (tmp_path / "v1.5 sites" / "locations.csv").write_text("x,y\n0,0\n1,0\n0,2.5\n")
    (tmp_path / "v1.5 sites" / "readings.csv").write_text("20,21,25\n22,20,21\n")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_every_list_of_a_folder_is_found_and_nothing_else(folder):
    assert list(find_lists(folder)) == ["alloys", "plain", "v1.5 sites"]
    assert suite("real", folder) == ("alloys", "plain", "v1.5 sites")
    rows = describe_lists(folder)
    assert [(row.name, row.arms, row.dimension) for row in rows] == [
        ("alloys", 3, 2),
        ("plain", 2, 1),
        ("v1.5 sites", 3, 2),
    ]
    assert {(row.rounds, row.trials) for row in rows} == {(61, 24)}


def test_a_list_loads_by_path_and_by_name(folder):
    for given in ((folder / "plain.csv",), ("plain", folder)):
        problem = load(*given)
        assert (problem.name, problem.feature_names) == ("plain", ("a",))
        np.testing.assert_array_equal(problem.arms, [[1.0], [2.0]])
        np.testing.assert_allclose(problem.payoff, [-1.0, 1.0])
        assert problem.noise == 0.05
        assert problem.replicates is None
    sites = load("v1.5 sites", folder)
    assert (sites.name, sites.snapshots, sites.noise) == ("v1.5 sites", 2, 0.05)


def test_replicates_belong_to_the_arm_with_their_features(folder):
    """Rounded features still match; payoffs are the means of the replicates, standardised."""
    problem = load(folder / "alloys.csv")
    means = np.array([2.0, 9.0, 4.0])
    np.testing.assert_allclose(problem.payoff, (means - 5) / means.std())
    np.testing.assert_allclose(
        means.std() * problem.replicates + 5, [[1, 3], [9, np.nan], [3, 5]], atol=1e-12
    )
    assert problem.noise == pytest.approx(np.sqrt((1 + 0 + 1) / 3) / means.std())
    assert "5 measurements" in problem.description


def test_arms_with_the_same_features_share_their_measurements(folder):
    """Nothing tells which of them was measured: no line would help the second one."""
    (folder / "alloys.csv").write_text(ALLOYS + "0.9,0.1,7\n")
    problem = load(folder / "alloys.csv")
    means = np.array([2.0, 9.0, 4.0, 2.0])
    np.testing.assert_allclose(problem.payoff, (means - means.mean()) / means.std())
    np.testing.assert_array_equal(problem.replicates[3], problem.replicates[0])
    assert "5 measurements" in problem.description


def test_replicates_of_nothing_measured_twice_say_nothing_about_noise(folder):
    lines = REPLICATES.splitlines()
    (folder / "alloys_replicates.csv").write_text("\n".join(lines[:4]))
    problem = load(folder / "alloys.csv")
    assert (problem.replicates, problem.noise) == (None, 0.05)


def test_reference_runs_are_in_the_problem_s_units(folder):
    problem = load(folder / "alloys.csv")
    scale = np.std([2.0, 9.0, 4.0])
    assert list(problem.references) == ["bots", "people"]
    # Best so far: 2 4 9 9 and 4 4 4 4; of the people 2 9, and 4 from one who then stopped.
    np.testing.assert_allclose(
        scale * problem.reference_gap("bots"), [9 - 3, 9 - 4, 9 - 6.5, 9 - 6.5]
    )
    np.testing.assert_allclose(scale * problem.reference_gap("people"), [9 - 3, 9 - 6.5])


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("alloys.csv", "a,b\n1,2\n3,4\n", r"alloys.csv:1: last column is 'b': expected features"),
        ("alloys.csv", "payoff\n1\n2\n", "alloys.csv:1: last column is 'payoff': expected feat"),
        ("alloys.csv", "a,payoff\n1,2\n", "alloys.csv:1: 1 arms below the header: expected at"),
        ("alloys.csv", "a,payoff\n1,2\n1,x\n", r"alloys.csv:3: column 2 is 'x'; expected a fin"),
        ("alloys.csv", "a,payoff\n1,2\n1\n", "alloys.csv:3: 1 columns; expected 2"),
        ("alloys_replicates.csv", ALLOYS.replace("tin", "lead"), "replicates.csv:1: other columns"),
        ("alloys_replicates.csv", ALLOYS + "1,1,5\n", "replicates.csv:5: no arm of alloys.csv has"),
        ("alloys_replicates.csv", ALLOYS[:-18], "alloys.csv:4: this arm has no measurement in"),
        ("alloys_reference_bots.csv", "a,b\n1,2\n", "bots.csv:1: no runs: expected columns 1, 2"),
        ("alloys_reference_bots.csv", "1,2\n1,x\n", "bots.csv:2: column 2 is 'x'; expected a fi"),
        ("alloys_reference_bots.csv", "2,a,1\n1,2,\n", "bots.csv:1: column '1' is empty; expected"),
    ],
)  # fmt: skip
def test_what_is_refused(folder, file, text, message):
    (folder / file).write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load(folder / "alloys.csv")
    assert "\n" not in str(caught.value)


def test_a_folder_without_lists_and_two_of_one_name_are_errors(folder):
    with pytest.raises(InputError, match=r"data folder .*empty. has no candidate list"):
        suite("real", folder / "empty")
    with pytest.raises(InputError, match=r"data folder .*nowhere' cannot be read"):
        suite("real", folder / "nowhere")
    (folder / "v1.5 sites.csv").write_text(ALLOYS)
    with pytest.raises(InputError, match=r"has two tables called 'v1.5 sites'"):
        find_lists(folder)


def test_a_list_goes_before_what_lies_about_in_the_current_folder(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder / "empty")
    for name in ("alloys", "cosine"):
        (folder / "empty" / name).mkdir()
    (folder / "empty" / "plain").write_text("b,payoff\n1,2\n2,3\n3,4\n")
    assert (load("alloys", folder).size, load("plain", folder).size) == (3, 2)
    assert (load("./plain", folder).size, load(Path("plain"), folder).size) == (3, 3)
    assert load("plain").size == 3  # where the data folder has no such list
    (folder / "cosine.csv").write_text(ALLOYS)
    assert (load("cosine", folder).size, load(folder / "cosine.csv").size) == (2500, 3)
    assert {p.name: p.size for p in load_lists(folder)}["cosine"] == 3


def test_upper_case_is_as_good(tmp_path):
    for name, text in (("Q", ALLOYS), ("Q_replicates", REPLICATES), ("Q_reference_bots", BOTS)):
        (tmp_path / f"{name}.CSV").write_text(text)
    (problem,) = load_lists(tmp_path)
    assert (problem.name, list(problem.references)) == ("Q", ["bots"])
    assert problem.replicates is not None
    (tmp_path / "Q_replicates.csv").write_text(REPLICATES)
    with pytest.raises(InputError, match="has two tables called 'Q_replicates'"):
        load("Q", tmp_path)


def test_links_are_followed_under_their_own_name(folder, tmp_path_factory):
    linked = tmp_path_factory.mktemp("linked")
    (linked / "sites").symlink_to(folder / "v1.5 sites")
    assert [problem.name for problem in load_lists(linked)] == ["sites"]
    for name in ("lost.csv", "lost_replicates.csv"):
        (linked / name).symlink_to(linked / "nowhere")
        with pytest.raises(InputError, match=rf"cannot read .*{name}: No such file"):
            load_lists(linked)
        (linked / "lost.csv").unlink()
        (linked / "lost.csv").write_text(ALLOYS)


def test_an_unknown_name_is_told_what_the_data_folder_has(folder):
    with pytest.raises(InputError, match=r"did you mean 'alloys'\?.*, alloys, plain, v1.5 sites$"):
        load("aloys", folder)


def test_the_real_lists(shared):
    folder = shared / "data" / "real"
    if not folder.is_dir():
        pytest.skip("no real candidate lists there")
    problems = {name: load(name, folder) for name in suite("real", folder)}
    assert len(problems) >= 11
    for problem in problems.values():
        assert abs(problem.payoff.mean()) < 1e-9
        assert problem.payoff.std() == pytest.approx(1.0)
    assert problems["materials_crossed_barrel"].replicates.shape == (600, 3)
    assert problems["hplc"].replicates.shape == (1007, 2)
    assert problems["materials_autoam"].noise == 0.05
    # Mean best yields that were published with the data: 74, 95.6 and 99.8 after 10, 25 and 50
    # pulls of EDBO, 91.7 after 25 of the chemists; the best yield is 100.
    arylation = problems["direct_arylation"]
    raw = np.genfromtxt(folder / "direct_arylation.csv", delimiter=",", skip_header=1)[:, -1]
    edbo = 100 - raw.std() * arylation.reference_gap("edbo")
    np.testing.assert_allclose(edbo[[9, 24, 49]], [74, 95.6, 99.8], atol=0.5)
    chemists = 100 - raw.std() * arylation.reference_gap("chemists")
    assert chemists[24] == pytest.approx(91.7, abs=0.05)
