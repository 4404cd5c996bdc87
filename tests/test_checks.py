"""Plain arguments: what is accepted, and that every complaint has the one form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import refused

from windfall.checks import did_you_mean, finite, known_name, number, one_of, shown, whole
from windfall.errors import InputError

IN_RANGE = r"^delta is .*; expected a finite number, above 0, at most 1$"


@pytest.mark.parametrize("make", [float, np.float64, np.float32, np.array, jnp.array])
def test_numbers_of_every_kind_are_checked_and_become_float64(make):
    convert = number("delta", 0.0, high=1.0, strict=True)
    assert isinstance(convert(make(0.5)), np.float64)
    for wrong in (0.0, -1.0, 1.5, np.nan, np.inf):
        with pytest.raises(InputError, match=IN_RANGE):
            convert(make(wrong))


@pytest.mark.parametrize(
    "wrong",
    ["0.1", None, [0.1], True, np.True_, 1j, np.complex128(1), np.ones(2), np.str_("a"),
     jnp.ones(3), jnp.ones(1), jnp.array(True), jnp.array(1j), jax.random.key(0)],
    ids=str,
)  # fmt: skip
def test_what_is_no_number_is_refused(wrong):
    with refused(r"delta is .*; expected a number$"):
        number("delta", 0.0)(wrong)


def test_an_int_beyond_every_float_is_refused():
    with pytest.raises(InputError, match=r"^kappa is 1000.*\.\.\.; expected a finite number, 0 or"):
        number("kappa", 0.0)(10**400)


def test_what_jax_traces_passes():
    seen = []

    @jax.jit
    def trace(value):
        seen.append((value, number("kappa", 0.0)(value)))
        return value

    trace(-1.0)
    ((given, checked),) = seen
    assert checked is given


@pytest.mark.parametrize("make", [int, np.int32, np.array, jnp.array])
def test_whole_numbers_of_every_kind(make):
    result = whole("rounds", make(3), 1)
    assert (result, type(result)) == (3, int)
    with pytest.raises(InputError, match=r"^rounds is 0; expected a whole number, at least 1$"):
        whole("rounds", make(0), 1)
    with pytest.raises(InputError, match=r"^rounds is 5; expected a whole number from 1 to 4$"):
        whole("rounds", make(5), 1, 4)


@pytest.mark.parametrize("wrong", [True, np.True_, 3.0, "3", None, jnp.array(3.0), jnp.ones(2)])
def test_what_is_no_whole_number(wrong):
    with pytest.raises(InputError, match=r"^rounds is .*; expected a whole number"):
        whole("rounds", wrong, 1)


@pytest.mark.parametrize("wrong", ["3", b"3", None, 1j, np.complex128(3), np.nan, 10**400])
def test_what_is_not_finite(wrong):
    with pytest.raises(InputError, match=r"^reward is .*; expected a finite number$"):
        finite("reward", wrong)


def test_one_of_a_few_words():
    convert = one_of("domain", "box", "arms")
    assert convert("arms") == "arms"
    with pytest.raises(InputError, match=r"^domain is 'sphere'; expected 'box' or 'arms'$"):
        convert("sphere")


def test_the_nearest_name_is_offered_as_it_is_written():
    assert did_you_mean("policy", ["POLICY"]) == " (did you mean 'POLICY'?)"
    assert did_you_mean("COSIN", ["cosine"]) == " (did you mean 'cosine'?)"
    assert did_you_mean("zzz", ["cosine"]) == ""
    assert did_you_mean(3, ["cosine"]) == ""


def test_names_are_looked_up():
    assert known_name("preset", "full", ["quick", "full"]) == "full"
    with pytest.raises(InputError, match=r"^preset is 'zzz'; expected one of quick, full$"):
        known_name("preset", "zzz", ["quick", "full"])
    with pytest.raises(
        InputError, match=r"^preset is 'fulll' \(did you mean 'full'\?\); expected a file, or one "
    ):
        known_name("preset", "fulll", ["quick", "full"], "a file, or")


def test_values_are_shown_in_one_line():
    assert shown(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert len(shown("a" * 1000)) == 200
    assert shown(jnp.array(2)) == "2"
