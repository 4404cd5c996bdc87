"""Bad input is refused in one dialect: a line that begins with the name of what is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from windfall.errors import InputError


@contextmanager
def refused(message: str) -> Iterator[None]:
    """Inside, something is refused with one line that begins like this (a regular expression)."""
    with pytest.raises(InputError, match=rf"^(?:{message})") as caught:
        yield
    assert "\n" not in str(caught.value)
