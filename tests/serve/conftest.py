"""A server for the tests of this folder, with a study whose choices need no model."""

from contextlib import ExitStack, chdir

import numpy as np
import pytest
from browsing import started, visiting
from laboratory import Laboratory
from served import serving

from windfall.study.stores import MemoryStore

ARMS = {"type": "Arms", "features": np.linspace(-1.0, 1.0, 60)[:, None].tolist()}


@pytest.fixture
def served(tmp_path):
    """A server that has no studies yet."""
    with serving(MemoryStore(), tmp_path) as running:
        yield running


@pytest.fixture
def client(served):
    """A client that may do everything, with one study."""
    with served.client() as client:
        study = {"name": "alloy", "space": ARMS, "policy": "mean", "initial": 50}
        assert client.post("/api/v1/studies", json=study).status_code == 201
        yield client


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory):
    """``windfall serve`` as a process, for the page."""
    running = Laboratory(tmp_path_factory.mktemp("laboratory"))
    yield running
    running.kill()


@pytest.fixture(scope="session")
def started_in(tmp_path_factory):
    """The folder that the browser is started in."""
    return tmp_path_factory.mktemp("started-in")


@pytest.fixture(scope="session")
def browser(started_in):
    """One for all tests."""
    with ExitStack() as stack:
        with chdir(started_in):
            running = stack.enter_context(started())
        yield running


@pytest.fixture
def page(browser, laboratory):
    """The list of studies, opened by the link that the server printed."""
    with visiting(browser, viewport={"width": 1400, "height": 900}) as visited:
        visited.goto(laboratory.link)
        yield visited
