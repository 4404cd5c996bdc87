"""Arms that are known by their similarities: the products of their features, and bad matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from refusals import refused

from windfall.errors import InputError
from windfall.space import Arms, Box
from windfall.space.similarity import check_return, known_by_similarity, similar_arms
from windfall.specs import from_spec, to_spec

factors = hnp.arrays(
    float, st.tuples(st.integers(2, 7), st.integers(1, 9)), elements=st.floats(-9.0, 9.0, width=32)
).filter(lambda a: np.abs(a).max() > 1e-3)


def products(arms) -> np.ndarray:
    centred = arms.points - 0.5
    return centred @ centred.T


@given(factors, st.sampled_from([1e-6, 1.0, 1e6]))
def test_products_around_the_middle_are_the_similarities_up_to_a_factor(factor, unit):
    matrix = unit * factor @ factor.T
    arms = similar_arms(matrix)
    assert arms.points.shape[0] == len(factor)
    assert arms.points.shape[1] <= min(factor.shape)  # no features that are only rounding
    assert np.abs(arms.points - 0.5).max() == pytest.approx(0.5, abs=1e-15)
    got = products(arms)
    # Eigenvalues below 1e-10 of the largest are left out: as much is lost, times the arms.
    tolerance = 1e-9 * np.trace(got)
    np.testing.assert_allclose(got * np.trace(matrix) / np.trace(got), matrix,
                               atol=tolerance * np.trace(matrix) / np.trace(got))  # fmt: skip


def test_the_first_feature_tells_most():
    arms = similar_arms(np.diag([1.0, 9.0, 4.0]))
    spread = np.ptp(arms.points, axis=0)
    assert list(spread) == sorted(spread, reverse=True)
    assert arms.names == ("similarity 1", "similarity 2", "similarity 3")


def test_rounding_below_zero_is_forgiven():
    ones = np.ones((3, 3)) + 1e-9 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
    np.testing.assert_allclose(products(similar_arms(ones)), 0.25, atol=1e-8)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.5]], r"kernel_matrix has shape \(1, 2\); expected \(M, M\)"),
        ([1.0, 2.0], r"kernel_matrix has shape \(2,\); expected \(M, M\)"),
        (np.ones((0, 0)), r"kernel_matrix has shape \(0, 0\); expected \(M, M\)"),
        ([[1.0, 0.5], [0.4, 1.0]], "kernel_matrix is not symmetric; expected"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"kernel_matrix\[0, 1\] is nan"),
        ([["a", "b"], ["b", "a"]], r"kernel_matrix\[0, 0\] is .*'a'"),
        ([[1.0, 2.0], [2.0, 1.0]], "kernel_matrix has the eigenvalue -1.0; expected none below 0"),
        (-np.eye(2), "kernel_matrix has the eigenvalue -1.0; expected none below 0"),
        (np.zeros((2, 2)), "kernel_matrix is 0 everywhere; expected some similarity above 0"),
    ],
)
def test_matrices_that_are_no_similarities(matrix, message):
    with refused(message):
        similar_arms(matrix)


def test_features_and_similarities_exclude_each_other():
    with pytest.raises(InputError, match="arms and kernel_matrix were both given"):
        similar_arms(np.eye(2), [[0.0], [1.0]])


SIMILAR = similar_arms([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])


def test_they_are_recognised_also_where_they_were_saved():
    assert known_by_similarity(SIMILAR)
    assert known_by_similarity(from_spec(to_spec(SIMILAR)))
    names = list(SIMILAR.names)
    others = (
        Arms(SIMILAR.arms, names),
        Arms(SIMILAR.arms, ["a", "b", "c"], SIMILAR.box),
        Arms(SIMILAR.arms, names, 2.0 * SIMILAR.box),
        Box([0.0] * 3, [1.0] * 3, names=names),
    )
    assert not any(known_by_similarity(other) for other in others)


def test_only_a_retired_arm_comes_back_where_features_are_similarities():
    check_return(SIMILAR, SIMILAR.arms[[2, 0]], {0, 2})
    check_return(SIMILAR, SIMILAR.arms[2], [2])
    check_return(Arms([[0.0], [1.0]]), [[7.0]], ())  # with features of their own all may come
    for features, retired in (
        (SIMILAR.arms[:1], ()),
        (SIMILAR.arms[:2], [1]),
        ([[1.0, 0.5]], [1]),
        ([0.3, 0.3, 0.3], [1]),
    ):
        with refused("arms cannot be added where kernel_matrix says how similar"):
            check_return(SIMILAR, features, retired)
